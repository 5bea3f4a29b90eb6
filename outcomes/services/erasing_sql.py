"""The statements by which outcomes, traces, events and edges forget what was told about something."""

# Values: account, ids, keys, paths, entry_paths and entry_keys (of entries), literals (their keys in JSON), agent; each
# statement of REACHED may use what those before it gave.
REACHED = {
    "outcomes": """
        SELECT f.outcome_id FROM memories_effect f WHERE f.account_id = %(account)s AND f.entry_id = ANY(%(ids)s)
         UNION
        SELECT o.id FROM outcomes_outcome o
         WHERE o.account_id = %(account)s AND ((o.agent_id = %(agent)s AND %(agent)s <> '')
            OR o.causal_entry_keys && %(keys)s::text[])
    """,
    "refs": """
        SELECT o.outcome_ref FROM outcomes_outcome o
         WHERE o.account_id = %(account)s AND o.agent_id = %(agent)s AND %(agent)s <> ''
    """,
    "traces": """
        SELECT t.id FROM outcomes_trace t
         WHERE t.account_id = %(account)s AND (t.outcome_id = ANY(%(outcomes)s::bigint[])
            OR t.causal_keys && %(keys)s::text[]
            OR (%(agent)s <> '' AND (t.agent_id = %(agent)s OR %(agent)s = ANY(t.causal_authors)))
            OR (t.entity_paths && %(paths)s::text[] AND EXISTS (
                SELECT 1 FROM unnest(%(literals)s::text[]) AS l(text) WHERE position(l.text IN t.body) > 0)))
    """,
    "events": """
        SELECT v.id FROM outcomes_event v
         WHERE v.account_id = %(account)s AND (
            (%(agent)s <> '' AND (v.agent_id = %(agent)s OR v.actor_agent_id = %(agent)s))
            OR (v.entity_path, v.key) IN (SELECT * FROM unnest(%(entry_paths)s::text[], %(entry_keys)s::text[])))
    """,
    "edges": """
        SELECT g.id FROM outcomes_edge g
         WHERE g.account_id = %(account)s AND (
            g.source_entity = ANY(%(keys)s::text[]) OR g.target_entity = ANY(%(keys)s::text[])
            OR (%(agent)s <> '' AND (g.agent_id = %(agent)s OR g.provenance->>'agent_id' = %(agent)s
                                     OR g.source_entity = %(agent)s OR g.target_entity = %(agent)s)))
    """,
}
BLANK = (
    """
    DELETE FROM outcomes_tasktext x
     WHERE x.account_id = %(account)s AND x.outcome_id = ANY(%(outcomes)s::bigint[])
    """,
    """
    UPDATE outcomes_trace t SET body = CASE WHEN t.outcome_id IS NULL THEN '{}' END
     WHERE t.account_id = %(account)s AND t.id = ANY(%(traces)s::uuid[])
    """,
    """
    UPDATE outcomes_event v SET summary = '', details = '{}'
     WHERE v.account_id = %(account)s AND v.id = ANY(%(events)s::bigint[])
    """,
    # An edge is words alone: what it says, it says about that.
    "DELETE FROM outcomes_edge g WHERE g.account_id = %(account)s AND g.id = ANY(%(edges)s::bigint[])",
)
# Names, beside those of outcomes.
RENAME_ENTRY = (
    """
    UPDATE outcomes_trace t SET causal_keys = array_replace(t.causal_keys, %(old)s, %(new)s)
     WHERE t.account_id = %(account)s AND t.id = ANY(%(traces)s::uuid[])
    """,
    # An entity's name stays where other entries have it.
    """
    UPDATE outcomes_trace t
       SET entity_paths = ARRAY(SELECT p FROM unnest(t.entity_paths) AS p WHERE EXISTS (
               SELECT 1 FROM memories_entry e WHERE e.account_id = %(account)s AND e.entity_path = p))
     WHERE t.account_id = %(account)s AND t.id = ANY(%(traces)s::uuid[])
    """,
    """
    UPDATE outcomes_event v SET entity_path = '', key = ''
     WHERE v.account_id = %(account)s AND v.id = ANY(%(events)s::bigint[])
    """,
)
RENAME_AGENT = (
    """
    UPDATE outcomes_trace t SET agent_id = %(new)s, session_id = '', outcome_ref = ''
     WHERE t.account_id = %(account)s AND t.agent_id = %(old)s
    """,
    """
    UPDATE outcomes_trace t SET causal_authors = array_replace(t.causal_authors, %(old)s, %(new)s)
     WHERE t.account_id = %(account)s AND %(old)s = ANY(t.causal_authors)
    """,
    "UPDATE outcomes_event v SET agent_id = %(new)s WHERE v.account_id = %(account)s AND v.agent_id = %(old)s",
    """
    UPDATE outcomes_event v SET actor_agent_id = %(new)s
     WHERE v.account_id = %(account)s AND v.actor_agent_id = %(old)s
    """,
)
# Past the trigger that keeps outcomes as they were told, and effects.
ERASE = (
    "SELECT outcomes_erase(%(account)s, %(at)s, %(what)s::jsonb)",
    "SELECT memories_erase(%(account)s, %(at)s, %(what)s::jsonb)",
)

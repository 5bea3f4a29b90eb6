"""What the benchmark of searching seeds: entries that say something, one large entity, and past tasks."""

from django.db import connection

from tests.load import seed_time, seed_vectors
from tests.load.seed_time import Store

SAID = """
    'retry the call with jitter when topic' || e.id %% 50 || ' answers ERR_CONN_' || e.id || ' in zone' || e.id %% 500
    || ', kind' || e.id %% 20000
"""
CLAIMS = f"""
    INSERT INTO memories_claim (account_id, id, entry_id, value, is_artifact, agent_id, session_id, written_at,
        pattern_refs, artifact_refs, digest, salt, content_hash, content)
    SELECT e.account_id, e.claim_id, e.id, '"' || {SAID} || '"', e.id %% 50 = 7, e.agent_id, '', e.written_at, '{{}}',
           '[]', sha256(e.id::text::bytea), e.salt, e.integrity_chain, e.seal
      FROM memories_entry e WHERE e.account_id = %(account)s
"""
# As memories.rules.wordings would have it.
WORDS = """
    INSERT INTO memories_entrytext (account_id, entry_id, words, name)
    SELECT s.account_id, s.id, to_tsvector('simple', s.said) || setweight(to_tsvector('english', s.said), 'D'), s.name
      FROM (SELECT e.account_id, e.id, e.entity_path || '/' || e.key AS name,
                   translate(e.entity_path, '/-', '  ') || ' team' || e.id %% 40 || ' service' || e.id %% 1000 || ' '
                   || e.key || ' retry the call with jitter when topic' || e.id %% 50 || ' answers err conn ' || e.id
                   || ' errconn' || e.id || ' in zone' || e.id %% 500 || ' kind' || e.id %% 20000 AS said
              FROM memories_entry e WHERE e.account_id = %(account)s) s
"""

# One entity with ten thousand entries, as a digest must stay small and quick for it as well.
LARGE = "CASE WHEN n %% 10 = 4 AND n <= 100000 THEN 'hub' ELSE 'team-' || n %% 40 || '/service-' || n %% 1000 END"
ENTRIES = seed_time.ENTRIES.replace("'team-' || n %% 40 || '/service-' || n %% 1000", LARGE, 1)
# A task for every fifth entry, which it relied on, one in three without success.
OUTCOMES = """
    INSERT INTO outcomes_outcome (account_id, digest, outcome_ref, outcome_type, agent_id, session_id, branch,
        causal_confidence, verified_by, replayed, committed_at, causal_entry_keys, causal_entry_versions, attempts,
        actions_taken, entity_paths, covariates, task_input, tool_calls, trace_follows)
    SELECT e.account_id, sha256(('task' || e.id)::bytea), 'task-' || e.id,
           CASE e.id %% 3 WHEN 0 THEN 'failure' ELSE 'success' END, e.agent_id, '', 'main', 1, '', false,
           e.written_at + interval '1 hour', ARRAY[e.entity_path || '/' || e.key], '{}', '[]',
           json_build_array(json_build_object('action_key', 'act-' || e.id %% 7, 'success', e.id %% 3 <> 0)),
           ARRAY[e.entity_path], '{}', 'please retry the call of topic' || e.id %% 50 || ' with kind' || e.id %% 20000,
           '[]', false
      FROM memories_entry e WHERE e.account_id = %(account)s AND e.id %% 5 = 4
"""
TASKS = """
    INSERT INTO outcomes_tasktext (account_id, outcome_id, entity_path, branch, at, terms)
    SELECT o.account_id, o.id, o.entity_paths[1], o.branch, o.committed_at,
           array_remove(regexp_split_to_array(replace(o.task_input, 'please ', ''), ' (the |of |with )?'), '')
      FROM outcomes_outcome o WHERE o.account_id = %(account)s
"""
EFFECTS = """
    INSERT INTO memories_effect (account_id, entry_id, outcome_id, outcome_ref, outcome_type, agent_id, step, at,
        version_read, version_made, causal_confidence, keys, verified, verified_by, credit, weight, policy, skipped)
    SELECT o.account_id, split_part(o.outcome_ref, '-', 2)::bigint, o.id, o.outcome_ref, o.outcome_type, o.agent_id, 0,
           o.committed_at, 1, 1, 1, 1, false, '', 1, 1, 'evidence-v1@1', ''
      FROM outcomes_outcome o WHERE o.account_id = %(account)s
"""
SAYS = {"entries": ENTRIES, "claims": CLAIMS, "words": WORDS}


def more(store: Store) -> None:
    """Seed past tasks and vectors."""
    tasks(store)
    seed_vectors.seed(store)


def tasks(store: Store) -> None:
    """Let one entry in five have been relied on in a task that is known."""
    for statement in (OUTCOMES, TASKS, EFFECTS):
        store.execute(statement)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE outcomes_outcome, outcomes_tasktext, memories_effect")

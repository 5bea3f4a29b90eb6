"""The lists of an account as tables: a statement each, by natural names, no secrets."""

ENTRY = "e.branch, e.entity_path, e.key, e.owner"
OF_ENTRY = "JOIN memories_entry e ON e.account_id = t.account_id AND e.id = t.entry_id"
STANDING = f"""{ENTRY}, e.version, c.value, e.memory_type, e.status, e.evidence_status, e.confidence,
    e.settled_confidence, e.tier, e.outcome_count, e.success_count, e.failure_count, e.positive_reinforcement,
    e.negative_reinforcement, e.pinned, e.superseded_by, e.ttl_at, e.agent_id, e.written_at, e.created_at, e.changed_at,
    coalesce(r.recall_count, 0) AS recall_count"""
WITH_VALUE = """JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
    LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id"""

LISTS = {
    "entries": f"""
        SELECT {STANDING} FROM memories_entry e {WITH_VALUE} WHERE e.account_id = %(account_id)s
         ORDER BY {ENTRY}
    """,
    # The queue itself says what waits and why; see `tabular`.
    "review": f"""
        SELECT q.reasons, q.since, {STANDING} FROM ({{waiting}}) q
          JOIN memories_entry e ON e.account_id = %(account_id)s AND e.id = q.id {WITH_VALUE}
         ORDER BY q.settled_confidence, {ENTRY}
    """,
    "outcomes": """
        SELECT t.outcome_ref, t.outcome_type, t.agent_id, t.session_id, t.branch, t.committed_at, t.causal_confidence,
               t.verified_by, t.replayed, array_to_string(t.causal_entry_keys, E'\\n') AS causal_entry_keys,
               array_to_string(t.entity_paths, E'\\n') AS entity_paths, t.situation, t.task_input, t.response_text
          FROM outcomes_outcome t WHERE t.account_id = %(account_id)s ORDER BY t.committed_at, t.id
    """,
    "changes": f"""
        SELECT {ENTRY}, t.number, t.change, t.at, s.actor_kind, s.actor, s.reason, s.cause, t.before, t.weight,
               t.confidence, t.status, t.evidence_status, t.policy
          FROM memories_entryversion t {OF_ENTRY}
          JOIN memories_changeset s ON s.account_id = t.account_id AND s.id = t.change_set_id
         WHERE t.account_id = %(account_id)s ORDER BY t.at, {ENTRY}, t.number
    """,
    "change-sets": """
        SELECT t.kind, t.at, t.actor_kind, t.actor, t.session_id, t.reason, t.cause, t.size, u.at AS undone_at,
               u.actor AS undone_by
          FROM memories_changeset t
          LEFT JOIN memories_changeset u ON u.account_id = t.account_id AND u.undoes_id = t.id
         WHERE t.account_id = %(account_id)s ORDER BY t.at, t.id
    """,
    "traces": """
        SELECT t.created_at, t.agent_id, t.session_id, t.outcome_ref, t.outcome_type, t.branch, t.tool_calls, t.errors,
               t.duration_ms, array_to_string(t.entity_paths, E'\\n') AS entity_paths,
               array_to_string(t.causal_keys, E'\\n') AS causal_entry_keys
          FROM outcomes_trace t WHERE t.account_id = %(account_id)s ORDER BY t.created_at, t.id
    """,
    "events": """
        SELECT t.created_at, t.agent_id, t.actor_agent_id, t.branch, t.event_type, t.entity_path, t.key, t.summary
          FROM outcomes_event t WHERE t.account_id = %(account_id)s ORDER BY t.created_at, t.id
    """,
    "agents": """
        SELECT t.agent_id, t.display_name, t.created_at, t.last_active_at, count(e.id) AS entries,
               count(e.id) FILTER (WHERE e.status = 'active') AS active,
               count(e.id) FILTER (WHERE e.status = 'under_review') AS under_review
          FROM accounts_agent t
          LEFT JOIN memories_entry e ON e.account_id = t.account_id AND e.agent_id = t.agent_id
         WHERE t.account_id = %(account_id)s GROUP BY t.account_id, t.id ORDER BY t.agent_id
    """,
    "evidence": f"""
        SELECT {ENTRY}, t.at, t.added_at, t.actor_kind, t.actor, t.observation_id, t.description, t.delta
          FROM memories_evidence t {OF_ENTRY} WHERE t.account_id = %(account_id)s ORDER BY t.at, {ENTRY}, t.id
    """,
    "comments": f"""
        SELECT {ENTRY}, t.at, t.actor, t.text
          FROM memories_comment t {OF_ENTRY} WHERE t.account_id = %(account_id)s ORDER BY t.at, {ENTRY}, t.id
    """,
    "connections": """
        SELECT t.branch, t.source_entity, t.source_type, t.relation, t.target_entity, t.target_type, t.confidence,
               t.evidence_count, t.agent_id, t.first_seen, t.last_seen
          FROM outcomes_edge t WHERE t.account_id = %(account_id)s ORDER BY t.first_seen, t.id
    """,
    "tiers": f"""
        SELECT {ENTRY}, t.at, t.before, t.after, t.place, t.priority
          FROM memories_tiermove t {OF_ENTRY} WHERE t.account_id = %(account_id)s ORDER BY t.at, {ENTRY}, t.id
    """,
    "jobs": """
        SELECT t.job, t.state, t.asked_by, t.dry, t.created_at, t.started_at, t.finished_at, t.looked, t.changed,
               t.failures, t.error
          FROM memories_jobrun t WHERE t.account_id = %(account_id)s ORDER BY t.created_at, t.id
    """,
    "policies": """
        SELECT t.number, t.at, t.actor, t.reason, t.values::text AS values
          FROM memories_policyversion t WHERE t.account_id = %(account_id)s ORDER BY t.number
    """,
    "people": """
        SELECT p.username AS name, t.role
          FROM accounts_membership t JOIN accounts_person p ON p.id = t.person_id
         WHERE t.account_id = %(account_id)s ORDER BY p.username
    """,
    "keys": """
        SELECT t.name, t.public_id, t.agent_id, array_to_string(t.scopes, ' ') AS scopes, t.rate_per_minute,
               t.created_at, t.expires_at, t.revoked_at, t.last_used_at
          FROM accounts_apikey t WHERE t.account_id = %(account_id)s ORDER BY t.created_at, t.id
    """,
}
WORDS = {
    "entries": "Entries",
    "review": "Waiting for review",
    "outcomes": "Outcomes",
    "changes": "Changes",
    "change-sets": "Change sets",
    "traces": "Traces",
    "events": "Events",
    "agents": "Agents",
    "evidence": "Evidence",
    "comments": "Comments",
    "connections": "Connections",
    "tiers": "Moves between tiers",
    "jobs": "Runs of jobs",
    "policies": "Policies",
    "people": "People",
    "keys": "Keys, without their secrets",
}
# What people and agents say in sentences; all else is names.
PROSE = frozenset({"value", "situation", "task_input", "response_text", "reason", "description", "text", "error"})

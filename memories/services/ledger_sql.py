"""The statement behind `ledger.append`: everything one act writes, guarded by the versions it saw."""

from dataclasses import dataclass
from functools import cache

from memories.heads import STATE

TYPES = {
    "memory_type": "text",
    "status": "text",
    "evidence_status": "text",
    "confidence": "float8",
    "triple_prior": "float8",
    "triple_success": "float8",
    "triple_failure": "float8",
    "outcome_count": "int",
    "success_count": "int",
    "failure_count": "int",
    "evidence_success": "float8",
    "evidence_failure": "float8",
    "prior_confidence": "float8",
    "last_outcome": "text",
    "last_outcome_at": "timestamptz",
    "discredited_at": "timestamptz",
    "validators": "text[]",
    "positive_reinforcement": "int",
    "negative_reinforcement": "int",
    "held_at": "float8",
    "freshness": "float8",
    "shared": "bool",
    "pinned": "bool",
    "ttl_at": "timestamptz",
    "superseded_by": "text",
}
STATE_TYPES = ", ".join(f"{name} {TYPES[name]}" for name in STATE)
HEAD_STATE = [name for name in STATE if name != "freshness"]
EFFECT = {
    "outcome_id": "bigint",
    "outcome_ref": "text",
    "outcome_type": "text",
    "agent_id": "text",
    "step": "int",
    "causal_confidence": "float8",
    "keys": "int",
    "verified": "bool",
    "verified_by": "text",
    "credit": "float8",
    "version_read": "int",
    "before": "float8",
    "weight": "float8",
    "after": "float8",
    "skipped": "text",
}
EFFECT_TYPES = ", ".join(f"{name} {kind}" for name, kind in EFFECT.items())
EFFECT_NAMES = ", ".join(EFFECT)


def columns(names: list[str], prefix: str) -> str:
    return ", ".join(f"{prefix}.{name}" for name in names)


INSERTED = [
    "branch", "entity_path", "key", "owner", "version", "agent_id", "written_at", "accessed_at", "settled_confidence",
    "due_at", "importance_score", "importance_dimensions", "integrity_chain", "on_probation", *HEAD_STATE,
]  # fmt: skip
UPDATED = [name for name in INSERTED if name not in {"branch", "entity_path", "key"}]

NEW_SET = """
    INSERT INTO memories_changeset (account_id, kind, actor_kind, actor, session_id, reason, cause, request_id, at,
                                    size, undoes_id)
    SELECT %(account)s, %(kind)s, %(actor_kind)s, %(actor)s, %(session)s, %(reason)s, %(cause)s, %(request)s,
           %(at)s, count(*), %(undoes)s
      FROM versions HAVING count(*) > 0
    RETURNING id
"""
# A bulk run adds its batches to the set that its first one made; the stream finds it anew at the later transaction.
GROWN_SET = """
    UPDATE memories_changeset s SET size = s.size + n.versions, xact = pg_current_xact_id()
      FROM (SELECT count(*) AS versions FROM versions) n
     WHERE s.account_id = %(account)s AND s.id = %(change_set)s
    RETURNING s.id
"""

# Every table's rows come from the one payload; what guards them is that a head was made or moved.
HEADS = f"""
heads AS MATERIALIZED (
    SELECT r.*, coalesce(r.entry_id, nextval('memories_entry_id_seq')) AS eid,
           coalesce(r.claim_id, nextval('memories_claim_id_seq')) AS cid
      FROM payload, jsonb_to_recordset(p->'heads') AS r(
        i int, entry_id bigint, expected int, version int, branch text, entity_path text, key text, owner text,
        claim_id bigint, agent_id text, written_at timestamptz, accessed_at timestamptz, kept float8,
        settled_confidence float8, due_at timestamptz, importance_score float8, importance_dimensions jsonb,
        salt text, seal text, integrity_chain text, on_probation bool, {STATE_TYPES})
)
"""
MADE = f"""
made AS (
    INSERT INTO memories_entry (account_id, id, claim_id, created_at, changed_at, tier, freshness, salt, seal,
                                {", ".join(INSERTED)})
    SELECT %(account)s, h.eid, h.cid, %(at)s, %(at)s, 3, h.kept, decode(h.salt, 'hex'), decode(h.seal, 'hex'),
           {columns(INSERTED, "h")}
      FROM heads h WHERE h.expected = 0
    ON CONFLICT (account_id, branch, entity_path, key, owner) DO NOTHING
    RETURNING id
)
"""
MOVED = f"""
moved AS (
    UPDATE memories_entry e
       SET was_owner = CASE WHEN h.owner = '' AND e.owner <> '' THEN e.owner ELSE e.was_owner END,
           claim_id = h.cid, changed_at = %(at)s, freshness = h.kept, seal = decode(h.seal, 'hex'),
           {", ".join(f"{name} = h.{name}" for name in UPDATED)}
      FROM heads h
     WHERE h.expected > 0 AND e.account_id = %(account)s AND e.id = h.eid AND e.version = h.expected
    RETURNING e.id
)
"""
VERSIONS = f"""
versions AS (
    SELECT d.eid, d.cid, v.* FROM payload, jsonb_to_recordset(p->'versions') AS v(
        i int, number int, change text, before float8, weight float8, integrity_chain text, names_digest text,
        content_digest text, seal text, effect jsonb, {STATE_TYPES}) JOIN done d ON d.i = v.i
)
"""
# An agent comes into being with its first act; touched once a minute, its row makes nobody queue.
AGENTS = """
agents AS (
    INSERT INTO accounts_agent (account_id, agent_id, created_at, last_active_at)
    SELECT %(account)s, %(actor)s, %(at)s, %(at)s FROM change_set
     WHERE %(actor_kind)s = 'agent' AND %(actor)s <> '' AND NOT EXISTS (
        SELECT 1 FROM accounts_agent g WHERE g.account_id = %(account)s AND g.agent_id = %(actor)s
           AND g.last_active_at > %(at)s::timestamptz - interval '1 minute')
    ON CONFLICT (account_id, agent_id) DO UPDATE SET last_active_at = excluded.last_active_at
)
"""
CLAIMS = """
claims AS (
    INSERT INTO memories_claim (account_id, id, entry_id, value, is_artifact, agent_id, session_id, written_at,
                                pattern_refs, artifact_refs, embedding, digest, salt, content_hash, content)
    SELECT %(account)s, d.cid, d.eid, c.value, c.is_artifact, c.agent_id, c.session_id, c.written_at,
           c.pattern_refs, c.artifact_refs, c.embedding, decode(c.digest, 'hex'), decode(c.salt, 'hex'),
           c.content_hash, decode(c.content, 'hex')
      FROM payload, jsonb_to_recordset(p->'claims') AS c(
        i int, value text, is_artifact bool, agent_id text, session_id text, written_at timestamptz,
        pattern_refs text[], artifact_refs jsonb, embedding float8[], digest text, salt text, content_hash text,
        content text) JOIN done d ON d.i = c.i
)
"""
WORDS = """
words AS (
    INSERT INTO memories_entrytext (account_id, entry_id, words, name, reworded_at)
    SELECT %(account)s, d.eid, w.words::tsvector || setweight(to_tsvector('pg_catalog.english', w.stems), 'D'), w.name,
           %(at)s
      FROM payload, jsonb_to_recordset(p->'words') AS w(i int, words text, stems text, name text)
           JOIN done d ON d.i = w.i
    ON CONFLICT (account_id, entry_id) DO UPDATE SET words = excluded.words, name = excluded.name,
                                                     reworded_at = excluded.reworded_at
)
"""
HISTORY = f"""
history AS (
    INSERT INTO memories_entryversion (account_id, entry_id, number, claim_id, change_set_id, change, at, before,
        weight, policy, integrity_chain, names_digest, content_digest, seal, {", ".join(STATE)})
    SELECT %(account)s, v.eid, v.number, v.cid, s.id, v.change, %(at)s, v.before, v.weight, %(policy)s,
           v.integrity_chain, decode(v.names_digest, 'hex'), decode(v.content_digest, 'hex'), decode(v.seal, 'hex'),
           {columns(list(STATE), "v")}
      FROM versions v, change_set s
)
"""
EFFECTS = f"""
effects AS (
    INSERT INTO memories_effect (account_id, entry_id, version_made, at, policy, {EFFECT_NAMES})
    SELECT %(account)s, v.eid, v.number, %(at)s, %(policy)s, {columns(list(EFFECT), "f")}
      FROM versions v, jsonb_to_record(v.effect) AS f({EFFECT_TYPES}) WHERE v.effect IS NOT NULL
    UNION ALL
    SELECT %(account)s, f.entry_id, NULL, %(at)s, %(policy)s, {columns(list(EFFECT), "f")}
      FROM payload, jsonb_to_recordset(p->'effects') AS f(entry_id bigint, {EFFECT_TYPES})
)
"""


@dataclass(frozen=True, slots=True)
class Parts:
    """What an act has to write beside versions; what is not in a statement costs it neither a plan nor a trigger."""

    makes: bool = True
    moves: bool = True
    claims: bool = True
    effects: bool = True
    grows: bool = False


@cache
def append(parts: Parts) -> str:
    """Return the statement that writes such an act."""
    touched = ["SELECT id FROM made"] * parts.makes + ["SELECT id FROM moved"] * parts.moves
    done = f"done AS (SELECT h.* FROM heads h WHERE h.eid IN ({' UNION ALL '.join(touched)}))"
    change_set = f"change_set AS ({GROWN_SET if parts.grows else NEW_SET})"
    steps = ["payload AS (SELECT %(payload)s::jsonb AS p)", HEADS, *[MADE] * parts.makes, *[MOVED] * parts.moves, done]
    steps += [VERSIONS, change_set, AGENTS, *[CLAIMS, WORDS] * parts.claims, HISTORY, *[EFFECTS] * parts.effects]
    return " ".join(f"WITH {', '.join(steps)} SELECT d.i, d.eid, s.id FROM done d, change_set s".split())

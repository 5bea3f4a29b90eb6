"""Traces as they are kept: one for each outcome, session and agent; with a body only when no outcome says the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.heads import Head
from memories.viewers import Viewer
from outcomes.rules import Report
from outcomes.tracing import listing
from outcomes.tracing.listing import Row
from senselab import pipeline

# Told again it finds itself, in whichever month that was; of two at once in a month the database takes one.
KNOWN = """
    WITH known AS (
        SELECT t.id, t.created_at FROM outcomes_trace t
         WHERE t.account_id = %(account)s AND t.outcome_ref = %(ref)s AND t.session_id = %(session)s
           AND t.agent_id = %(agent)s AND NOT t.outcome_ref = ''
    ),
"""
# A body that comes later joins what the outcome's row had told so far.
JOIN = """
    joined AS (
        UPDATE outcomes_trace t
           SET outcome_type = %(type)s, branch = %(branch)s, body = %(body)s, entity_paths = %(paths)s::text[],
               causal_keys = %(keys)s::text[], causal_authors = %(authors)s::text[], tool_calls = %(calls)s,
               errors = %(errors)s, duration_ms = %(duration)s
          FROM known k
         WHERE t.account_id = %(account)s AND t.id = k.id AND t.created_at = k.created_at AND t.body IS NULL
    ),
"""
MAKE = """
    made AS (
        INSERT INTO outcomes_trace (account_id, agent_id, session_id, outcome_ref, outcome_type, branch, outcome_id,
            body, entity_paths, causal_keys, causal_authors, tool_calls, errors, duration_ms, created_at)
        SELECT %(account)s, %(agent)s, %(session)s, %(ref)s, %(type)s, %(branch)s, coalesce(%(outcome)s, (
                SELECT o.id FROM outcomes_outcome o
                 WHERE o.account_id = %(account)s AND o.outcome_ref = %(ref)s AND o.agent_id = %(agent)s
                 ORDER BY o.committed_at DESC, o.id DESC LIMIT 1)),
            %(body)s, %(paths)s::text[], %(keys)s::text[], %(authors)s::text[], %(calls)s, %(errors)s, %(duration)s,
            %(at)s
         WHERE NOT EXISTS (SELECT 1 FROM known)
        ON CONFLICT DO NOTHING
        RETURNING id
    )
    SELECT k.id FROM known k UNION ALL SELECT m.id FROM made m
"""


@dataclass(frozen=True, slots=True)
class Told:
    """What a trace says: the columns it is found by, and the JSON text it came as (None: the outcome says it all)."""

    agent_id: str
    session_id: str
    outcome_ref: str
    outcome_type: str
    branch: str
    body: str | None
    entity_paths: Sequence[str]
    causal: Sequence[tuple[str, str]]
    tool_calls: int
    errors: int
    duration_ms: float | None
    created_at: datetime


def keep(account_id: int, told: Told, *, outcome_id: int | None = None) -> UUID:
    """Keep a trace and return its id; the same one told again changes nothing and answers with the same id."""
    rows: pipeline.Rows = []
    while not rows:
        # Nothing comes back when somebody tells the same meanwhile: theirs is found then.
        (rows,) = pipeline.fetch(query(account_id, told, outcome_id=outcome_id))
    found: UUID = rows[0][0]
    return found


def keep_and_read(viewer: Viewer, told: Told) -> Row | None:
    """Keep a trace and return it as the viewer may see it: one round trip where an outcome names it."""
    if told.outcome_ref:
        same = listing.same_query(viewer, told.outcome_ref, told.session_id, told.agent_id)
        kept, rows = pipeline.fetch(query(viewer.account_id, told), same)
        if kept and rows:
            return Row(*rows[0])
    return listing.one(viewer, keep(viewer.account_id, told))


def query(account_id: int, told: Told, *, outcome_id: int | None = None) -> pipeline.Query:
    """Return the statement behind `keep`, to travel with others."""
    values: dict[str, Any] = {
        "account": account_id,
        "agent": told.agent_id,
        "session": told.session_id,
        "ref": told.outcome_ref,
        "type": told.outcome_type,
        "branch": told.branch,
        "outcome": outcome_id,
        "body": told.body,
        "paths": list(dict.fromkeys(told.entity_paths)),
        "keys": [key for key, _ in told.causal],
        "authors": [author for _, author in told.causal],
        "calls": told.tool_calls,
        "errors": told.errors,
        "duration": told.duration_ms,
        "at": told.created_at,
    }
    return KNOWN + ("" if told.body is None else JOIN) + MAKE, values


def of_outcome(report: Report, session: str, read: list[Head], now: datetime) -> Told:
    """Return the trace of an outcome that no trace follows: all it says stands in the outcome's row and its effects."""
    return Told(
        agent_id=report.agent_id,
        session_id=session,
        outcome_ref=report.outcome_ref,
        outcome_type=str(report.outcome_type),
        branch=report.branch,
        body=None,
        entity_paths=[*(head.entity_path for head in read), *(report.told.get("entity_paths") or [])],
        causal=[(head.entry_key, head.claim.agent_id) for head in read],
        tool_calls=len(report.told.get("tool_calls") or []),
        errors=0,
        duration_ms=None,
        created_at=now,
    )

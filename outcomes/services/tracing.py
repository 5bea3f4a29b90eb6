"""Traces as they are kept: one for each outcome, session and agent; with a body only when no outcome says the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from memories.heads import Head
from outcomes.rules import Report

# Told again it finds itself; a body that comes later joins what the outcome's row had told so far.
KEEP = """
    INSERT INTO outcomes_trace AS t (account_id, agent_id, session_id, outcome_ref, outcome_type, branch, outcome_id,
        body, entity_paths, causal_keys, causal_authors, tool_calls, errors, duration_ms, created_at)
    SELECT %(account)s, %(agent)s, %(session)s, %(ref)s, %(type)s, %(branch)s, coalesce(%(outcome)s, (
            SELECT o.id FROM outcomes_outcome o
             WHERE o.account_id = %(account)s AND o.outcome_ref = %(ref)s AND o.agent_id = %(agent)s
             ORDER BY o.committed_at DESC, o.id DESC LIMIT 1)),
        %(body)s, %(paths)s::text[], %(keys)s::text[], %(authors)s::text[], %(calls)s, %(errors)s, %(duration)s, %(at)s
    ON CONFLICT (account_id, outcome_ref, session_id, agent_id) WHERE NOT outcome_ref = '' DO UPDATE
       SET outcome_type = excluded.outcome_type, branch = excluded.branch, body = excluded.body,
           entity_paths = excluded.entity_paths, causal_keys = excluded.causal_keys,
           causal_authors = excluded.causal_authors, tool_calls = excluded.tool_calls, errors = excluded.errors,
           duration_ms = excluded.duration_ms
     WHERE t.body IS NULL AND excluded.body IS NOT NULL
    RETURNING t.id
"""
KEPT = """
    SELECT t.id FROM outcomes_trace t
     WHERE t.account_id = %(account)s AND t.outcome_ref = %(ref)s AND t.session_id = %(session)s
       AND t.agent_id = %(agent)s
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
    with connection.cursor() as cursor:
        cursor.execute(KEEP, values)
        row = cursor.fetchone()
        if row is None:
            cursor.execute(KEPT, values)
            row = cursor.fetchone()
    found: UUID = row[0]
    return found


def keep_of_outcome(
    account_id: int, outcome_id: int, report: Report, session: str, read: list[Head], now: datetime
) -> UUID:
    """Keep the trace of an outcome that no trace follows: all it says stands in the outcome's row and its effects."""
    told = Told(
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
    return keep(account_id, told, outcome_id=outcome_id)

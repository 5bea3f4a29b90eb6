"""An outcome stored once, with what its task was about, in one statement."""

from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from memories.services.ledger import Actor
from outcomes import rules
from outcomes.rules import Report, tasks
from senselab.pipeline import Query

# What the task was about travels with it; what is replayed says nothing about tasks.
STORE = """
    WITH stored AS (
    INSERT INTO outcomes_outcome (account_id, digest, outcome_ref, outcome_type, agent_id, session_id, branch,
        causal_confidence, verified_by, replayed, committed_at, causal_entry_keys, causal_entry_versions, attempts,
        final_action_index, actions_taken, entity_paths, situation, covariates, task_input, response_text, tool_calls,
        session_metadata, trace_follows)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (account_id, digest) DO NOTHING RETURNING account_id, id, branch, committed_at
    ), described AS (
    INSERT INTO outcomes_tasktext (account_id, outcome_id, entity_path, branch, at, terms)
    SELECT s.account_id, s.id, p.path, s.branch, s.committed_at, %s::text[] FROM stored s, unnest(%s::text[]) AS p(path)
    )
    SELECT id FROM stored
"""


def query(account_id: int, report: Report, actor: Actor, now: datetime) -> Query:
    """Return the statement that stores an outcome and what its task was about, and finds its id: no row when it had
    been told before."""
    told = report.told
    values: list[Any] = [
        account_id,
        rules.digest(report),
        report.outcome_ref,
        report.outcome_type,
        report.agent_id,
        actor.session_id,
        report.branch,
        report.causal_confidence,
        report.verified_by,
        report.replayed,
        now,
        list(report.keys),
        Jsonb(dict(report.versions)),
        Jsonb([_told(attempt) for attempt in report.attempts]),
        told.get("final_action_index"),
        Jsonb(told.get("actions_taken") or []),
        list(told.get("entity_paths") or []),
        told.get("situation"),
        Jsonb(told.get("covariates") or {}),
        told.get("task_input"),
        told.get("response_text"),
        Jsonb(told.get("tool_calls") or []),
        Jsonb(told.get("session_metadata")) if told.get("session_metadata") is not None else None,
        bool(told.get("trace_follows")),
        tasks.terms_of(told.get("task_input"), told.get("situation")),
        [] if report.replayed else tasks.paths_of(told.get("entity_paths") or [], report.all_keys),
    ]
    return STORE, values


def _told(attempt: rules.Attempt) -> dict[str, Any]:
    return {
        "attempt": attempt.attempt,
        "outcome_type": str(attempt.outcome_type),
        "causal_entry_keys": list(attempt.keys),
        "causal_entry_versions": dict(attempt.versions),
        "action_indices": list(attempt.action_indices),
        "summary": attempt.summary,
    }

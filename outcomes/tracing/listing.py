"""Traces as contract.md 1.6 describes them, newest first; what the viewer may not see has left no trace."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from memories.viewers import Viewer
from outcomes.querysets import privacy
from outcomes.tracing import from_outcomes, hiding
from senselab import cursors

COLUMNS = """t.id, t.agent_id, t.session_id, t.outcome_ref, t.outcome_type, t.branch, t.outcome_id, t.body,
             t.entity_paths, t.causal_keys, t.tool_calls, t.errors, t.duration_ms, t.created_at"""
NAMESPACE = "default"
# Everything a trace has, in the order of the contract; what was told stands over it.
BLANK: dict[str, Any] = {
    "decision_summary": None,
    "task_input": None,
    "response_text": None,
    "tool_calls": [],
    "causal_entries": [],
    "external_contexts": [],
    "query_events": [],
    "error_events": [],
    "state_diff": None,
    "session_metadata": None,
    "session_started_at": None,
    "session_ended_at": None,
    "session_duration_ms": None,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Which traces: by an agent, of these outcome types, touching a path, from a moment on and before another."""

    entity_path: str = ""
    agent_id: str = ""
    types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A trace as it is kept."""

    id: UUID
    agent_id: str
    session_id: str
    outcome_ref: str
    outcome_type: str
    branch: str
    outcome_id: int | None
    body: str | None
    entity_paths: list[str]
    causal_keys: list[str]
    tool_calls: int
    errors: int
    duration_ms: float | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """Some traces, newest first, and the cursor that goes on after them ('' on the last page)."""

    rows: list[Row]
    next: str


def page(viewer: Viewer, asked: Asked, *, cursor: str = "", offset: int = 0, limit: int = 50) -> Page:
    """Return a page of traces.

    :raises BadCursor: the cursor cannot be read.
    """
    silent = privacy.silent_at(viewer, asked.entity_path) if asked.entity_path else []
    if silent is None:
        return Page([], "")
    shown: list[Row] = []
    after = cursors.read(cursor, datetime.fromisoformat, UUID) if cursor else None
    while True:
        found = _select(viewer, asked, after, offset, limit - len(shown) + 1, silent)
        seen = _without_hidden_paths(viewer, asked, found)
        more = len(found) > limit - len(shown)
        shown += seen if not more else seen[: limit - len(shown)]
        if not more:
            return Page(shown, "")
        if len(shown) >= limit:
            return Page(shown, cursors.make_after(shown[-1].created_at, shown[-1].id))
        after, offset = [found[-1].created_at, found[-1].id], 0


def within(viewer: Viewer) -> list[str]:
    """Return the conditions of a key with globs: it sees traces that touch nothing, and those that touch one within."""
    return [
        f"(t.entity_paths = '{{}}' OR EXISTS (SELECT 1 FROM unnest(t.entity_paths) AS p(path) "
        f"WHERE {reach.sql('p.path', f'reach_{n}')}))"
        for n, reach in enumerate(viewer.reaches)
    ]


def touches(viewer: Viewer, paths: Collection[str]) -> bool:
    """Tell of a trace that touches some paths what `within` says in SQL."""
    return not paths or all(any(map(reach.holds, paths)) for reach in viewer.reaches)


def _select(
    viewer: Viewer, asked: Asked, after: list[Any] | None, offset: int, limit: int, silent: Sequence[str] = ()
) -> list[Row]:
    conditions, values = _conditions(asked)
    if silent:
        conditions.append("t.agent_id <> ALL(%(silent)s)")
        values["silent"] = list(silent)
    conditions += within(viewer)
    if after is not None:
        conditions.append("(t.created_at, t.id) < (%(at)s, %(after)s)")
        values |= {"at": after[0], "after": after[1]}
    sql = f"""SELECT {COLUMNS} FROM outcomes_trace t WHERE {" AND ".join(["t.account_id = %(account)s", *conditions])}
              ORDER BY t.created_at DESC, t.id DESC LIMIT %(limit)s OFFSET %(offset)s"""
    with connection.cursor() as database:
        database.execute(sql, {**viewer.parameters, "limit": limit, "offset": offset, **values})
        return [Row(*row) for row in database.fetchall()]


def _conditions(asked: Asked) -> tuple[list[str], dict[str, Any]]:
    conditions: dict[str, tuple[str, dict[str, Any]]] = {
        "entity_path": ("t.entity_paths @> ARRAY[%(path)s]::text[]", {"path": asked.entity_path}),
        "agent_id": ("t.agent_id = %(of)s", {"of": asked.agent_id}),
        "types": ("t.outcome_type = ANY(%(types)s)", {"types": list(asked.types)}),
        "since": ("t.created_at >= %(since)s", {"since": asked.since}),
        "until": ("t.created_at < %(until)s", {"until": asked.until}),
        "ref": ("starts_with(t.outcome_ref, %(ref)s)", {"ref": asked.ref}),
    }
    wanted = [conditions[name] for name in conditions if getattr(asked, name)]
    return [sql for sql, _ in wanted], {name: value for _, values in wanted for name, value in values.items()}


def _without_hidden_paths(viewer: Viewer, asked: Asked, found: list[Row]) -> list[Row]:
    """Return the traces that touch the path by something the viewer may see."""
    if not asked.entity_path or viewer.sees_all:
        return found
    hidden = privacy.hidden(viewer, [key for row in found for key in row.causal_keys])
    start = f"{asked.entity_path}/"

    def touches(row: Row) -> bool:
        under = [key for key in row.causal_keys if key.startswith(start)]
        return not under or any(not hidden.hides(row.agent_id, key) for key in under)

    return [row for row in found if touches(row)]


def one(viewer: Viewer, trace_id: UUID) -> Row | None:
    where = " AND ".join(["t.account_id = %(account)s", "t.id = %(id)s", *within(viewer)])
    with connection.cursor() as database:
        database.execute(f"SELECT {COLUMNS} FROM outcomes_trace t WHERE {where}", {**viewer.parameters, "id": trace_id})
        row = database.fetchone()
    return Row(*row) if row else None


def same_query(viewer: Viewer, reference: str, session_id: str, agent_id: str) -> tuple[str, dict[str, Any]]:
    """Return the statement that finds the trace of an outcome, session and agent, to travel with what keeps it."""
    same = ["t.outcome_ref = %(ref)s", "t.session_id = %(session)s", "t.agent_id = %(of)s"]
    where = " AND ".join(["t.account_id = %(account)s", *same, *within(viewer)])
    values = {**viewer.parameters, "ref": reference, "session": session_id, "of": agent_id}
    return f"SELECT {COLUMNS} FROM outcomes_trace t WHERE {where}", values


def of_outcome(viewer: Viewer, outcome_id: int) -> UUID | None:
    """Return the trace that led to an outcome, None when nobody told it."""
    sql = """SELECT t.id FROM outcomes_trace t WHERE t.account_id = %s AND t.outcome_id = %s
              ORDER BY t.created_at LIMIT 1"""
    with connection.cursor() as database:
        database.execute(sql, [viewer.account_id, outcome_id])
        row = database.fetchone()
    return row[0] if row else None


def contexts(viewer: Viewer, outcome_id: int) -> list[Any]:
    """Return what an agent was told from outside on its way to an outcome, [] where no trace says so."""
    trace_id = of_outcome(viewer, outcome_id)
    row = one(viewer, trace_id) if trace_id else None
    return told(viewer, [row])[0]["external_contexts"] if row else []


def told(viewer: Viewer, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return traces as they travel, each as its agent told it but for what is hidden; five statements for all."""
    outcomes = from_outcomes.told(viewer, [row.outcome_id for row in rows if row.body is None and row.outcome_id])
    bodies = [_body(row, outcomes) for row in rows]
    shown = hiding.without(viewer, [(row.agent_id, body) for row, body in zip(rows, bodies, strict=True)])
    return [_whole(row, body) for row, body in zip(rows, shown, strict=True)]


def _body(row: Row, outcomes: dict[int, dict[str, Any]]) -> dict[str, Any]:
    if row.body is not None:
        # A body of nothing at all was kept once.
        return msgspec.json.decode(row.body or "{}", type=dict[str, msgspec.Raw])
    known = outcomes.get(row.outcome_id or 0, {})
    return {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in known.items()}


def _whole(row: Row, body: dict[str, Any]) -> dict[str, Any]:
    fixed = {
        "id": row.id,
        "agent_id": row.agent_id,
        "session_id": row.session_id,
        "outcome_ref": row.outcome_ref or None,
        "outcome_type": row.outcome_type or None,
    }
    return {**fixed, **BLANK, **body, **fixed, "created_at": row.created_at, "namespace": NAMESPACE}

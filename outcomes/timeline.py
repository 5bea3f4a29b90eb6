"""An agent's timeline, newest first: what it wrote and how its tasks ended, as the server knows it, and what it posted.

Each source is read down its own index from the same point on, so that a page costs the same wherever it stands.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from memories.viewers import Viewer
from outcomes import querysets
from outcomes.querysets import privacy
from senselab import cursors

WRITES, OUTCOMES, POSTED = 1, 2, 3
NAMESPACE = "default"

WRITTEN = """
    SELECT s.at, v.id, e.branch, v.change, e.entity_path, e.key, v.number, v.confidence, v.memory_type, v.shared
      FROM memories_changeset s
      JOIN memories_entryversion v ON v.account_id = s.account_id AND v.change_set_id = s.id
      JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
     WHERE s.account_id = %(account)s AND s.actor = %(of)s AND s.actor_kind = 'agent'
       AND s.kind = ANY(%(kinds)s) AND v.change IN ('created', 'written', 'rollback') AND {visible} AND {span}
     ORDER BY s.at DESC, v.id DESC LIMIT %(limit)s
"""
ENDED = """
    SELECT o.committed_at, o.id, o.branch, o.outcome_ref, o.outcome_type, o.causal_entry_keys,
           (SELECT count(DISTINCT f.entry_id) FROM memories_effect f
              JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
             WHERE f.account_id = %(account)s AND f.outcome_id = o.id AND f.version_made IS NOT NULL AND {visible})
      FROM outcomes_outcome o
     WHERE o.account_id = %(account)s AND o.agent_id = %(of)s AND {span}{within}
     ORDER BY o.committed_at DESC, o.id DESC LIMIT %(limit)s
"""
TOLD = """
    SELECT t.created_at, t.id, t.branch, t.event_type, t.summary, t.details::text, t.actor_agent_id
      FROM outcomes_event t
     WHERE t.account_id = %(account)s AND t.agent_id = %(of)s AND {types} AND {seen} AND {span}
     ORDER BY t.created_at DESC, t.id DESC LIMIT %(limit)s
"""
# Not when it names a path outside the globs of the key that asks.
WITHIN = " AND (t.entity_path = '' OR (TRUE{within}))"
# Not when whoever told it names a private entry of its own; in another's mouth the name is but a guess. That somebody
# has read from an agent, the reader tells.
SEEN = """
    (t.key = '' OR NOT EXISTS (
        SELECT 1 FROM memories_entry p
         WHERE p.account_id = %(account)s AND p.entity_path = t.entity_path AND p.key = t.key
           AND p.owner <> '' AND NOT p.owner = ANY(%(owners)s)
           AND (p.owner = t.actor_agent_id
                OR (p.owner = t.agent_id AND (t.event_type <> 'cross_agent_read' OR t.actor_agent_id = '')))))
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose timeline, and what of it."""

    agent_id: str
    event_type: str = ""
    branch: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something on a timeline, from one of its sources."""

    at: datetime
    source: int
    id: int
    branch: str
    event_type: str
    summary: str
    details: dict[str, Any]
    actor: str = ""

    @property
    def place(self) -> tuple[datetime, int, int]:
        return (self.at, self.source, self.id)


@dataclass(frozen=True, slots=True)
class Page:
    """Some events, newest first, and the cursor that goes on after them ('' on the last page)."""

    events: list[Event]
    next: str


def page(viewer: Viewer, asked: Asked, *, cursor: str = "", offset: int = 0, limit: int = 50) -> Page:
    """Return a page of a timeline; three statements, each for one page at most.

    :raises BadCursor: the cursor cannot be read.
    """
    after = None
    if cursor:
        moment, place = cursors.read(cursor, datetime.fromisoformat, UUID)
        after = [moment, *row_of(place)]
    most = limit + 1 + offset
    found: list[Event] = []
    for source, read in SOURCES.items():
        if not asked.event_type or asked.event_type in TYPES[source] or source == POSTED:
            found += read(viewer, asked, after, most)
    found = sorted(found, key=lambda event: event.place, reverse=True)[offset:]
    shown = found[:limit]
    more = len(found) > limit
    last = shown[-1] if more else None
    return Page(shown, cursors.make_after(last.at, event_id(last.source, last.id)) if last else "")


def _span(asked: Asked, after: list[Any] | None, source: int, at: str, number: str, branch: str) -> tuple[str, Any]:
    """Return the conditions on when and where, and what they bind."""
    parts: list[str] = ["TRUE"]
    values: dict[str, Any] = {}
    if asked.since:
        parts.append(f"{at} >= %(since)s")
        values["since"] = asked.since
    if asked.until:
        parts.append(f"{at} < %(until)s")
        values["until"] = asked.until
    if asked.branch:
        parts.append(f"{branch} = %(branch)s")
        values["branch"] = asked.branch
    if after:
        moment, after_source, after_id = after
        # At the same moment sources come one after the other.
        same = {True: f"{number} < %(after_id)s", False: "TRUE" if source < after_source else "FALSE"}
        parts.append(f"{at} <= %(after)s AND ({at} < %(after)s OR {same[source == after_source]})")
        values |= {"after": moment, "after_id": after_id}
    return " AND ".join(parts), values


def _rows(viewer: Viewer, asked: Asked, sql: str, limit: int, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {**viewer.parameters, "of": asked.agent_id, "limit": limit, **values})
        return cursor.fetchall()


def _writes(viewer: Viewer, asked: Asked, after: list[Any] | None, limit: int) -> list[Event]:
    span, values = _span(asked, after, WRITES, "s.at", "v.id", "e.branch")
    kinds = [asked.event_type] if asked.event_type else ["write", "rollback"]
    sql = WRITTEN.format(visible=viewer.visible(), span=span)
    return [_write(*row) for row in _rows(viewer, asked, sql, limit, kinds=kinds, **values)]


def _write(
    at: datetime, number: int, branch: str, change: str, path: str, key: str, version: int, confidence: float,
    memory_type: str, shared: bool,
) -> Event:  # fmt: skip
    back = change == "rollback"
    details = {
        "entity_path": path,
        "key": key,
        "version": version,
        "confidence": confidence,
        "memory_type": memory_type,
        "shared": shared,
    }
    summary = f"{'Rolled back' if back else 'Wrote'} {path}/{key} v{version}"
    return Event(at, WRITES, number, branch, "rollback" if back else "write", summary, details)


def _outcomes(viewer: Viewer, asked: Asked, after: list[Any] | None, limit: int) -> list[Event]:
    span, values = _span(asked, after, OUTCOMES, "o.committed_at", "o.id", "o.branch")
    within, bound = querysets.within(viewer)
    sql = ENDED.format(visible=viewer.visible(), span=span, within=within)
    found = _rows(viewer, asked, sql, limit, **values, **bound)
    hidden = privacy.hidden(viewer, [key for row in found for key in row[5]])
    events = []
    for at, number, branch, ref, kind, keys, moved in found:
        details = {
            "outcome_ref": ref,
            "outcome_type": kind,
            "causal_entries": sum(not hidden.hides(asked.agent_id, key) for key in keys),
            "entries_updated": moved,
        }
        events.append(Event(at, OUTCOMES, number, branch, "outcome", f"Committed outcome '{ref}' ({kind})", details))
    return events


def _posted(viewer: Viewer, asked: Asked, after: list[Any] | None, limit: int) -> list[Event]:
    span, values = _span(asked, after, POSTED, "t.created_at", "t.id", "t.branch")
    within = WITHIN.format(within=viewer.within("t")) if viewer.reaches else ""
    types = "t.event_type = %(type)s" if asked.event_type else "TRUE"
    sql = TOLD.format(types=types, seen="TRUE" if viewer.sees_all else SEEN + within, span=span)
    found = _rows(viewer, asked, sql, limit, type=asked.event_type, **values)
    return [
        Event(at, POSTED, number, branch, kind, summary, msgspec.json.decode(details), actor)
        for at, number, branch, kind, summary, details, actor in found
    ]


Source = Callable[[Viewer, Asked, list[Any] | None, int], list[Event]]
SOURCES: dict[int, Source] = {WRITES: _writes, OUTCOMES: _outcomes, POSTED: _posted}
TYPES = {WRITES: ("write", "rollback"), OUTCOMES: ("outcome",), POSTED: ()}


def event_id(source: int, number: int) -> UUID:
    """Return an id (a UUID of version 8) that says which row of which source an event is."""
    return UUID(f"00000000-0000-8{source:03x}-8000-{number:012x}")


def row_of(place: UUID) -> tuple[int, int]:
    """Return the source and the row an id names; of an id that none of ours is, what lies behind everything."""
    return place.time_hi_version & 0xFFF, place.node


def told(agent_id: str, event: Event) -> dict[str, Any]:
    """Return an event as it travels (contract.md 1.9)."""
    return {
        "id": event_id(event.source, event.id),
        "namespace": NAMESPACE,
        "agent_id": agent_id,
        "branch": event.branch,
        "event_type": event.event_type,
        "summary": event.summary,
        "details": event.details,
        "actor_agent_id": event.actor or None,
        "created_at": event.at,
    }

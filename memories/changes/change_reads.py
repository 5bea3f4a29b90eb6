"""Reads of change sets: who did what, when and why, as far as the viewer may see its entries."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from memories.viewers import Viewer
from senselab import cursors

COLUMNS = (
    "s.id, s.kind, s.actor_kind, s.actor, s.session_id, {reason}, s.cause, s.request_id, s.at, {size}, s.undoes_id"
)
UNDER = """EXISTS (
    SELECT 1 FROM memories_entryversion v
      JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
     WHERE v.account_id = %(account)s AND v.change_set_id = s.id AND {visible}
       AND (e.entity_path = %(path)s OR (e.entity_path >= %(below)s AND e.entity_path < %(beyond)s)))"""
PAGE = 50


@dataclass(frozen=True, slots=True)
class Shown:
    """A change set as it is shown; `undone_by_id` is the undo that took it back, if any did."""

    id: int
    kind: str
    actor_kind: str
    actor: str
    session_id: str
    reason: str
    cause: str
    request_id: str
    at: datetime
    size: int
    undoes_id: int | None
    undone_by_id: int | None

    def told(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "actor_kind": self.actor_kind,
            "actor": self.actor,
            "reason": self.reason,
            "cause": self.cause,
            "at": self.at,
            "size": self.size,
            "undoes": self.undoes_id,
            "undone_by": self.undone_by_id,
        }


@dataclass(frozen=True, slots=True)
class Page:
    """Some change sets, newest first, and the cursor that goes on after them ('' on the last page)."""

    rows: list[Shown]
    next: str


def select(viewer: Viewer) -> str:
    """Return the statement up to its WHERE; a set is seen when one of its entries is, changed or commented on."""
    seen = f"""(EXISTS (
        SELECT 1 FROM memories_entryversion v
          JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
         WHERE v.account_id = %(account)s AND v.change_set_id = s.id AND {viewer.visible()}) OR EXISTS (
        SELECT 1 FROM memories_comment c
          JOIN memories_entry e ON e.account_id = c.account_id AND e.id = c.entry_id
         WHERE c.account_id = %(account)s AND c.change_set_id = s.id AND {viewer.visible()}))"""
    # Of a set that is seen in part, only that part counts.
    size = f"""(SELECT count(*) FROM memories_entryversion v
          JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
         WHERE v.account_id = %(account)s AND v.change_set_id = s.id AND {viewer.visible()})"""
    # An agent's words about such a set may be about the rest of it.
    reason = f"CASE WHEN s.actor_kind = 'agent' AND s.actor <> %(agent)s AND {size} < s.size THEN '' ELSE s.reason END"
    size, reason = ("s.size", "s.reason") if viewer.sees_all else (size, reason)
    return f"""
        SELECT {COLUMNS.format(size=size, reason=reason)}, (SELECT max(u.id) FROM memories_changeset u
                            WHERE u.account_id = s.account_id AND u.undoes_id = s.id) AS undone_by
          FROM memories_changeset s
         WHERE s.account_id = %(account)s AND {"TRUE" if viewer.sees_all else seen}
    """


def fetch(sql: str, values: dict[str, Any]) -> list[Shown]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [Shown(*row) for row in cursor.fetchall()]


def one(viewer: Viewer, change_set_id: int) -> Shown | None:
    found = fetch(f"{select(viewer)} AND s.id = %(id)s", {**viewer.parameters, "id": change_set_id})
    return found[0] if found else None


def page(viewer: Viewer, *, cursor: str = "", limit: int = PAGE, **asked: Any) -> Page:
    """Return a page of change sets; what may be asked for stands at `statement`.

    :raises Refusal: the cursor cannot be read.
    """
    sql, values = statement(viewer, cursor=cursor, limit=limit, **asked)
    return paged(fetch(sql, values), limit)


def paged(found: list[Shown], limit: int) -> Page:
    """Return a page of what was found: one more than its limit when it is not the last."""
    shown = found[:limit]
    return Page(shown, cursors.make(shown[-1].at.isoformat(), shown[-1].id) if len(found) > limit else "")


def statement(
    viewer: Viewer,
    *,
    kind: str = "",
    actor: str = "",
    entity_path: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str = "",
    limit: int = PAGE,
) -> tuple[str, dict[str, Any]]:
    """Return the statement of a page of change sets, newest first, that finds one more.

    :raises Refusal: the cursor cannot be read.
    """
    values: dict[str, Any] = {**viewer.parameters, "kind": kind, "actor": actor, "since": since, "until": until}
    sql = select(viewer)
    conditions = {"kind": "s.kind = %(kind)s", "actor": "s.actor = %(actor)s"}
    conditions |= {"since": "s.at >= %(since)s", "until": "s.at < %(until)s"}
    sql += "".join(f" AND {condition}" for name, condition in conditions.items() if values[name])
    if entity_path:
        sql += f" AND {UNDER.format(visible=viewer.visible())}"
        path = entity_path.rstrip("/")
        # '0' is the character after '/', so this is every path that begins with "path/".
        values |= {"path": path, "below": f"{path}/", "beyond": f"{path}0"}
    if cursor:
        at, change_set_id = cursors.read(cursor, datetime.fromisoformat, int)
        sql += " AND (s.at, s.id) < (%(at)s, %(after)s)"
        values |= {"at": at, "after": change_set_id}
    return f"{sql} ORDER BY s.at DESC, s.id DESC LIMIT %(limit)s", {**values, "limit": limit + 1}

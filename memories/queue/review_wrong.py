"""What an agent, a session or anybody under a path has written since a moment, and what taking it back would leave.

An entry counts as theirs when its present claim is; where somebody else has written since, it is shown and left alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from memories.rules import diff
from memories.rules.decisions import Item
from memories.rules.diff import Change
from memories.viewers import Viewer
from senselab import cursors
from senselab.errors import Invalid

PAGE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """Whose writes are meant, all that is given at once, and since when."""

    since: datetime
    agent_id: str = ""
    session_id: str = ""
    entity_path: str = ""

    def check(self, now: datetime) -> None:
        """:raises Invalid: nobody is named, or the moment lies ahead."""
        if not (self.agent_id or self.session_id or self.entity_path):
            raise Invalid("Name an agent, a session or an entity.", "/agent_id")
        if self.since >= now:
            raise Invalid("That moment has not come yet.", "/since")

    def told(self) -> str:
        """Return who is meant, in words."""
        parts = [self.agent_id, f"session {self.session_id}" if self.session_id else ""]
        parts += [f"under {self.entity_path}" if self.entity_path else ""]
        return f"{', '.join(part for part in parts if part)} since {self.since:%-d %B %Y %H:%M} UTC"

    def theirs(self, claim: str) -> str:
        """Return the condition that a claim is one of theirs."""
        conditions = [f"{claim}.written_at >= %(since)s"]
        conditions += [f"{claim}.agent_id = %(suspect)s"] if self.agent_id else []
        conditions += [f"{claim}.session_id = %(session)s"] if self.session_id else []
        return " AND ".join(conditions)

    def values(self, viewer: Viewer) -> dict[str, Any]:
        path = self.entity_path.rstrip("/")
        return {
            **viewer.parameters,
            "since": self.since,
            "suspect": self.agent_id,
            "session": self.session_id,
            "path": path,
            "below": f"{path}/",
            "beyond": f"{path}0",
        }

    def found(self, viewer: Viewer) -> str:
        """Return the statement over the entries they wrote; `is_theirs` says whose its present claim is."""
        place = "(e.entity_path = %(path)s OR (e.entity_path >= %(below)s AND e.entity_path < %(beyond)s))"
        return f"""
            SELECT e.id, e.branch, e.entity_path, e.key, e.owner, e.version, e.status, e.agent_id AS now_by,
                   w.writes, w.first_at, w.last_at, {self.theirs("n")} AS is_theirs,
                   (SELECT max(b.number) FROM memories_entryversion b
                      JOIN memories_claim c ON c.account_id = b.account_id AND c.id = b.claim_id
                     WHERE b.account_id = e.account_id AND b.entry_id = e.id AND NOT ({self.theirs("c")})) AS before
              FROM (
                  SELECT v.entry_id, count(*) AS writes, min(v.at) AS first_at, max(v.at) AS last_at
                    FROM memories_changeset s
                    JOIN memories_entryversion v ON v.account_id = s.account_id AND v.change_set_id = s.id
                                                AND v.change IN ('created', 'written')
                    JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
                   WHERE s.account_id = %(account)s AND s.at >= %(since)s AND {self.theirs("c")}
                   GROUP BY v.entry_id
              ) w
              JOIN memories_entry e ON {viewer.visible()} AND e.id = w.entry_id
              JOIN memories_claim n ON n.account_id = e.account_id AND n.id = e.claim_id
             WHERE {place if self.entity_path else "TRUE"}
        """


@dataclass(frozen=True, slots=True)
class Written:
    """An entry they wrote: how often and when, and the version before (None: there was none, they created it).

    `is_theirs` is false when somebody else (`now_by`) has written since: then it is left alone.
    """

    entry_id: int
    branch: str
    entity_path: str
    key: str
    owner: str
    version: int
    status: str
    now_by: str
    writes: int
    first_at: datetime
    last_at: datetime
    is_theirs: bool
    before: int | None

    @property
    def is_created(self) -> bool:
        return self.before is None

    @property
    def is_open(self) -> bool:
        """Tell whether there is something to take back."""
        return self.is_theirs and not (self.is_created and self.status == "archived")

    @property
    def item(self) -> Item:
        return Item(self.entry_id, self.version, self.before)


NAMES = "q.id, q.branch, q.entity_path, q.key, q.owner, q.version, q.status, q.now_by, q.writes, q.first_at, q.last_at"
COLUMNS = f"{NAMES}, q.is_theirs, q.before"
OPEN = "q.is_theirs AND NOT (q.before IS NULL AND q.status = 'archived')"


@dataclass(frozen=True, slots=True)
class Page:
    """Some of what they wrote, newest first, and the cursor that goes on after it ('' on the last page)."""

    rows: list[Written]
    next: str


@dataclass(frozen=True, slots=True)
class Counts:
    """What there is to take back: entries to archive, entries to put back, and those that are left alone."""

    created: int
    rewritten: int
    left: int

    @property
    def total(self) -> int:
        return self.created + self.rewritten


def counts(asked: Suspect, viewer: Viewer) -> Counts:
    sql = f"""
        SELECT count(*) FILTER (WHERE {OPEN} AND q.before IS NULL),
               count(*) FILTER (WHERE {OPEN} AND q.before IS NOT NULL), count(*) FILTER (WHERE NOT ({OPEN}))
          FROM ({asked.found(viewer)}) q
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, asked.values(viewer))
        return Counts(*cursor.fetchone())


def page(asked: Suspect, viewer: Viewer, *, cursor: str = "", limit: int = PAGE) -> Page:
    """Return a page of what they wrote.

    :raises BadCursor: the cursor cannot be read.
    """
    values = asked.values(viewer) | {"limit": limit + 1}
    after = ""
    if cursor:
        at, entry_id = cursors.read(cursor, datetime.fromisoformat, int)
        after = "WHERE (q.last_at, q.id) < (%(at)s, %(after)s)"
        values |= {"at": at, "after": entry_id}
    found = _rows(f"{after} ORDER BY q.last_at DESC, q.id DESC LIMIT %(limit)s", asked, viewer, values)
    shown = found[:limit]
    more = len(found) > limit
    return Page(shown, cursors.make(shown[-1].last_at.isoformat(), shown[-1].entry_id) if more else "")


def items(asked: Suspect, viewer: Viewer) -> list[Item]:
    """Return every entry there is something to take back of, with the version to go back to."""
    return [row.item for row in _rows(f"WHERE {OPEN}", asked, viewer, asked.values(viewer))]


def _rows(rest: str, asked: Suspect, viewer: Viewer, values: dict[str, Any]) -> list[Written]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {COLUMNS} FROM ({asked.found(viewer)}) q {rest}", values)
        return [Written(*row) for row in cursor.fetchall()]


VALUES = """
    SELECT g.entry_id, c.value, p.value
      FROM unnest(%(entries)s::bigint[], %(versions)s::int[], %(befores)s::int[]) AS g(entry_id, version, before)
      JOIN memories_entry e ON {visible} AND e.id = g.entry_id
      JOIN memories_entryversion v ON v.account_id = e.account_id AND v.entry_id = e.id AND v.number = g.version
      JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
      LEFT JOIN memories_entryversion b ON b.account_id = e.account_id AND b.entry_id = e.id AND b.number = g.before
      LEFT JOIN memories_claim p ON p.account_id = b.account_id AND p.id = b.claim_id
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """What they made of an entry: the value now, the one before (None: there was none), and what differs."""

    now: str
    before: str | None
    changes: list[Change]


def differences(viewer: Viewer, written: Sequence[Written]) -> dict[int, Difference]:
    """Return what they made of some entries, by entry id; one statement."""
    values: dict[str, Any] = {
        **viewer.parameters,
        "entries": [row.entry_id for row in written],
        "versions": [row.version for row in written],
        "befores": [row.before for row in written],
    }
    with connection.cursor() as cursor:
        cursor.execute(VALUES.format(visible=viewer.visible()), values)
        found = cursor.fetchall()
    return {
        entry_id: Difference(now, before, diff.diff(before, now) if before is not None else [])
        for entry_id, now, before in found
    }

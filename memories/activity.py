"""What has been going on lately: how many writes, and by which agents; down the index of change sets by time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from memories.viewers import Viewer

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
WRITES = """
    SELECT floor(extract(epoch FROM %(now)s::timestamptz - s.at) / 86400)::int, count(*)
      FROM memories_changeset s
     WHERE s.account_id = %(account)s AND s.kind = 'write' AND s.at > %(since)s AND s.at <= %(now)s AND {seen}
     GROUP BY 1
"""
AGENTS = """
    SELECT s.actor, count(*) FILTER (WHERE s.kind = 'write'), max(s.at)
      FROM memories_changeset s
     WHERE s.account_id = %(account)s AND s.actor_kind = 'agent' AND s.at > %(since)s AND {seen}
     GROUP BY s.actor ORDER BY 2 DESC, s.actor LIMIT %(limit)s
"""
# What wrote nothing that the viewer may see did not happen for them.
SEEN = """EXISTS (
        SELECT 1 FROM memories_entryversion v JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
         WHERE v.account_id = %(account)s AND v.change_set_id = s.id AND {visible})"""


def seen(viewer: Viewer) -> str:
    return "TRUE" if viewer.sees_all else SEEN.format(visible=viewer.visible())


@dataclass(frozen=True, slots=True)
class Writer:
    """An agent of the last days: how often it wrote, and when it last did anything."""

    agent_id: str
    writes: int
    last_at: datetime


def writes_by_day(viewer: Viewer, now: datetime, days: int) -> list[int]:
    """Return how many writes there were in each of the last spans of 24 hours, the last one last."""
    with connection.cursor() as cursor:
        sql, span = WRITES.format(seen=seen(viewer)), {"now": now, "since": now - days * DAY}
        cursor.execute(sql, viewer.parameters | span)
        found: dict[int, int] = dict(cursor.fetchall())
    return [found.get(ago, 0) for ago in reversed(range(days))]


def agents(viewer: Viewer, now: datetime, limit: int) -> list[Writer]:
    """Return the agents that did something within the last week, those that wrote most first."""
    with connection.cursor() as cursor:
        sql, span = AGENTS.format(seen=seen(viewer)), {"since": now - WEEK, "limit": limit}
        cursor.execute(sql, viewer.parameters | span)
        return [Writer(*row) for row in cursor.fetchall()]

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
     WHERE s.account_id = %(account)s AND s.kind = 'write' AND s.at > %(since)s AND s.at <= %(now)s
     GROUP BY 1
"""
AGENTS = """
    SELECT s.actor, count(*) FILTER (WHERE s.kind = 'write'), max(s.at)
      FROM memories_changeset s
     WHERE s.account_id = %(account)s AND s.actor_kind = 'agent' AND s.at > %(since)s
     GROUP BY s.actor ORDER BY 2 DESC, s.actor LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Writer:
    """An agent of the last days: how often it wrote, and when it last did anything."""

    agent_id: str
    writes: int
    last_at: datetime


def writes_by_day(viewer: Viewer, now: datetime, days: int) -> list[int]:
    """Return how many writes there were in each of the last spans of 24 hours, the last one last."""
    with connection.cursor() as cursor:
        cursor.execute(WRITES, {"account": viewer.account_id, "now": now, "since": now - days * DAY})
        found: dict[int, int] = dict(cursor.fetchall())
    return [found.get(ago, 0) for ago in reversed(range(days))]


def agents(viewer: Viewer, now: datetime, limit: int) -> list[Writer]:
    """Return the agents that did something within the last week, those that wrote most first."""
    with connection.cursor() as cursor:
        cursor.execute(AGENTS, {"account": viewer.account_id, "since": now - WEEK, "limit": limit})
        return [Writer(*row) for row in cursor.fetchall()]

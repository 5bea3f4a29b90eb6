"""All agents of an account with their figures: a fixed number of statements, sums and bounded windows, however many."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import connection

from memories import figures
from memories.entry import history
from memories.figures import Totals
from memories.viewers import Viewer
from outcomes import reads
from outcomes.reads import Ended
from senselab.accounts.models import Agent

WINDOW = timedelta(days=30)
# Who did nothing for so long has fallen silent.
SILENT = timedelta(days=7)
# The page shows so many, those active last first.
MOST = 1_000

ROWS = """
    SELECT g.agent_id, g.display_name, g.created_at, g.last_active_at, g.profile::text, g.capabilities::text,
           g.contracts::text
      FROM accounts_agent g WHERE g.account_id = %(account)s ORDER BY g.last_active_at DESC, g.agent_id LIMIT %(limit)s
"""
PATHS = """
    SELECT s.agent_id, count(*) FROM (
        SELECT s.agent_id, s.entity_path FROM {source} WHERE {where}
         GROUP BY s.agent_id, s.entity_path HAVING sum(s.entries) > 0) s
     GROUP BY s.agent_id
"""
WRITES = """
    SELECT s.actor, count(*) FROM memories_changeset s
     WHERE s.account_id = %(account)s AND s.actor_kind = 'agent' AND s.kind IN ('write', 'commit') AND s.at >= %(since)s
     GROUP BY s.actor
"""
READINGS = """
    SELECT r.agent_id, sum(r.count)::bigint, max(r.last_at)
      FROM memories_reading r
     WHERE r.account_id = %(account)s AND r.month = ANY(%(months)s) AND r.last_at >= %(since)s GROUP BY r.agent_id
"""


@dataclass(frozen=True, slots=True)
class Member:
    """An agent and its figures: all its entries, and of the last 30 days writes, reads and how its tasks ended."""

    agent_id: str
    created_at: datetime | None = None
    last_at: datetime | None = None
    display_name: str = ""
    profile: Mapping[str, Any] = field(default_factory=dict)
    entries: Totals = field(default_factory=Totals)
    paths: int = 0
    writes: int = 0
    reads: int = 0
    ended: Ended | None = None

    @property
    def discredited(self) -> float | None:
        """Return the share of its entries that are discredited now, None when it has none."""
        return self.entries.discredited / self.entries.entries if self.entries.entries else None

    def silent_for(self, now: datetime) -> int | None:
        """Return the whole days it has been silent, None when it has not fallen silent."""
        if self.last_at is None or now - self.last_at < SILENT:
            return None
        return (now - self.last_at).days


def members(viewer: Viewer, now: datetime, *, limit: int = MOST) -> list[Member]:
    """Return the agents that were active last, each with its figures; six statements."""
    since = now - WINDOW
    rows = {row[0]: row for row in _rows(ROWS, viewer, limit=limit)}
    reading = {agent: (count, last) for agent, count, last in _readings(viewer, since, now) if agent}
    # Acts know nothing of privacy, so they are counted for people alone.
    writes = dict(_rows(WRITES, viewer, since=since)) if viewer.sees_all else {}
    paths: dict[str, int] = dict(
        figures.run(PATHS.format(source=figures.SOURCE, where=figures.where(viewer)), viewer, "main")
    )
    entries, ended = figures.by_agent(viewer), reads.by_agent(viewer, since)
    made = []
    for agent_id in {*rows, *reading, *ended}:
        _, name, created, active, profile, *_ = rows.get(agent_id, (agent_id, "", None, None, "{}"))
        count, read_at = reading.get(agent_id, (0, None))
        made.append(
            Member(
                agent_id=agent_id,
                created_at=created,
                last_at=max((at for at in (active, read_at) if at), default=None),
                display_name=name,
                profile=_profile(profile),
                entries=entries.get(agent_id, Totals()),
                paths=paths.get(agent_id, 0),
                writes=writes.get(agent_id, 0),
                reads=count,
                ended=ended.get(agent_id),
            )
        )
    return sorted(made, key=_latest, reverse=True)[:limit]


def _latest(member: Member) -> tuple[float, int, str]:
    return (member.last_at.timestamp() if member.last_at else 0.0, member.entries.entries, member.agent_id)


def _profile(text: str) -> Mapping[str, Any]:
    found = msgspec.json.decode(text)
    return found if isinstance(found, dict) else {}


def _rows(sql: str, viewer: Viewer, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {**viewer.parameters, **values})
        return cursor.fetchall()


def _readings(viewer: Viewer, since: datetime, now: datetime) -> list[tuple[Any, ...]]:
    """Return how often each agent read what the viewer may see."""
    if viewer.sees_all:
        return _rows(READINGS, viewer, since=since, months=history.months(since, now))
    entries = "JOIN memories_entry e ON e.account_id = r.account_id AND e.id = r.entry_id"
    seen = READINGS.replace("WHERE r.account_id", f"{entries} WHERE {viewer.visible()} AND r.account_id")
    return _rows(seen, viewer, since=since, months=history.months(since, now))


def described(viewer: Viewer, limit: int) -> list[Agent]:
    """Return the agents that were active last, with what they say of themselves."""
    found = Agent.objects.filter(account_id=viewer.account_id).order_by("-last_active_at", "agent_id")
    return list(found[:limit])


def known(viewer: Viewer, agent_id: str) -> Agent | None:
    return Agent.objects.filter(account_id=viewer.account_id, agent_id=agent_id).first()

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
      FROM accounts_agent g WHERE g.account_id = %(account)s {of}
     ORDER BY g.last_active_at DESC, g.agent_id LIMIT %(limit)s
"""
PATHS = """
    SELECT s.agent_id, count(*) FROM (
        SELECT s.agent_id, s.entity_path FROM {source} WHERE {where} {of}
         GROUP BY s.agent_id, s.entity_path HAVING sum(s.entries) > 0) s
     GROUP BY s.agent_id
"""
WRITES = """
    SELECT s.actor, count(*) FROM memories_changeset s
     WHERE s.account_id = %(account)s AND s.actor_kind = 'agent' AND s.kind = 'write' AND s.at >= %(since)s {of}
     GROUP BY s.actor
"""
READINGS = """
    SELECT r.agent_id, sum(r.count)::bigint, max(r.last_at)
      FROM memories_reading r
     WHERE r.account_id = %(account)s AND r.month = ANY(%(months)s) AND r.last_at >= %(since)s {of}
     GROUP BY r.agent_id
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
    return sorted(_members(viewer, now, limit=limit), key=_latest, reverse=True)[:limit]


def member(viewer: Viewer, agent_id: str, now: datetime) -> Member | None:
    """Return one agent with its figures, None when nothing is known of it; the same statements, of its rows alone."""
    return next(iter(_members(viewer, now, limit=1, agent_id=agent_id)), None)


def _members(viewer: Viewer, now: datetime, *, limit: int, agent_id: str = "") -> list[Member]:
    since = now - WINDOW
    rows = {row[0]: row for row in _rows(_of(ROWS, "g.agent_id", agent_id), viewer, limit=limit, of=agent_id)}
    reading = {agent: (count, last) for agent, count, last in _readings(viewer, since, now, agent_id) if agent}
    # Acts know nothing of privacy, so they are counted for people alone.
    acts = _of(WRITES, "s.actor", agent_id)
    writes = dict(_rows(acts, viewer, since=since, of=agent_id)) if viewer.sees_all else {}
    touched = _of(PATHS.replace("{source}", figures.SOURCE), "s.agent_id", agent_id, where=figures.where(viewer))
    paths: dict[str, int] = dict(figures.run(touched, viewer, "main", of=agent_id))
    entries = figures.by_agent(viewer, agent_id=agent_id)
    ended = reads.by_agent(viewer, since, agent_id=agent_id)
    made = []
    for found in {*rows, *reading, *ended}:
        _, name, created, active, profile, *_ = rows.get(found, (found, "", None, None, "{}"))
        count, read_at = reading.get(found, (0, None))
        made.append(
            Member(
                agent_id=found,
                created_at=created,
                last_at=max((at for at in (active, read_at) if at), default=None),
                display_name=name,
                profile=_profile(profile),
                entries=entries.get(found, Totals()),
                paths=paths.get(found, 0),
                writes=writes.get(found, 0),
                reads=count,
                ended=ended.get(found),
            )
        )
    return made


def _of(sql: str, column: str, agent_id: str, **parts: str) -> str:
    """Return a statement about one agent, or about all."""
    return sql.format(of=f"AND {column} = %(of)s" if agent_id else "", **parts)


def _latest(member: Member) -> tuple[float, int, str]:
    return (member.last_at.timestamp() if member.last_at else 0.0, member.entries.entries, member.agent_id)


def _profile(text: str) -> Mapping[str, Any]:
    found = msgspec.json.decode(text)
    return found if isinstance(found, dict) else {}


def _rows(sql: str, viewer: Viewer, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {**viewer.parameters, **values})
        return cursor.fetchall()


def _readings(viewer: Viewer, since: datetime, now: datetime, agent_id: str) -> list[tuple[Any, ...]]:
    """Return how often each agent, or one, read what the viewer may see."""
    values = {"since": since, "months": history.months(since, now), "of": agent_id}
    sql = _of(READINGS, "r.agent_id", agent_id)
    if viewer.sees_all:
        return _rows(sql, viewer, **values)
    entries = "JOIN memories_entry e ON e.account_id = r.account_id AND e.id = r.entry_id"
    seen = sql.replace("WHERE r.account_id", f"{entries} WHERE {viewer.visible()} AND r.account_id")
    return _rows(seen, viewer, **values)


def described(viewer: Viewer, limit: int) -> list[Agent]:
    """Return the agents that were active last, with what they say of themselves."""
    found = Agent.objects.filter(account_id=viewer.account_id).order_by("-last_active_at", "agent_id")
    return list(found[:limit])


def known(viewer: Viewer, agent_id: str) -> Agent | None:
    return Agent.objects.filter(account_id=viewer.account_id, agent_id=agent_id).first()

"""Figures of an account, from sums that are exact at once and never lock; only what the viewer may see."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from memories.viewers import Viewer

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over some entries; beside `superseded` and `archived` they count active ones and those under review."""

    entries: int = 0
    under_review: int = 0
    superseded: int = 0
    archived: int = 0
    untested: int = 0
    validated: int = 0
    contested: int = 0
    discredited: int = 0
    hot: int = 0
    warm: int = 0
    cold: int = 0
    facts: int = 0
    beliefs: int = 0
    experiences: int = 0
    procedures: int = 0
    outcome_linked: int = 0
    confidence_nanos: int = 0
    recalls: int = 0
    tokens_saved: int = 0

    @property
    def confidence_avg(self) -> float:
        """Return the mean stored confidence, 0 of nothing."""
        return self.confidence_nanos / 1e9 / self.entries if self.entries else 0.0

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(*(getattr(self, name) + getattr(other, name) for name in NAMES))


NAMES = tuple(field.name for field in fields(Totals))
SUMS = ", ".join(f"sum(s.{name})::bigint" for name in NAMES)
# Folded sums and what nobody folded yet, as one.
SOURCE = f"""
    (SELECT account_id, branch, entity_path, agent_id, owner, {", ".join(NAMES)} FROM memories_counter
      UNION ALL
     SELECT account_id, branch, entity_path, agent_id, owner, {", ".join(NAMES)} FROM memories_counterdelta) s
"""


def where(viewer: Viewer) -> str:
    return f"{viewer.visible('s')} AND s.branch = %(branch)s"


def run(sql: str, viewer: Viewer, branch: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {**viewer.parameters, "branch": branch, **values})
        return cursor.fetchall()


def totals(viewer: Viewer, branch: str = "main") -> Totals:
    (row,) = run(f"SELECT {SUMS} FROM {SOURCE} WHERE {where(viewer)}", viewer, branch)
    return Totals(*(value or 0 for value in row))


def by_path(viewer: Viewer, branch: str = "main") -> dict[str, Totals]:
    """Return the sums of each entity path that has anything, in the order of paths."""
    sql = f"""SELECT s.entity_path, {SUMS} FROM {SOURCE} WHERE {where(viewer)}
              GROUP BY s.entity_path HAVING sum(s.entries) > 0 OR sum(s.archived) > 0 OR sum(s.superseded) > 0
              ORDER BY s.entity_path"""
    return {path: Totals(*sums) for path, *sums in run(sql, viewer, branch)}


def by_agent(viewer: Viewer, branch: str = "main", *, agent_id: str = "") -> dict[str, Totals]:
    """Return the sums of each author that has anything, or of one."""
    of = "AND s.agent_id = %(of)s" if agent_id else ""
    sql = f"""SELECT s.agent_id, {SUMS} FROM {SOURCE} WHERE {where(viewer)} {of}
              GROUP BY s.agent_id HAVING sum(s.entries) > 0 ORDER BY sum(s.entries) DESC, s.agent_id"""
    return {agent: Totals(*sums) for agent, *sums in run(sql, viewer, branch, of=agent_id)}


def entries_by_path(viewer: Viewer, branch: str = "main") -> dict[str, int]:
    """Return how many entries each path has that has any, in the order of paths."""
    sql = f"""SELECT s.entity_path, sum(s.entries)::bigint FROM {SOURCE} WHERE {where(viewer)}
              GROUP BY s.entity_path HAVING sum(s.entries) > 0 ORDER BY s.entity_path"""
    return dict(run(sql, viewer, branch))


@dataclass(frozen=True, slots=True)
class Extremes:
    """What no sum can say: the ends of confidence, and how much is new."""

    confidence_min: float
    confidence_max: float
    this_week: int
    last_week: int


SHOWN = "FROM memories_entry e WHERE {visible} AND e.branch = %(branch)s AND e.status IN ('active', 'under_review')"


def extremes(viewer: Viewer, now: datetime, branch: str = "main") -> Extremes:
    """Return the ends of stored confidence, and how many entries were written in each of the last two weeks."""
    sql = f"""
        SELECT min(e.confidence), max(e.confidence), count(*) FILTER (WHERE e.written_at >= %(week)s),
               count(*) FILTER (WHERE e.written_at >= %(before)s AND e.written_at < %(week)s)
          {SHOWN.format(visible=viewer.visible())}
    """
    (row,) = run(sql, viewer, branch, week=now - WEEK, before=now - 2 * WEEK)
    return Extremes(row[0] or 0.0, row[1] or 0.0, row[2], row[3])


def ages(viewer: Viewer, branch: str = "main") -> tuple[datetime | None, datetime | None]:
    """Return when the oldest and the newest entry were written, each down an index."""
    base = SHOWN.format(visible=viewer.visible())
    ((oldest, newest),) = run(
        f"SELECT (SELECT min(e.written_at) {base}), (SELECT max(e.written_at) {base})", viewer, branch
    )
    return oldest, newest


def fold(account_id: int) -> int:
    """Fold the deltas of an account into its sums and return how many there were."""
    keys = "account_id, branch, entity_path, agent_id, owner"
    sums = ", ".join(f"sum({name})::bigint" for name in NAMES)
    added = ", ".join(f"{name} = c.{name} + excluded.{name}" for name in NAMES)
    sql = f"""
        WITH taken AS (DELETE FROM memories_counterdelta WHERE account_id = %s RETURNING *),
        folded AS (
            INSERT INTO memories_counter AS c ({keys}, {", ".join(NAMES)})
            SELECT {keys}, {sums} FROM taken GROUP BY {keys} ORDER BY {keys}
            ON CONFLICT ({keys}) DO UPDATE SET {added}
        )
        SELECT count(*) FROM taken
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, [account_id])
        return int(cursor.fetchone()[0])


ENTITIES = """
    SELECT e.entity_path, max(e.written_at),
           (array_agg(e.agent_id ORDER BY e.written_at DESC, e.id DESC))[1],
           array_agg(DISTINCT e.agent_id)
      FROM memories_entry e
     WHERE {visible} AND e.branch = %(branch)s AND e.status IN ('active', 'under_review')
     GROUP BY e.entity_path ORDER BY e.entity_path
"""


def entities(viewer: Viewer, branch: str = "main") -> list[dict[str, Any]]:
    """Return entities as contract.md 2.10 describes them."""
    sums = by_path(viewer, branch)
    rows = run(ENTITIES.format(visible=viewer.visible()), viewer, branch)
    return [
        {
            "entity_path": path,
            "entry_count": sums[path].entries,
            "avg_confidence": sums[path].confidence_avg,
            "last_updated": updated,
            "last_agent": agent,
            "agents": agents,
            "hashed_count": sums[path].entries,
            "total_recalls": sums[path].recalls,
            "recalled_tokens_saved": sums[path].tokens_saved,
        }
        for path, updated, agent, agents in rows
        if path in sums
    ]

"""One agent: how its word holds, whom it relies on, what it knows; each from a bounded number of its latest rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from memories import figures
from memories.entry import history
from memories.viewers import Viewer
from outcomes.agents import roster
from outcomes.tracing import listing

# Its latest entries and traces that are looked at; a page that looks at all of a million would be late.
ENTRIES, TRACES, PAIRS = 2_000, 1_000, 12
BUCKETS = 5

WORD = """
    SELECT least(%(buckets)s - 1, floor(w.stated * %(buckets)s))::int, count(*), avg(w.stated), sum(w.good), sum(w.bad)
      FROM (SELECT coalesce(e.prior_confidence, e.confidence) AS stated, e.success_count AS good, e.failure_count AS bad
              FROM memories_entry e
             WHERE {visible} AND e.branch = 'main' AND e.agent_id = %(of)s
             ORDER BY e.written_at DESC LIMIT %(limit)s) w
     WHERE w.good + w.bad > 0 GROUP BY 1 ORDER BY 1
"""
RELIES = """
    SELECT read.author, count(*), count(DISTINCT read.entry_key), max(t.created_at)
      FROM (SELECT t.causal_keys, t.causal_authors, t.created_at FROM outcomes_trace t
             WHERE t.account_id = %(account)s AND t.agent_id = %(of)s
             ORDER BY t.created_at DESC, t.id DESC LIMIT %(limit)s) t,
           unnest(t.causal_keys, t.causal_authors) AS read(entry_key, author)
     WHERE read.author NOT IN ('', %(of)s) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %(pairs)s
"""
PATHS = """
    SELECT s.entity_path, sum(s.entries)::bigint, sum(s.discredited)::bigint, sum(s.confidence_nanos)::bigint
      FROM {source} WHERE {where} AND s.agent_id = %(of)s
     GROUP BY s.entity_path HAVING sum(s.entries) > 0 ORDER BY 2 DESC, 1 LIMIT %(limit)s
"""
READ = """
    SELECT e.agent_id, e.entity_path, e.key, sum(r.count)::bigint
      FROM memories_reading r JOIN memories_entry e ON e.account_id = r.account_id AND e.id = r.entry_id
     WHERE r.account_id = %(account)s AND r.month = ANY(%(months)s) AND r.agent_id = %(of)s AND r.last_at >= %(since)s
       AND e.agent_id <> %(of)s AND {visible}
     GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """How entries held of which an agent was about equally sure: the mean of its word, and how their uses went."""

    stated: float
    entries: int
    good: int
    bad: int

    @property
    def uses(self) -> int:
        return self.good + self.bad

    @property
    def held(self) -> float:
        return self.good / self.uses


@dataclass(frozen=True, slots=True)
class Source:
    """Another agent that one relies on: how often, on how many entries, and when last."""

    agent_id: str
    times: int
    entries: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Place:
    """What an agent knows about one entity."""

    entity_path: str
    entries: int
    discredited: int
    confidence: float


def _rows(sql: str, viewer: Viewer, agent_id: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {**viewer.parameters, "of": agent_id, **values})
        return cursor.fetchall()


def calibration(viewer: Viewer, agent_id: str) -> list[Kept]:
    """Return how an agent's word held, by how sure it was, of its latest entries that were put to use."""
    sql = WORD.format(visible=viewer.visible())
    found = _rows(sql, viewer, agent_id, buckets=BUCKETS, limit=ENTRIES)
    return [Kept(float(stated), entries, int(good), int(bad)) for _, entries, stated, good, bad in found]


def relies_on(viewer: Viewer, agent_id: str) -> list[Source]:
    """Return whom an agent relied on in its latest traces, most first; for people, who see all."""
    return [Source(*row) for row in _rows(RELIES, viewer, agent_id, limit=TRACES, pairs=PAIRS)]


def places(viewer: Viewer, agent_id: str, *, limit: int = PAIRS) -> list[Place]:
    """Return the entities an agent wrote about, those with most entries first."""
    sql = PATHS.format(source=figures.SOURCE, where=figures.where(viewer))
    found = _rows(sql, viewer, agent_id, branch="main", limit=limit)
    return [Place(path, count, bad, nanos / 1e9 / count) for path, count, bad, nanos in found]


def read_of_others(
    viewer: Viewer, agent_id: str, now: datetime, *, limit: int = 1_000
) -> list[tuple[str, str, str, int]]:
    """Return (author, path, key, times) of what an agent read of others in the last 30 days, most read first."""
    since = now - roster.WINDOW
    sql = READ.format(visible=viewer.visible())
    found = _rows(sql, viewer, agent_id, since=since, months=history.months(since, now), limit=limit)
    return [(author, path, key, times) for author, path, key, times in found]


def count_traces(viewer: Viewer, agent_id: str) -> int:
    where = " AND ".join(["t.account_id = %(account)s", "t.agent_id = %(of)s", *listing.within(viewer)])
    return int(_rows(f"SELECT count(*) FROM outcomes_trace t WHERE {where}", viewer, agent_id)[0][0])


def experts(viewer: Viewer, entity_path: str, *, limit: int) -> Sequence[tuple[str, str, int, int, int, float]]:
    """Return (agent, path, entries, validated, discredited, mean confidence), those who know most first."""
    sql = f"""
        SELECT s.agent_id, s.entity_path, sum(s.entries)::bigint, sum(s.validated)::bigint,
               sum(s.discredited)::bigint, sum(s.confidence_nanos)::float8 / 1e9 / sum(s.entries)
          FROM {figures.SOURCE} WHERE {figures.where(viewer)} AND (%(path)s = '' OR s.entity_path = %(path)s)
         GROUP BY s.agent_id, s.entity_path HAVING sum(s.entries) > 0
         ORDER BY 4 DESC, 3 DESC, 1, 2 LIMIT %(limit)s
    """
    return _rows(sql, viewer, "", branch="main", path=entity_path, limit=limit)

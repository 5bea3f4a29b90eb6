"""Figures of an account at once, however many paths it has: folded sums are read once and kept until they are folded
again, and what writes added since then is added on top.

Folded sums change only by a fold (a minute) or an import, which leaves another mark; with the same mark, in the same
snapshot as the deltas, sums and deltas are what a whole count would give.
"""

import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any
from uuid import UUID

import msgspec

from memories import figures
from memories.figures import NAMES, Extremes, Totals
from memories.viewers import Viewer
from senselab import pipeline

# So many viewers' sums are kept in a process; entities are kept encoded up to so many bytes.
KEPT = 64
ENCODED = 4 * 1024 * 1024
# Weeks go on without a write: they are counted anew after so long.
WEEKS = timedelta(seconds=10)
# Recalls are written a moment after they happen; so many seconds later they are summed anew.
SERVED_SECONDS = 1.0
BANDS = ("healthy", "moderate", "low", "critical")
SUMS = ", ".join(f"coalesce(sum(s.{name}), 0)::bigint" for name in NAMES)
MARK = "(SELECT f.mark FROM memories_folding f WHERE f.account_id = %(account)s)"
AGENTS = """(SELECT array_agg(a.agent_id) FROM a), (SELECT array_agg(a.entries) FROM a)"""
BY_AGENT = "SELECT s.agent_id, sum(s.entries)::bigint AS entries FROM s GROUP BY s.agent_id HAVING sum(s.entries) <> 0"
MEAN = "p.nanos / 1e9::float8 / p.entries"
# Bands of contract.md 1.8.
FOLDED = f"""
    WITH s AS MATERIALIZED (SELECT s.* FROM memories_counter s WHERE {{where}}),
    p AS (SELECT sum(s.entries)::bigint AS entries, sum(s.confidence_nanos)::bigint AS nanos
            FROM s GROUP BY s.entity_path HAVING sum(s.entries) > 0),
    a AS ({BY_AGENT})
    SELECT {MARK}, (SELECT ARRAY[{SUMS}] FROM s), {AGENTS}, count(*), coalesce(sum({MEAN}), 0),
           count(*) FILTER (WHERE {MEAN} >= 0.9), count(*) FILTER (WHERE {MEAN} >= 0.7 AND {MEAN} < 0.9),
           count(*) FILTER (WHERE {MEAN} >= 0.4 AND {MEAN} < 0.7), count(*) FILTER (WHERE {MEAN} < 0.4)
      FROM p
"""
# What writes added that is not folded yet, and the folded sums of the paths that it moves.
ADDED = f"""
    WITH s AS MATERIALIZED (SELECT s.* FROM memories_counterdelta s WHERE {{where}} AND s.recalls = 0),
    d AS (SELECT s.entity_path, sum(s.entries)::bigint AS entries, sum(s.confidence_nanos)::bigint AS nanos
            FROM s GROUP BY s.entity_path HAVING sum(s.entries) <> 0 OR sum(s.confidence_nanos) <> 0),
    p AS (SELECT d.entries, d.nanos, h.had, h.nanos_had FROM d, LATERAL (
            SELECT coalesce(sum(c.entries), 0)::bigint AS had, coalesce(sum(c.confidence_nanos), 0)::bigint AS nanos_had
              FROM memories_counter c WHERE c.account_id = %(account)s AND c.branch = %(branch)s
               AND c.entity_path = d.entity_path AND {{seen}}) h),
    a AS ({BY_AGENT})
    SELECT {MARK}, (SELECT ARRAY[{SUMS}] FROM s), {AGENTS},
           (SELECT array_agg(p.entries) FROM p), (SELECT array_agg(p.nanos) FROM p), (SELECT array_agg(p.had) FROM p),
           (SELECT array_agg(p.nanos_had) FROM p),
           (SELECT ARRAY[count(*), coalesce(sum(s.id), 0)] FROM s WHERE s.entries <> 0 OR s.confidence_nanos <> 0)
"""
# What reads added; many times as many rows.
SERVED = f"""
    SELECT {MARK}, coalesce(sum(s.recalls::int), 0), coalesce(sum(s.tokens_saved::int), 0)
      FROM memories_counterdelta s WHERE {{where}} AND s.recalls <> 0
"""


@dataclass(frozen=True, slots=True)
class Health:
    """How entities stand by mean confidence: how many there are, the sum of the means, how many in each band."""

    entities: int
    means: float
    bands: tuple[int, ...]

    def moved(self, before: float | None, after: float | None) -> "Health":
        """Return it with one entity's mean another; None: it has none."""
        bands, entities, means = list(self.bands), self.entities, self.means
        for mean, sign in ((before, -1), (after, 1)):
            if mean is not None:
                bands[band(mean)] += sign
                entities, means = entities + sign, means + sign * mean
        return Health(entities, means, tuple(bands))

    @property
    def told(self) -> dict[str, Any]:
        average = self.means / self.entities if self.entities else 0.0
        return {"avg": average, **dict(zip(BANDS, self.bands, strict=True))}


@dataclass(frozen=True, slots=True)
class Folded:
    """The folded sums of an account as one viewer may see them, and the mark they bear."""

    mark: UUID | None
    total: Totals
    agents: dict[str, int]
    health: Health


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums of an account as one viewer may see them; `stamp` changes when entries or confidence of any path do."""

    total: Totals
    agents: dict[str, int]
    health: Health
    stamp: tuple[Any, ...]


def band(mean: float) -> int:
    return 0 if mean >= 0.9 else 1 if mean >= 0.7 else 2 if mean >= 0.4 else 3


class Shelf:
    """What was worked out for so many viewers last, in this process."""

    def __init__(self, most: int = KEPT) -> None:
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._most, self._lock = most, Lock()

    def get(self, key: Any) -> Any:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Any, found: Any) -> None:
        with self._lock:
            self._kept[key] = found
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)


_folded, _served, _entities, _extremes = Shelf(), Shelf(), Shelf(8), Shelf()


def of(viewer: Viewer, branch: str = "main", *, recalls: bool = True) -> Tally:
    """Return the sums of an account as of now; of recalls those of a second ago, without `recalls` folded ones only."""
    key = _key(viewer, branch)
    values, where = {**viewer.parameters, "branch": branch}, figures.where(viewer)
    added = ADDED.format(where=where, seen=viewer.visible("c"))
    folded: Folded = _folded.get(key) or _read(key, where, values)
    while True:
        ((row,),) = pipeline.read((added, values))
        if folded.mark == row[0]:
            served = _recalls(key, folded.mark, where, values) if recalls else (0, 0)
            if served is not None:
                return _added(folded, row, served)
        # Folded meanwhile, which happens once a minute.
        folded = _read(key, where, values)


def _read(key: Any, where: str, values: dict[str, Any]) -> Folded:
    ((found,),) = pipeline.read((FOLDED.format(where=where), values))
    mark, sums, names, entries, entities, means, *bands = found
    agents = dict(zip(names or (), entries or (), strict=True))
    folded = Folded(mark, Totals(*sums), agents, Health(entities, means, tuple(bands)))
    _folded.put(key, folded)
    return folded


def _recalls(key: Any, mark: UUID | None, where: str, values: dict[str, Any]) -> tuple[int, int] | None:
    """Return recalls and tokens that are not folded yet; None when the sums bear another mark by now."""
    kept = _served.get(key)
    if kept is None or kept[0] != mark or time.monotonic() - kept[1] >= SERVED_SECONDS:
        ((row,),) = pipeline.read((SERVED.format(where=where), values))
        kept = (row[0], time.monotonic(), (row[1], row[2]))
        _served.put(key, kept)
    return kept[2] if kept[0] == mark else None


def _added(folded: Folded, row: tuple[Any, ...], served: tuple[int, int]) -> Tally:
    mark, sums, names, counts, *moved, stamp = row
    agents, health = dict(folded.agents), folded.health
    for name, count in zip(names or (), counts or (), strict=True):
        agents[name] = agents.get(name, 0) + count
    for entries, nanos, had, nanos_had in zip(*(column or () for column in moved), strict=True):
        now = had + entries
        before = nanos_had / 1e9 / had if had > 0 else None
        health = health.moved(before, (nanos_had + nanos) / 1e9 / now if now > 0 else None)
    told = {name: count for name, count in agents.items() if count > 0}
    ordered = dict(sorted(told.items(), key=lambda pair: (-pair[1], pair[0])))
    total = folded.total + Totals(*sums) + Totals(recalls=served[0], tokens_saved=served[1])
    return Tally(total, ordered, health, (mark, *stamp))


def entities(viewer: Viewer, tally: Tally, branch: str = "main") -> msgspec.Raw:
    """Return how many entries each path has as JSON, worked out anew only when that changed."""
    key = _key(viewer, branch)
    kept = _entities.get(key)
    if kept is not None and kept[0] == tally.stamp:
        return msgspec.Raw(kept[1])
    told = msgspec.json.encode(figures.entries_by_path(viewer, branch))
    if len(told) <= ENCODED:
        _entities.put(key, (tally.stamp, told))
    return msgspec.Raw(told)


def extremes(viewer: Viewer, tally: Tally, now: datetime, branch: str = "main") -> Extremes:
    """Return what no sum can say, counted anew after a change; weeks, which go on without one, after ten seconds."""
    key = _key(viewer, branch)
    kept = _extremes.get(key)
    if kept is None or kept[0] != tally.stamp or abs(now - kept[1]) >= WEEKS:
        kept = (tally.stamp, now, figures.extremes(viewer, now, branch))
        _extremes.put(key, kept)
    found: Extremes = kept[2]
    return found


def _key(viewer: Viewer, branch: str) -> Any:
    return viewer.account_id, viewer.agent_id, viewer.sees_all, viewer.reaches, branch

"""How the tiers of a branch stand: now, day by day, what rose and fell, who stands near a border, who is in one."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from memories import rows, tallies
from memories.ageing import silence_sql
from memories.ageing.ranking import HEADS, Branch, fetch
from memories.models import TierDay
from memories.rows import Row
from memories.rules import decay, tiers
from memories.rules.policy import Policy
from memories.rules.tiers import Priority
from memories.search import Search
from memories.viewers import Viewer
from senselab import cursors

DAYS = 90
NEAR = 4
MOVES = 50
PAGE = 50
# Below the border, those with at least this share of the priority on it are near.
NEARLY = 0.8
# A list of tiers shows names, not values.
WITHOUT_VALUES = rows.HEADS.replace("c.value,", "'',")


@dataclass(frozen=True, slots=True)
class Distribution:
    """How many listed entries stand in each tier, and how many the first two may hold."""

    hot: int
    warm: int
    archive: int
    hot_capacity: int
    warm_capacity: int

    @property
    def total(self) -> int:
        return self.hot + self.warm + self.archive


def distribution(viewer: Viewer, branch: str = "main") -> Distribution:
    totals = tallies.of(viewer, branch, recalls=False).total
    policy = viewer.policy
    return Distribution(totals.hot, totals.warm, totals.cold, policy.hot_capacity, policy.warm_capacity)


def mean_priority(viewer: Viewer, now: datetime, branch: str = "main") -> float:
    """Return the mean priority of what is listed, 0 of nothing."""
    sql = f"""SELECT coalesce(avg({silence_sql.priority_of_head(viewer.policy)}), 0) FROM {HEADS}
               WHERE {viewer.visible()} AND e.branch = %(branch)s AND e.status IN ('active', 'under_review')"""
    return float(fetch(sql, {**viewer.parameters, "branch": branch, "now": now})[0][0])


@dataclass(frozen=True, slots=True)
class Day:
    """How the tiers stood at the end of a day; None where nobody counted."""

    day: date
    hot: int | None
    warm: int | None
    archive: int | None


def days(viewer: Viewer, now: datetime, branch: str = "main") -> list[Day]:
    """Return the last 90 days, oldest first; only for whoever sees all, as the counts hold private entries too."""
    today = now.astimezone(UTC).date()
    first = today - timedelta(days=DAYS - 1)
    if not viewer.sees_all:
        return []
    kept = TierDay.objects.filter(account_id=viewer.account_id, branch=branch, day__gte=first)
    found = {one.day: one for one in kept}
    every = (first + timedelta(days=n) for n in range(DAYS))
    return [
        Day(at, found[at].hot, found[at].warm, found[at].cold) if at in found else Day(at, None, None, None)
        for at in every
    ]


@dataclass(frozen=True, slots=True)
class Moved:
    """An entry that rose or fell, when, and the parts of its priority at that moment."""

    entity_path: str
    key: str
    branch: str
    owner: str
    at: datetime
    before: int
    after: int
    place: int | None
    priority: Priority

    @property
    def rose(self) -> bool:
        return self.after < self.before


def moves(viewer: Viewer, now: datetime, branch: str = "main", *, limit: int = MOVES) -> list[Moved]:
    """Return what rose and fell since the day began (UTC), the newest first."""
    start = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    sql = f"""
        SELECT e.entity_path, e.key, e.branch, e.owner, m.at, m.before, m.after, m.place, m.importance, m.recency,
               m.frequency, m.durability, m.priority
          FROM memories_tiermove m JOIN memories_entry e ON e.account_id = m.account_id AND e.id = m.entry_id
         WHERE {viewer.visible()} AND m.account_id = %(account)s AND m.branch = %(branch)s AND m.at >= %(start)s
           AND m.at <= %(now)s
         ORDER BY m.at DESC, m.place, m.id DESC LIMIT %(limit)s
    """
    found = fetch(sql, {**viewer.parameters, "branch": branch, "start": start, "now": now, "limit": limit})
    made: list[Any] = [(*row[:8], Priority(*row[8:])) for row in found]
    return [Moved(*values) for values in made]


def moved_today(viewer: Viewer, now: datetime, branch: str = "main") -> dict[tuple[int, int], int]:
    """Return how many moved from which tier to which since the day began."""
    start = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    sql = f"""
        SELECT m.before, m.after, count(*)
          FROM memories_tiermove m JOIN memories_entry e ON e.account_id = m.account_id AND e.id = m.entry_id
         WHERE {viewer.visible()} AND m.account_id = %(account)s AND m.branch = %(branch)s AND m.at >= %(start)s
           AND m.at <= %(now)s GROUP BY 1, 2 ORDER BY 1, 2
    """
    found = fetch(sql, {**viewer.parameters, "branch": branch, "start": start, "now": now})
    return {(before, after): count for before, after, count in found}


@dataclass(frozen=True, slots=True)
class Ranked:
    """An entry with its priority; `place` is its rank where ranks are asked for."""

    row: Row
    priority: Priority
    effective: float
    place: int | None = None

    def share_of(self, border: float) -> float:
        """Return its priority as a share of that on a border."""
        return self.priority.value / border if border else 0.0


@dataclass(frozen=True, slots=True)
class Border:
    """The last places within a tier and the first beyond it. `priority` is that of the last place within."""

    tier: int
    capacity: int
    within: list[Ranked]
    beyond: list[Ranked]

    @property
    def priority(self) -> float | None:
        return self.within[-1].priority.value if self.within and self.beyond else None


def borders(viewer: Viewer, now: datetime, branch: str = "main") -> list[Border]:
    """Return who stands near the border of hot and of warm, for whoever sees all; private entries take places too."""
    ranks = Branch(viewer.account_id, branch, viewer.policy, now)
    floor = ranks.floor()
    # A few more places than there are ranks; of those beyond, only what comes near is looked for.
    wider = replace(ranks, policy=replace(viewer.policy, warm_capacity=viewer.policy.warm_capacity + NEAR + 1))
    sql, values = wider.first(None if floor is None else floor * NEARLY)
    edges = (viewer.policy.hot_capacity, ranks.ranks)
    wanted = [place for edge in edges for place in range(edge - NEAR, edge + NEAR + 2)]
    near = fetch(f"SELECT k.id, k.place FROM ({sql}) k WHERE k.place = ANY(%(places)s)", {**values, "places": wanted})
    places = dict(near)
    found = sorted(ranked(viewer, now, list(places), places), key=lambda one: one.place or 0)
    return [
        Border(
            tier,
            edge,
            [one for one in found if edge - NEAR <= (one.place or 0) <= edge],
            [one for one in found if edge < (one.place or 0) <= edge + NEAR + 1],
        )
        for tier, edge in zip((1, 2), edges, strict=True)
    ]


def ranked(viewer: Viewer, now: datetime, ids: list[int], places: dict[int, int]) -> list[Ranked]:
    sql = f"{WITHOUT_VALUES} WHERE {viewer.visible()} AND e.id = ANY(%(ids)s)"
    found = rows.select(sql, {**viewer.parameters, "ids": ids})
    return [judged(row, now, viewer.policy, places.get(row.entry_id)) for row in found]


def judged(row: Row, now: datetime, policy: Policy, place: int | None = None) -> Ranked:
    """Return a row with its priority at a moment."""
    effective = decay.effective(row.state.confidence, row.freshness(now, policy))
    parts = tiers.priority(
        importance=row.importance_score,
        effective=effective,
        written_at=row.written_at,
        now=now,
        recall_count=row.recall_count,
        policy=policy,
    )
    return Ranked(row, parts, effective, place)


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries of a tier, the first priority first, and the cursor after them ('' on the last page)."""

    entries: list[Ranked]
    next: str


def entries(asked: Search, viewer: Viewer, now: datetime, *, cursor: str = "", limit: int | None = None) -> Page:
    """Return a page of a search by priority; a page that goes on counts as of the moment of the first.

    :raises BadCursor: the cursor cannot be read.
    """
    at, after, limit = now, "", limit or PAGE
    values: dict[str, Any] = {}
    if cursor:
        at, priority, entry_id = cursors.read(cursor, datetime.fromisoformat, float, int)
        after = "AND (s.priority < %(priority)s OR (s.priority = %(priority)s AND s.id > %(id)s))"
        values = {"priority": priority, "id": entry_id}
    made = asked.conditions(viewer, at)
    value = silence_sql.priority_of_head(viewer.policy)
    sql = f"""
        SELECT s.id, s.priority FROM (
            SELECT e.id, {value} AS priority FROM memories_entry e
              JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
              LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id {made.where}) s
         WHERE TRUE {after} ORDER BY s.priority DESC, s.id LIMIT %(limit)s
    """
    found = fetch(sql, {**made.values, **values, "limit": limit + 1})
    order = {entry_id: place for place, (entry_id, _) in enumerate(found[:limit])}
    shown = sorted(ranked(viewer, at, list(order), {}), key=lambda one: order[one.row.entry_id])
    more = len(found) > limit
    last = found[limit - 1] if more else None
    return Page(shown, cursors.make(at.isoformat(), last[1], last[0]) if last else "")

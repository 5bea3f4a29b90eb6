"""What happens to entries if nothing happens: of one when, of an account how many and which (RULES.md 4 and 5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memories.ageing import silence_sql
from memories.ageing.ranking import HEADS, Branch, fetch
from memories.entry import why
from memories.rows import Row
from memories.rules.forecast import Point
from memories.rules.kinds import Status
from memories.rules.policy import Policy
from memories.rules.tiers import ARCHIVE, HOT
from memories.viewers import Viewer
from senselab import cursors

DAY = timedelta(days=1)
HORIZONS = (7, 30, 90)
# Nobody plans further ahead than eleven years.
FURTHEST = 4_096
POINTS = 24
PAGE = 50
KINDS = {
    "review": "go under review",
    "archive": "are archived",
    "expire": "expire",
    "fall": "leave their tier",
}


@dataclass(frozen=True, slots=True)
class Ahead:
    """The moments of one entry, None for never, and its curve of effective confidence."""

    leaves_tier_at: datetime | None
    under_review_at: datetime | None
    archived_at: datetime | None
    expires_at: datetime | None
    curve: list[Point]


def of_entry(row: Row, policy: Policy, account_id: int, now: datetime) -> Ahead:
    """Return what happens to the entry of a head's row; a moment that has passed already is told as it is."""
    silence = why.silence_of(row)
    due = silence.forecast(policy)
    ends = [moment for moment in (due.archived_at, row.state.ttl_at) if moment is not None]
    far = max(now + 30 * DAY, min(max(ends, default=now), now + 365 * DAY))
    marks = {
        moment for moment in (due.under_review_at, due.archived_at, row.state.ttl_at) if moment and now < moment <= far
    }
    plain = {now + (far - now) * n / POINTS for n in range(POINTS + 1)}
    curve = [Point(at, silence.effective(at, policy)) for at in sorted(plain | marks)]
    return Ahead(
        leaves_tier_at(row, policy, account_id, now), due.under_review_at, due.archived_at, row.state.ttl_at, curve
    )


def leaves_tier_at(row: Row, policy: Policy, account_id: int, now: datetime) -> datetime | None:
    """Return the moment, to the day, at which an entry is no longer in its tier; None when it stays or is in the last.

    The ranks of each day are those that all entries of the branch have then, as each of them wears down by itself.
    """
    if row.tier == ARCHIVE or row.state.pinned or row.state.status != Status.ACTIVE:
        return None
    last = policy.hot_capacity + (0 if row.tier == HOT else policy.warm_capacity)

    def is_out(day: int) -> bool:
        rank = Branch(account_id, row.branch, policy, now + day * DAY).rank(row.entry_id)
        return rank is None or rank > last

    inside, outside = -1, 0
    while not is_out(outside):
        inside, outside = outside, max(1, 2 * outside)
        if outside > FURTHEST:
            return None
    while outside - inside > 1:
        middle = (inside + outside) // 2
        inside, outside = (inside, middle) if is_out(middle) else (middle, outside)
    return now + outside * DAY


@dataclass(frozen=True, slots=True)
class Horizon:
    """How many entries of a branch meet what within so many days."""

    days: int
    review: int
    archive: int
    expire: int
    fall: int


# Stored moments are right unless an entry was recalled since; then the moment is computed anew.
RECALLED = "(CASE WHEN r.accessed_at > e.accessed_at THEN {exact} ELSE e.due_at END)"
COLUMNS = "e.id, e.entity_path, e.key, e.branch, e.owner, e.status, e.tier, e.memory_type, e.confidence"
# Whatever is over before it is worn is only over; what crosses both lines at once is only archived.
MEETS = {
    "review": "CASE WHEN s.status = 'active' AND s.due IS DISTINCT FROM s.archived"
    " AND (s.ttl_at IS NULL OR s.due < s.ttl_at) THEN s.due END",
    "archive": "CASE WHEN s.ttl_at IS NULL OR s.archived < s.ttl_at THEN s.archived END",
    "expire": "s.ttl_at",
}


def worn(viewer: Viewer) -> str:
    """Return the statement that gives the heads that silence moves within %(end)s, with the moments of that."""
    due = RECALLED.format(exact=silence_sql.due_of_head(viewer.policy))
    # Exact moments are dear: only what will be near the line by the end is asked for one.
    by_then = silence_sql.effective_of_head(viewer.policy, now="%(end)s::timestamptz")
    archived = silence_sql.archived_of_head(viewer.policy)
    return f"""
        SELECT {COLUMNS}, e.ttl_at, {due} AS due,
               CASE WHEN {by_then} < {viewer.policy.archive_below!r} + 1e-6 THEN {archived} END AS archived
          FROM {HEADS} WHERE {live(viewer)} AND e.due_at <= %(end)s OFFSET 0"""


def expiring(viewer: Viewer) -> str:
    """Return the statement that gives the heads whose time to live is over within %(end)s."""
    nothing = "NULL::timestamptz"
    return f"""
        SELECT {COLUMNS}, e.ttl_at, {nothing} AS due, {nothing} AS archived
          FROM memories_entry e WHERE {live(viewer)} AND e.ttl_at <= %(end)s"""


def live(viewer: Viewer) -> str:
    return f"""{viewer.visible()} AND e.branch = %(branch)s AND e.status IN ('active', 'under_review')
        AND (e.ttl_at IS NULL OR e.ttl_at > %(now)s)"""


def horizons(viewer: Viewer, now: datetime, branch: str = "main") -> list[Horizon]:
    """Return how many meet what within 7, 30 and 90 days."""
    values: dict[str, Any] = {**viewer.parameters, "branch": branch, "now": now, "end": now + HORIZONS[-1] * DAY}
    values |= {f"end_{days}": now + days * DAY for days in HORIZONS}

    def counts(source: str, *kinds: str) -> tuple[int, ...]:
        within = [f"count(*) FILTER (WHERE {MEETS[kind]} <= %(end_{days})s)" for kind in kinds for days in HORIZONS]
        return fetch(f"SELECT {', '.join(within)} FROM ({source}) s", values)[0]

    reviews_and_archives, ends = counts(worn(viewer), "review", "archive"), counts(expiring(viewer), "expire")
    reviews, archives = reviews_and_archives[: len(HORIZONS)], reviews_and_archives[len(HORIZONS) :]
    fallen = [falls(viewer, now, days, branch) for days in HORIZONS]
    return [Horizon(*counted) for counted in zip(HORIZONS, reviews, archives, ends, fallen, strict=True)]


def falling(viewer: Viewer, now: datetime, days: int, branch: str) -> tuple[str, dict[str, Any]]:
    """Return the statement that gives (id, tier, tier then) of what falls within so many days."""
    wanted, values = Branch(viewer.account_id, branch, viewer.policy, now + days * DAY).wanted()
    sql = f"""
        SELECT e.id, e.tier, w.tier AS then FROM ({wanted}) w JOIN memories_entry e ON e.id = w.id
         WHERE {viewer.visible()} AND e.tier < w.tier AND NOT e.pinned AND e.status = 'active'
    """
    return sql, {**viewer.parameters, **values}


def falls(viewer: Viewer, now: datetime, days: int, branch: str) -> int:
    sql, values = falling(viewer, now, days, branch)
    return int(fetch(f"SELECT count(*) FROM ({sql}) s", values)[0][0])


@dataclass(frozen=True, slots=True)
class Coming:
    """An entry that something will happen to, and when (of a fall within a horizon: not to the day)."""

    entry_id: int
    entity_path: str
    key: str
    branch: str
    owner: str
    status: str
    tier: int
    memory_type: str
    confidence: float
    at: datetime | None
    then: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries, the soonest first, and the cursor after them ('' on the last page)."""

    entries: list[Coming]
    next: str


def coming(viewer: Viewer, now: datetime, kind: str, days: int, branch: str = "main", *, cursor: str = "") -> Page:
    """Return a page of which entries meet something within so many days.

    :raises BadCursor: the cursor cannot be read.
    """
    if kind == "fall":
        return _falling(viewer, now, days, branch, cursor)
    at, values, after = now, {}, ""
    if cursor:
        moment, entry_id, since = cursors.read(cursor, datetime.fromisoformat, int, datetime.fromisoformat)
        at, after = since, "AND (s.at, s.id) > (%(moment)s, %(id)s)"
        values = {"moment": moment, "id": entry_id}
    source = expiring(viewer) if kind == "expire" else worn(viewer)
    sql = f"""
        SELECT s.* FROM (SELECT s.id, s.entity_path, s.key, s.branch, s.owner, s.status, s.tier, s.memory_type,
                                s.confidence, {MEETS[kind]} AS at FROM ({source}) s) s
         WHERE s.at <= %(end)s {after} ORDER BY s.at, s.id LIMIT %(limit)s
    """
    given = {**viewer.parameters, "branch": branch, "now": at, "end": at + days * DAY, "limit": PAGE + 1}
    found = [Coming(*row) for row in fetch(sql, {**given, **values})]
    return page_of(found, lambda last: (last.at.isoformat() if last.at else "", last.entry_id, at.isoformat()))


def _falling(viewer: Viewer, now: datetime, days: int, branch: str, cursor: str) -> Page:
    at, offset = now, 0
    if cursor:
        offset, at = cursors.read(cursor, int, datetime.fromisoformat)
    sql, values = falling(viewer, at, days, branch)
    rows = fetch(
        f"""SELECT {COLUMNS}, NULL::timestamptz, f.then FROM ({sql}) f JOIN memories_entry e ON e.id = f.id
             WHERE e.account_id = %(account)s ORDER BY e.tier, f.then DESC, e.entity_path, e.key, e.id
             LIMIT %(limit)s OFFSET %(offset)s""",
        {**values, "limit": PAGE + 1, "offset": offset},
    )
    return page_of([Coming(*row) for row in rows], lambda _: (offset + PAGE, at.isoformat()))


def page_of(found: Sequence[Coming], place: Callable[[Coming], tuple[Any, ...]]) -> Page:
    more = len(found) > PAGE
    return Page(list(found[:PAGE]), cursors.make(*place(found[PAGE - 1])) if more else "")

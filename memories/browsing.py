"""A page of the list of entries with what stands around it: paths, the count, which filter a miss could drop."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memories import places, search
from memories.places import Places
from memories.rows import Row
from memories.search import COUNTED, Elsewhere, Search, elsewhere
from memories.search.elsewhere import LITTLE
from memories.viewers import Viewer

EXCERPT = 700


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry in a list; its value is cut, its confidence is the effective one of this moment."""

    row: Row
    effective: float


@dataclass(frozen=True, slots=True)
class Relaxed:
    """How many entries a search that found nothing would have without one of its filters."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Browsed:
    """A page of entries. `total` is None when there are more than anybody counts (search.COUNTED)."""

    entries: list[Listed]
    next: tuple[str, ...]
    total: int | None
    places: Places
    relaxed: list[Relaxed]
    elsewhere: Elsewhere = field(default_factory=Elsewhere)

    @property
    def is_account_empty(self) -> bool:
        return self.places.is_empty


def listed(asked: Search, viewer: Viewer, now: datetime) -> tuple[list[Listed], tuple[str, ...]]:
    """Return a page of a search as a list shows it, and the cursor after it."""
    page = search.page(asked, viewer, now, letters=EXCERPT)
    rows = [Listed(row, row.state.confidence * row.freshness(now, viewer.policy)) for row in page.rows]
    return rows, page.next


def browse(asked: Search, viewer: Viewer, now: datetime, *, without: Mapping[str, Search]) -> Browsed:
    """Return a page of a search; `without` are the same search less one filter each, asked when nothing was found."""
    where = places.of(viewer, asked.branch, asked.entity_path or "")
    entries, following = listed(asked, viewer, now)
    if entries or asked.after:
        total = len(entries) if not (asked.after or following) else _count(asked, viewer, now)
        return Browsed(entries, following, total, where, [], _elsewhere(asked, viewer, now, total))
    less = {} if where.is_empty else without
    relaxed = [Relaxed(*one) for one in zip(less, search.counts(list(less.values()), viewer, now), strict=True)]
    return Browsed([], (), 0, where, relaxed)


def _elsewhere(asked: Search, viewer: Viewer, now: datetime, total: int | None) -> Elsewhere:
    """Return what lies elsewhere of a search with words that found little."""
    is_little = total is not None and total < LITTLE and not asked.after
    return elsewhere.of(asked, viewer, now, found=total or 0) if is_little else Elsewhere()


def _count(asked: Search, viewer: Viewer, now: datetime) -> int | None:
    found = search.count(asked, viewer, now)
    return found if found <= COUNTED else None

"""What a search that found little would find if it asked for less: entries below its threshold, outside its scope."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memories.rows import Row
from memories.search import narrow
from memories.search.described import Search
from memories.search.finding import CLAIMED, RECALLED, SORTED, find, in_parts, rarest, widened
from memories.viewers import Viewer
from senselab import pipeline
from senselab.pipeline import Query

# Fewer hits are little; counted is no further than this.
LITTLE = 3
COUNTED = 100


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """How many more entries have all the words: less sure ones, and those in other entities or deeper tiers.

    Only what the viewer may see is counted, up to COUNTED.
    """

    below_threshold: int = 0
    outside_scope: int = 0

    def __bool__(self) -> bool:
        return bool(self.below_threshold or self.outside_scope)


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of a search, widened where no entry has all the words, and what lies elsewhere where they are few."""

    rows: list[Row]
    elsewhere: Elsewhere


def look(search: Search, viewer: Viewer, now: datetime) -> Found:
    """Return what a search finds, and where more is if that is little."""
    told = _at_once(search, viewer, now) if narrow.fits(search) else None
    if told is not None:
        return told
    exact = find(search, viewer, now)
    beyond = of(search, viewer, now, found=len(exact)) if _is_little(search, exact) else Elsewhere()
    return Found(exact or widened(search, viewer, now), beyond)


def _at_once(search: Search, viewer: Viewer, now: datetime) -> Found | None:
    """Return the same for a search whose hits are few; None where they are not."""
    # One entity has little more often than not, so what lies elsewhere is asked with the same round trip.
    asked = _query(search, viewer, now, is_rare=True) if search.is_in_one_entity and _is_rare(search) else None
    found, *counts = pipeline.read(narrow.query(search, viewer, now), *([asked] if asked else []))
    told = narrow.read(found, search)
    if told is None:
        return None
    rows, whole = told
    exact = rows if whole else []
    beyond = Elsewhere()
    if _is_little(search, exact):
        beyond = _told(search, counts[0][0], len(exact)) if counts else of(search, viewer, now, found=len(exact))
    if not rows and not search.is_in_one_entity:
        rows = in_parts(search, viewer, now)
    return Found(rows, beyond)


def _is_little(search: Search, exact: list[Row]) -> bool:
    return len(exact) < min(search.limit, LITTLE) and not search.offset


def _is_rare(search: Search) -> bool:
    """Tell whether an index of words is always the way to what has all of them: not when each is everywhere."""
    return rarest(search) <= SORTED


def of(search: Search, viewer: Viewer, now: datetime, *, found: int) -> Elsewhere:
    """Return what lies elsewhere of a search of which `found` rows, fewer than LITTLE, are all it has."""
    is_rare = _is_rare(search)
    query = _query(search, viewer, now, is_rare=is_rare)
    if query is None:
        return Elsewhere()
    with pipeline.planned_anew(not is_rare):
        ((row,),) = pipeline.read(query)
    return _told(search, row, found)


def _told(search: Search, row: tuple[Any, ...], found: int) -> Elsewhere:
    counts = zip(_wider(search), row, strict=True)
    return Elsewhere(**{name: min(COUNTED, max(0, n - found)) for name, n in counts})


def _wider(search: Search) -> dict[str, Search]:
    """Return the searches that ask for less."""
    wider = {
        "below_threshold": replace(search, min_confidence=None),
        "outside_scope": replace(search, entity_path=None, descendants=False, tiers=()),
    }
    return {name: less for name, less in wider.items() if less != search}


def _query(search: Search, viewer: Viewer, now: datetime, *, is_rare: bool) -> Query | None:
    """Return the statement that counts what searches that ask for less have, a little further than is told."""
    asked = _wider(search) if search.asked.terms else {}
    if not asked:
        return None
    counts: list[str] = []
    values: dict[str, Any] = {}
    for less in asked.values():
        made = replace(less, plan_kept=is_rare).conditions(viewer, now)
        source = f"memories_entry e {CLAIMED if less.needs_claim else ''} {RECALLED} {made.where}"
        counts.append(f"(SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT {LITTLE + COUNTED}) s)")
        values |= made.values
    return f"SELECT {', '.join(counts)}", values

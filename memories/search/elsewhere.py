"""What a search that found little would find if it asked for less: entries below its threshold, outside its scope."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection

from memories.rows import Row
from memories.search.described import Search
from memories.search.finding import CLAIMED, RECALLED, find, widened
from memories.viewers import Viewer
from senselab import pipeline

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
    exact = find(search, viewer, now)
    is_little = len(exact) < min(search.limit, LITTLE) and not search.offset
    beyond = of(search, viewer, now, found=len(exact)) if is_little else Elsewhere()
    return Found(exact or widened(search, viewer, now), beyond)


def of(search: Search, viewer: Viewer, now: datetime, *, found: int) -> Elsewhere:
    """Return what lies elsewhere of a search of which `found` rows are all it has."""
    if not search.asked.terms:
        return Elsewhere()
    wider = {
        "below_threshold": replace(search, min_confidence=None),
        "outside_scope": replace(search, entity_path=None, descendants=False, tiers=()),
    }
    asked = {name: less for name, less in wider.items() if less != search}
    if not asked:
        return Elsewhere()
    counts: dict[str, str] = {}
    values: dict[str, Any] = {}
    for name, less in asked.items():
        made = less.conditions(viewer, now)
        claims = CLAIMED if less.needs_claim else ""
        source = f"memories_entry e {claims} {RECALLED} {made.where}"
        counts[name] = f"(SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT {found + COUNTED}) s)"
        values |= made.values
    with pipeline.planned_anew(), connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(counts.values())}", values)
        return Elsewhere(**{name: max(0, n - found) for name, n in zip(counts, cursor.fetchone(), strict=True)})

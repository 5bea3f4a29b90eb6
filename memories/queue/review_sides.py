"""Entries whose record is mixed: the outcomes for them and those against them, face to face, and who reported them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection

from memories import browsing
from memories.browsing import Listed
from memories.entry import why
from memories.entry.why import Effect
from memories.rules.kinds import SUCCESSES, EvidenceStatus
from memories.search import Search
from memories.viewers import Viewer

EACH = 5
SIDES = f"""
    SELECT g.entry_id, f.is_good, {{columns}}
      FROM unnest(%(ids)s::bigint[]) AS g(entry_id)
      CROSS JOIN (VALUES (true), (false)) AS side(is_good)
      CROSS JOIN LATERAL (
          SELECT side.is_good, f.* FROM memories_effect f
           WHERE f.account_id = %(account)s AND f.entry_id = g.entry_id AND f.skipped = ''
             AND (f.outcome_type = ANY(%(successes)s)) = side.is_good
           ORDER BY f.at DESC, f.id DESC LIMIT {EACH}
      ) f
     ORDER BY g.entry_id, f.at DESC, f.id DESC
"""


@dataclass(frozen=True, slots=True)
class Sides:
    """A contested entry with the newest outcomes on both sides, newest first; its state has the counts of all."""

    listed: Listed
    good: list[Effect] = field(default_factory=list)
    bad: list[Effect] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Page:
    """Some contested entries, the most doubtful first, and the place to go on from (`search.Search.after`)."""

    rows: list[Sides]
    next: tuple[str, ...]


def page(asked: Search, viewer: Viewer, now: datetime) -> Page:
    """Return a page of a search over contested entries, each with both sides. Two statements."""
    listed, after = browsing.listed(asked, viewer, now)
    sides = [Sides(one) for one in listed]
    fill(viewer, sides)
    return Page(sides, after)


def contested(*, after: tuple[str, ...] = (), entity_path: str = "", limit: int = 25) -> Search:
    """Return the search for contested entries."""
    return Search(
        evidence=(EvidenceStatus.CONTESTED.value,),
        entity_path=entity_path or None,
        descendants=True,
        sort="doubt",
        after=after,
        limit=limit,
    )


def fill(viewer: Viewer, sides: Sequence[Sides]) -> None:
    by_id = {one.listed.row.entry_id: one for one in sides}
    values: dict[str, Any] = {
        "account": viewer.account_id,
        "ids": list(by_id),
        "successes": [str(word) for word in SUCCESSES],
    }
    with connection.cursor() as cursor:
        cursor.execute(SIDES.format(columns=why.COLUMNS), values)
        for entry_id, is_good, *effect in cursor.fetchall():
            (by_id[entry_id].good if is_good else by_id[entry_id].bad).append(Effect(*effect))

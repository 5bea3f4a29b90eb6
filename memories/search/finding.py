"""The statements a search becomes: its rows from an offset, or page by page, and how many there are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection

from memories import rows
from memories.rows import Row
from memories.search import narrow, ranking, rarity
from memories.search.described import AFTER, ORDERS, Conditions, Search
from memories.viewers import Viewer
from senselab import pipeline

COUNTED = 10_000
# Up to so many hits are sorted before anything is read of them; more are walked down an index.
SORTED = 5_000
# Sorts by what an entry's own row says.
BY_ENTRY = {"confidence", "doubt", "recency", "oldest", "name", "version"}
MOST = "%(limit)s::bigint + %(offset)s::bigint"
HIT = "e.account_id, e.id, e.claim_id, e.settled_confidence, e.written_at, e.version, e.entity_path, e.key, e.owner"
CLAIMED = "JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id"
RECALLED = "LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id"


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and the cursor that goes on after them (empty on the last page)."""

    rows: list[Row]
    next: tuple[str, ...]


def find(search: Search, viewer: Viewer, now: datetime) -> list[Row]:
    """Return the rows of a search, from its offset; with words, artifacts come last."""
    if search.words and (search.any_word or search.sort == "relevance"):
        return _by_relevance(search, viewer, now)
    is_narrow = _is_narrow(search)
    if is_narrow and not search.in_parts:
        search = replace(search, plan_kept=True)
    made = search.conditions(viewer, now)
    values = {**made.values, "limit": search.limit, "offset": search.offset}
    sql = _sorted_first(made, search) if is_narrow else _one_after_the_other(made, search)
    with pipeline.planned_anew(search.is_planned_anew):
        return rows.select(sql, values)


def find_or_widen(search: Search, viewer: Viewer, now: datetime) -> list[Row]:
    """Return the rows of a search, or of a wider one when no row has all of its words."""
    found = narrow.find(search, viewer, now) if narrow.fits(search) else None
    if found is None:
        return find(search, viewer, now) or widened(search, viewer, now)
    return found or ([] if search.is_in_one_entity else in_parts(search, viewer, now))


def widened(search: Search, viewer: Viewer, now: datetime) -> list[Row]:
    """Return, for a search that found nothing, rows that have any of its words, best match first; when there is none
    either, those that have words that begin so, or names with these parts."""
    terms = search.asked.terms
    if not terms or search.any_word or search.in_parts or search.offset:
        return []
    found = find(replace(search, any_word=True), viewer, now) if len(terms) > 1 else []
    return found or in_parts(search, viewer, now)


def in_parts(search: Search, viewer: Viewer, now: datetime) -> list[Row]:
    """Return rows that have words that begin so, or names with these parts."""
    return find(replace(search, in_parts=True), viewer, now)


def page(search: Search, viewer: Viewer, now: datetime, *, letters: int | None = None) -> Page:
    """Return a page of a search by keyset: as fast at the end as at the start, and no row twice.

    With `letters`, values are cut there: a list need not fetch a megabyte to show one line of it.
    """
    made = search.conditions(viewer, now)
    comparison, names = AFTER[search.sort]
    if len(search.after) == len(names):
        made.add(comparison, **{f"after_{i}": value for i, value in enumerate(search.after)})
    values = {**made.values, "limit": search.limit + 1, "letters": letters}
    heads = rows.HEADS if letters is None else rows.HEADS.replace("c.value,", "left(c.value, %(letters)s),")
    order = ORDERS[search.sort]
    source = f"memories_entry e {CLAIMED if search.needs_claim else ''} {RECALLED} {made.where}"
    hits = ""
    if _is_narrow(search):
        # An index in this order may hold a million rows before the first with a rare word.
        hits, source = f"hits AS MATERIALIZED (SELECT {HIT} FROM {source}),", "hits e"
    # Claims are read of what is shown alone.
    sql = f"""WITH {hits} picked AS (SELECT e.id FROM {source} ORDER BY {order} LIMIT %(limit)s)
        {heads} JOIN picked p ON p.id = e.id WHERE e.account_id = %(account)s ORDER BY {order}"""
    with pipeline.planned_anew(search.is_planned_anew):
        found = rows.select(sql, values)
    more = len(found) > search.limit
    shown = found[: search.limit]
    return Page(shown, tuple(_text(getattr(shown[-1], name)) for name in names) if more else ())


def count(search: Search, viewer: Viewer, now: datetime, *, most: int | None = COUNTED) -> int:
    """Return how many rows a search has; no further than `most`, so that a page never waits for a million."""
    return counts([search], viewer, now, most=most)[0]


def counts(searches: Sequence[Search], viewer: Viewer, now: datetime, *, most: int | None = COUNTED) -> tuple[int, ...]:
    """Return how many rows each of some searches has that differ in what they leave out alone; one statement."""
    values: dict[str, Any] = {}
    counted, limit = [], f"LIMIT {most + 1}" if most is not None else ""
    for search in searches:
        made = search.conditions(viewer, now)
        source = f"memories_entry e {CLAIMED}" if search.needs_claim else "memories_entry e"
        counted.append(f"(SELECT count(*) FROM (SELECT 1 FROM {source} {RECALLED} {made.where} {limit}) s)")
        values |= made.values
    if not counted:
        return ()
    with pipeline.planned_anew(any(search.is_planned_anew for search in searches)), connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(counted)}", values)
        found: tuple[int, ...] = cursor.fetchone()
        return found


def _one_after_the_other(made: Conditions, search: Search) -> str:
    """Return a statement that looks at what comes later only when that is needed, and stops as soon as it has enough.

    With words artifacts come after the rest; by priority each tier after the one above it. Each goes down an index.
    """
    groups = ["NOT c.is_artifact", "c.is_artifact"] if search.words else ["TRUE"]
    if search.sort == "priority":
        groups = [f"{group} AND e.tier = {tier}" for group in groups for tier in (1, 2, 3)]
    order = ORDERS["confidence" if search.sort == "priority" else search.sort]
    if len(groups) == 1:
        return f"{rows.HEADS} {made.where} ORDER BY {order} LIMIT %(limit)s OFFSET %(offset)s"
    source = f"memories_entry e {CLAIMED} {RECALLED} {made.where}"
    arms = [
        f"(SELECT e.id, {place} AS place FROM {source} AND {group} ORDER BY {order} LIMIT {MOST})"
        for place, group in enumerate(groups)
    ]
    return f"WITH {_picked(arms, order)}"


def _picked(arms: list[str], order: str) -> str:
    """Return the rest of a statement: rows by the ids of the first arms that have enough, read for those alone."""
    return f"""
        picked AS (SELECT p.id, p.place FROM ({" UNION ALL ".join(arms)}) p LIMIT {MOST})
        {rows.HEADS} JOIN picked p ON p.id = e.id WHERE e.account_id = %(account)s
         ORDER BY p.place, {order} LIMIT %(limit)s::bigint OFFSET %(offset)s::bigint
    """


def _is_narrow(search: Search) -> bool:
    """Tell whether the hits of a search are so few that they are sorted sooner than an index is walked."""
    if not search.words or search.sort not in BY_ENTRY:
        return False
    if search.is_in_one_entity or search.in_parts:
        return True
    return rarest(search) <= SORTED


def rarest(search: Search) -> float:
    """Return how many entries have the rarest of the words of a search, about."""
    known, stems = rarity.sampled(), rarity.stems(ranking.words_of(search))
    # How many words begin with a prefix is not known.
    shares = [known.share(term, stems) for term in search.asked.terms if not term.query.endswith(":*")]
    return min(shares, default=1.0) * known.entries


def _sorted_first(made: Conditions, search: Search) -> str:
    """Return a statement that sorts all hits by their entries alone, and reads claims only until it has enough."""
    order, claims = ORDERS[search.sort], CLAIMED if search.needs_claim else ""
    arms = [
        f"""(SELECT e.id, {place} AS place FROM (SELECT e.* FROM hits e ORDER BY {order} OFFSET 0) e {CLAIMED}
              WHERE {group} ORDER BY {order} LIMIT {MOST})"""
        for place, group in enumerate(("NOT c.is_artifact", "c.is_artifact"))
    ]
    # What names have in parts nobody sampled: walking an index for it may end nowhere.
    most = f"LIMIT {SORTED}" if search.in_parts else ""
    hits = f"SELECT {HIT} FROM memories_entry e {claims} {RECALLED} {made.where} {most}"
    return f"WITH hits AS MATERIALIZED ({hits}), {_picked(arms, order)}"


def _by_relevance(search: Search, viewer: Viewer, now: datetime) -> list[Row]:
    if not search.asked.terms:
        return []
    best = ranking.statement(viewer, search, now, search.offset + search.limit)
    sql = f"""{rows.HEADS} JOIN {best.sql} b ON b.id = e.id WHERE {viewer.visible()}
              ORDER BY b.is_artifact, b.rank DESC, e.settled_confidence DESC, e.id OFFSET %(offset)s::bigint"""
    with pipeline.planned_anew(search.is_planned_anew):
        return rows.select(sql, {**best.values, "offset": search.offset})


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)

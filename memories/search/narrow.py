"""A search whose hits are few, in one entity or by rare words, in one statement: all its words, else any, else parts.

What it reads is known to be little, so one plan is right for all its values: the database plans it once and keeps it.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from memories import rows
from memories.rows import Row
from memories.search import ranking, rarity
from memories.search.described import ORDERS, PARTS, Conditions, Search, escaped
from memories.viewers import Viewer
from senselab import pipeline
from senselab.pipeline import Query

# So many hits are sorted at most.
MET = 5_000
# How a hit has the words.
WHOLE, ANY, IN_PARTS = 0, 1, 2
HIT = "e.account_id, e.id, e.claim_id, e.settled_confidence, e.on_probation, t.words"
ENTRIES = f"memories_entry e {ranking.RECALLED}"
ORDER = ORDERS["confidence"]
# A name that has these parts; without any (what is excluded, or exact, has none) no name does.
NAMED = "(cardinality(%(parts)s::text[]) > 0 AND t.name LIKE ALL(%(parts)s::text[]))"
HEADS = rows.HEADS.replace("SELECT e.id,", "SELECT b.way, b.many, e.id,", 1)


def fits(search: Search) -> bool:
    """Tell whether the entries that have any of the words are so few that each is looked at once."""
    if not search.asked.terms or search.any_word or search.in_parts or search.offset or search.sort != "confidence":
        return False
    if search.is_in_one_entity:
        return True
    known, stems = rarity.sampled(), rarity.stems(ranking.words_of(search))
    # How many words begin with a prefix is not known.
    shares = [1.0 if term.query.endswith(":*") else known.share(term, stems) for term in search.asked.terms]
    return sum(shares) * known.entries <= max(ranking.HITS, search.limit)


def query(search: Search, viewer: Viewer, now: datetime) -> Query:
    """Return the statement for the rows of a search that fits; each begins with how they have the words (WHOLE, ANY,
    IN_PARTS) and how many entries were met."""
    asked = search.asked
    made = replace(search, words="").conditions(viewer, now)
    made.joins.append("JOIN memories_entrytext t ON t.account_id = e.account_id AND t.entry_id = e.id")
    if search.needs_claim:
        made.joins.insert(0, ranking.CLAIMED)
    made.add("t.account_id = %(account)s")
    known, stems = rarity.sampled(), rarity.stems(ranking.words_of(search))
    terms = sorted(((known.share(term, stems), term) for term in asked.terms), key=lambda pair: pair[0])
    made.values |= {
        "words": asked.all,
        "any": asked.any,
        "prefixes": asked.prefixes,
        "parts": [f"%{escaped(part)}%" for part in asked.parts[:PARTS]],
        "most": search.limit,
        "told": max(ranking.TOLD, 2 * search.limit),
        "met": MET,
        "hits": max(ranking.HITS, search.limit),
    }
    hits = _of_entity(made) if search.is_in_one_entity else _by_rare_words(made)
    return _statement(hits, ranking.weighed(ranking.groups(terms, known), made.values)), made.values


def read(found: list[tuple[Any, ...]], search: Search) -> tuple[list[Row], bool] | None:
    """Return rows of `query`, and whether they have all the words; None where more were met than are sorted, or than
    are ranked when none has all of them."""
    if found and found[0][1] > (max(ranking.HITS, search.limit) if found[0][0] == ANY else MET):
        return None
    return [rows.row_of(row[2:]) for row in found], bool(found) and found[0][0] == WHOLE


def find(search: Search, viewer: Viewer, now: datetime) -> list[Row] | None:
    """Return what a search that fits finds, with all, any or parts of its words; None where it found too much."""
    (found,) = pipeline.read(query(search, viewer, now))
    told = read(found, search)
    return None if told is None else told[0]


def _has(name: str) -> str:
    # In a SELECT of its own it is worked out once, not for each row.
    return f"t.words @@ (SELECT memories_asked(%({name})s))"


def _of_entity(made: Conditions) -> str:
    """Return the statement for hits of one entity: its entries are gone through once for all ways."""
    way = f"CASE WHEN {_has('words')} THEN {WHOLE} WHEN {_has('any')} THEN {ANY} ELSE {IN_PARTS} END"
    some = f"({_has('any')} OR {_has('prefixes')} OR {NAMED})"
    return f"SELECT {HIT}, {way} AS way FROM {ENTRIES} {made.where} AND {some} LIMIT %(met)s + 1"


def _by_rare_words(made: Conditions) -> str:
    """Return the statement for hits by an index of words: those that have all, or, where none has, those with any."""
    return f"""
        WITH whole AS MATERIALIZED (
            SELECT {HIT}, {WHOLE} AS way FROM {ENTRIES} {made.where} AND {_has("words")} LIMIT %(met)s + 1)
        SELECT w.* FROM whole w UNION ALL
        (SELECT {HIT}, {ANY} FROM {ENTRIES} {made.where} AND {_has("any")}
            AND (SELECT count(*) FROM whole w) = 0 LIMIT %(hits)s)"""


def _statement(hits: str, rank: str) -> str:
    """Return hits by the best way that any has: sorted as a search is, or, by any word, by how well they fit."""
    best = "(SELECT b.way FROM best b)"
    sorted_arms = " UNION ALL ".join(
        f"""(SELECT e.id, {place} AS place, 0::float8 AS rank
               FROM (SELECT e.* FROM hits e WHERE e.way = {best} ORDER BY {ORDER} OFFSET 0) e {ranking.CLAIMED}
              WHERE {group} AND {best} <> {ANY} ORDER BY {ORDER} LIMIT %(most)s)"""
        for place, group in enumerate(("NOT c.is_artifact", "c.is_artifact"))
    )
    return f"""
        WITH hits AS MATERIALIZED ({hits}),
        best AS MATERIALIZED (SELECT min(h.way) AS way, count(*) AS many FROM hits h),
        chosen AS (
            SELECT k.* FROM (SELECT h.id, h.claim_id, h.settled_confidence, {rank} AS rank FROM hits h
                              WHERE {best} = {ANY} AND h.way = {ANY}) k
             ORDER BY {ranking.BEST_FIRST} LIMIT %(told)s),
        picked AS (
            (SELECT a.* FROM ({sorted_arms}) a LIMIT %(most)s)
             UNION ALL
            (SELECT a.id, a.is_artifact::int, a.rank FROM ({ranking.told_apart()}) a))
        {HEADS} JOIN picked p ON p.id = e.id, best b WHERE e.account_id = %(account)s
         ORDER BY p.place, p.rank DESC, {ORDER} LIMIT %(most)s
    """

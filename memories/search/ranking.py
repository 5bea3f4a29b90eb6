"""The best of what has any of some words, at once even when a word is in every entry.

What is ranked is capped for each way to hits. All entries that have one of the rarest words are ranked, as long as they
are few; then some that have all of the words, and some that have one of those that are neither rare nor everywhere.
Where every word is in too many entries, the surest entries are looked at. Inside one entity words meet few entries, so
there some that have any word are ranked as well.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memories.heads import MAIN
from memories.rules.folding import fold
from memories.rules.wordings import Asked, Term
from memories.search import rarity
from memories.search.described import Conditions, Search
from memories.search.rarity import Rarity
from memories.viewers import Viewer
from senselab import pipeline

# So many entries are ranked at most that have one of the rare words, so many by each other way, and so many are looked
# at for words that are everywhere.
HITS, OTHERS = 1_000, 500
WALKED = 1_000
# Of the best so many are told apart by whether they are artifacts.
TOLD = 600
# Of an index so many hits are read at most; more take longer than anybody waits.
READ = 50_000.0
# Terms are weighed in so many groups of about the same rarity: one pass over the words of a hit for each.
GROUPS = 3
# What a word counts as a stem only, not at all, in the value, in the names.
WEIGHTS = "'{0.4, 0.5, 0.7, 1.0}'"
# What an entry on probation counts of its fitness.
ON_PROBATION = 0.5
BEST_FIRST = "k.rank DESC, k.settled_confidence DESC, k.id"
CLAIMED = "JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id"
RECALLED = "LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id"
ENTRIES = f"memories_entry e {RECALLED}"
# The surest entries of a branch, whatever they say.
SUREST = f"""
    (SELECT o.* FROM memories_entry o WHERE o.account_id = %(account)s AND o.branch = %(branch)s
      ORDER BY o.settled_confidence DESC, o.id LIMIT {WALKED}) e {RECALLED}
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that has some of the words, and how well it fits: the more and the rarer the words, the better."""

    entry_id: int
    rank: float
    is_artifact: bool


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to hits: from which rows, which words, and how many at most."""

    rows: str
    query: str
    most: int = OTHERS
    # Whether it is needed only where the first way met its limit.
    beyond: bool = False


def candidates(viewer: Viewer, search: Search, now: datetime, limit: int) -> list[Candidate]:
    """Return the entries that fit the words of a search best, any of which is enough; artifacts come last."""
    if not search.asked.terms:
        return []
    best = statement(viewer, search, now, limit)
    with pipeline.planned_anew(search.is_planned_anew):
        (found,) = pipeline.read((f"SELECT b.id, b.rank, b.is_artifact FROM {best.sql} b", best.values))
        return [Candidate(*row) for row in found]


@dataclass(frozen=True, slots=True)
class Best:
    """A subquery (id, rank, is_artifact) in order of fitness, and what it binds."""

    sql: str
    values: dict[str, Any]


def words_of(search: Search) -> set[str]:
    """Return the plain words whose rarity matters to a search."""
    return {word for term in search.asked.terms for word in term.words}


def statement(viewer: Viewer, search: Search, now: datetime, limit: int) -> Best:
    """Return the subquery for the entries that fit the words of a search best, to be joined with what is told of them.

    Plan it anew (pipeline.planned_anew): how to find a word depends on how rare it is.
    """
    asked = search.asked
    known, stems = rarity.sampled(), rarity.stems(words_of(search))
    terms = sorted(((known.share(term, stems), term) for term in asked.terms), key=lambda pair: pair[0])
    made = replace(search, words="").conditions(viewer, now)
    made.joins.append("JOIN memories_entrytext t ON t.account_id = e.account_id AND t.entry_id = e.id")
    made.add("t.account_id = %(account)s")
    if search.entity_path:
        # Said of the row with the words as well: most hits of a common word are elsewhere, and need not be looked up.
        made.add("starts_with(t.name, %(named)s)", named=fold(f"{search.entity_path.rstrip('/')}/").casefold())
    if search.needs_claim:
        made.joins.insert(0, CLAIMED)
    values: dict[str, Any] = {**made.values, "most": limit, "told": max(TOLD, 2 * limit)}
    arms = _arms(asked, terms, known.entries, scoped=search.is_scoped, hits=max(HITS, limit))
    if search.over_main and search.branch != MAIN:
        both = f"o.branch IN (%(branch)s, '{MAIN}')"
        arms = [replace(arm, rows=arm.rows.replace("o.branch = %(branch)s", both)) for arm in arms]
    return Best(_statement(made, arms, groups(terms, known), values), values)


def _arms(asked: Asked, terms: Sequence[tuple[float, Term]], entries: float, *, scoped: bool, hits: int) -> list[Arm]:
    """Return the ways to hits, none of which reads more than it may."""
    everything = asked.any_of(term for _, term in terms)
    if sum(share for share, _ in terms) * entries <= hits:
        return [Arm(ENTRIES, everything, hits)]
    rarest, others = _within(terms, hits / entries)
    arms = [Arm(ENTRIES, asked.any_of(rarest), hits)] if rarest else []
    if scoped:
        # What an entity has is usually found whole by the first of these.
        more = [replace(arm, beyond=True) for arm in (Arm(ENTRIES, asked.all), *arms)]
        return [Arm(ENTRIES, everything, hits), *more]
    rare, _ = _within(others, READ / entries)
    if rare:
        arms.append(Arm(ENTRIES, asked.any_of(rare)))
    return [Arm(ENTRIES, asked.all), *arms] if arms else [Arm(SUREST, everything, WALKED)]


def _within(terms: Sequence[tuple[float, Term]], most: float) -> tuple[list[Term], list[tuple[float, Term]]]:
    """Return the first terms that together stand in no greater share of entries, and the rest."""
    taken: list[Term] = []
    for place, (share, term) in enumerate(terms):
        most -= share
        if most < 0:
            return taken, list(terms[place:])
        taken.append(term)
    return taken, []


def groups(terms: Sequence[tuple[float, Term]], known: Rarity) -> list[tuple[str, float]]:
    """Return terms in groups of about the same rarity, each with what a word of it counts."""
    size = math.ceil(len(terms) / GROUPS)
    alike = [terms[start : start + size] for start in range(0, len(terms), size)]
    return [
        (Asked(tuple(term for _, term in group)).any, sum(known.weight(share) for share, _ in group)) for group in alike
    ]


def weighed(groups: Sequence[tuple[str, float]], values: dict[str, Any]) -> str:
    """Return how well a hit h fits, as SQL, and bind in `values` what that names."""
    ranks = []
    for place, (query, weight) in enumerate(groups):
        values |= {f"group_{place}": query, f"weight_{place}": weight}
        # In a SELECT of its own the query is read once, not for each hit.
        asked = f"(SELECT memories_asked(%(group_{place})s))"
        ranks.append(f"%(weight_{place})s::float8 * ts_rank({WEIGHTS}, h.words, {asked})::float8")
    return f"({' + '.join(ranks)}) * CASE WHEN h.on_probation THEN {ON_PROBATION} ELSE 1 END"


def _statement(made: Conditions, arms: list[Arm], groups: list[tuple[str, float]], values: dict[str, Any]) -> str:
    selects = []
    for place, arm in enumerate(arms):
        values[f"arm_{place}"] = arm.query
        capped = f" AND (SELECT count(*) FROM at_first) >= {arms[0].most}" if arm.beyond else ""
        selects.append(
            f"(SELECT e.id, e.claim_id, e.settled_confidence, e.on_probation, t.words FROM {arm.rows} {made.where}"
            f" AND t.words @@ memories_asked(%(arm_{place})s){capped} LIMIT {arm.most})"
        )
    rank = weighed(groups, values)
    return f"""(
        WITH at_first AS MATERIALIZED {selects[0]},
        hits AS MATERIALIZED ({" UNION ALL ".join(["SELECT * FROM at_first", *selects[1:]])}),
        ranked AS (
            SELECT DISTINCT ON (h.id) h.id, h.claim_id, h.settled_confidence, {rank} AS rank
              FROM hits h ORDER BY h.id
        ),
        chosen AS (SELECT k.* FROM ranked k ORDER BY {BEST_FIRST} LIMIT %(told)s)
        {told_apart()}
    )"""


def told_apart() -> str:
    """Return the statement for the best of `chosen` (id, rank, is_artifact), artifacts last.

    Claims, which say so, are read one after the other until there are enough.
    """
    arms = " UNION ALL ".join(
        f"""(SELECT k.id, k.rank, c.is_artifact FROM (SELECT k.* FROM chosen k ORDER BY {BEST_FIRST} OFFSET 0) k
               JOIN memories_claim c ON c.account_id = %(account)s AND c.id = k.claim_id
              WHERE {group} ORDER BY {BEST_FIRST} LIMIT %(most)s)"""
        for group in ("NOT c.is_artifact", "c.is_artifact")
    )
    return f"SELECT a.* FROM ({arms}) a LIMIT %(most)s"

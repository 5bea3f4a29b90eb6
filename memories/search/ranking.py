"""The best of what has any of some words, at once even when a word is in every entry.

What is ranked is capped at HITS for each way to hits. While the words are rare, all entries that have one of them are
ranked. Else those are that have all of them, and those that have one of the rarer ones; where every word is in too many
entries, the surest entries are looked at. Inside one entity none of that is needed: there words meet few entries.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection

from memories.rules.wordings import Asked, Term
from memories.search import rarity
from memories.search.described import Conditions, Search
from memories.search.rarity import Rarity
from memories.viewers import Viewer
from senselab import pipeline

# So many entries are ranked at most by each way, and so many are looked at for words that are everywhere.
HITS = 2_000
WALKED = 2_000
# Of an index so many hits are read at most; more take longer than anybody waits.
READ = 50_000.0
# Terms are weighed in so many groups of about the same rarity: one pass over the words of a hit for each.
GROUPS = 3
# What a word counts as a stem only, not at all, in the value, in the names.
WEIGHTS = "'{0.4, 0.5, 0.7, 1.0}'"
CLAIMED = "JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id"
RECALLED = "LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id"
ENTRIES = f"memories_entry e {CLAIMED} {RECALLED}"
# The surest entries of a branch, whatever they say.
SUREST = f"""
    (SELECT o.* FROM memories_entry o WHERE o.account_id = %(account)s AND o.branch = %(branch)s
      ORDER BY o.settled_confidence DESC, o.id LIMIT {WALKED}) e {CLAIMED} {RECALLED}
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that has some of the words, and how well it fits: the more and the rarer the words, the better."""

    entry_id: int
    rank: float
    is_artifact: bool


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to hits: from which rows, and which words."""

    rows: str
    query: str


def candidates(viewer: Viewer, search: Search, now: datetime, limit: int) -> list[Candidate]:
    """Return the entries that fit the words of a search best, any of which is enough; artifacts come last."""
    asked = search.asked
    if not asked.terms:
        return []
    known, stems = rarity.sampled(), rarity.stems({word for term in asked.terms for word in term.words})
    terms = sorted(((known.share(term, stems), term) for term in asked.terms), key=lambda pair: pair[0])
    made = replace(search, words="").conditions(viewer, now)
    made.joins.append("JOIN memories_entrytext t ON t.account_id = e.account_id AND t.entry_id = e.id")
    made.add("t.account_id = %(account)s")
    values: dict[str, Any] = {**made.values, "most": limit, "hits": max(HITS, limit)}
    sql = _statement(made, _arms(asked, terms, known.entries, scoped=search.is_scoped), _groups(terms, known), values)
    with pipeline.planned_anew(), connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [Candidate(*row) for row in cursor.fetchall()]


def _arms(asked: Asked, terms: Sequence[tuple[float, Term]], entries: float, *, scoped: bool) -> list[Arm]:
    """Return the ways to hits, none of which reads more than it may."""
    everything = asked.any_of(term for _, term in terms)
    if scoped or sum(share for share, _ in terms) * entries <= HITS:
        return [Arm(ENTRIES, everything)]
    rare, room = [], READ
    for share, term in terms:
        room -= share * entries
        if room < 0:
            break
        rare.append(term)
    if not rare:
        return [Arm(SUREST, everything)]
    return [Arm(ENTRIES, asked.all), Arm(ENTRIES, asked.any_of(rare))]


def _groups(terms: Sequence[tuple[float, Term]], known: Rarity) -> list[tuple[str, float]]:
    """Return terms in groups of about the same rarity, each with what a word of it counts."""
    size = math.ceil(len(terms) / GROUPS)
    groups = [terms[start : start + size] for start in range(0, len(terms), size)]
    return [
        (Asked(tuple(term for _, term in group)).any, sum(known.weight(share) for share, _ in group))
        for group in groups
    ]


def _statement(made: Conditions, arms: list[Arm], groups: list[tuple[str, float]], values: dict[str, Any]) -> str:
    selects = []
    for place, arm in enumerate(arms):
        values[f"arm_{place}"] = arm.query
        selects.append(
            f"(SELECT e.id, c.is_artifact, e.settled_confidence, t.words FROM {arm.rows} {made.where}"
            f" AND t.words @@ memories_asked(%(arm_{place})s) LIMIT %(hits)s)"
        )
    ranks = []
    for place, (query, weight) in enumerate(groups):
        values |= {f"group_{place}": query, f"weight_{place}": weight}
        ranks.append(
            f"%(weight_{place})s::float8 * ts_rank({WEIGHTS}, h.words, memories_asked(%(group_{place})s))::float8"
        )
    return f"""
        WITH hits AS MATERIALIZED ({" UNION ALL ".join(selects)}),
        ranked AS (
            SELECT DISTINCT ON (h.id) h.id, {" + ".join(ranks)} AS rank, h.is_artifact, h.settled_confidence
              FROM hits h ORDER BY h.id
        )
        SELECT k.id, k.rank, k.is_artifact FROM ranked k
         ORDER BY k.is_artifact, k.rank DESC, k.settled_confidence DESC, k.id LIMIT %(most)s
    """

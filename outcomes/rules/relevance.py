"""How well a text answers a query by its words: a share weighted by rarity, and BM25 brought to 0..1."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from memories.rules import folding
from outcomes.rules import terms

SATURATION, LENGTH_SHARE = 1.2, 0.75
# A word of the key says more than one of the value, and the entity is what an entry is about.
KEY_TIMES, PATH_TIMES = 2, 3
LEAST_LENGTH = 8.0
# So often a term has to be met in a text of usual length to count 1: once in the key, or in the path, is enough.
FULL = 2
# Candidates are those that share a word, so a word that all of them have is not one that every entry has.
BACKGROUND = 50
# What a word counts that people ask with, but do not ask for, whatever its rarity among candidates says.
LIGHT_SHARE = 0.25
LIGHT_WORDS = """
    actually always another anybody anyone anything ask away back become before begin break call case come currently
    day enough ever every everything exactly few find first follow get give go good happen help here keep kind know
    last later let like little long look lot make many matter mean more most much must need never new next number
    often one only other out people person place please possible problem put quick really right run same say see set
    show something somebody someone sometimes soon sort start still stop such sure take tell thank thing think time
    try two type under until up use usual usually very want way well while within without work write wrong alle
    allem allen aller alles andere bald bekommen beim bitte da dabei damit dann darf dass dich dir doch eben etwas
    finde finden geben gehen geht gerade gibt gross gut habe haben immer ja jede jeder jemand jetzt kommt konnen
    lange mache machen mal man mehr melde muss mussen neu ob oft ohne schon sehr seit soll sollen sonst steht tun
    viel viele weil welche welchem welchen welcher welches wenig weiter werden wieder wieviel will wollen
"""
LIGHT = frozenset(terms.stem(word) for word in LIGHT_WORDS.split())
# What a term counts at least, and what one counts that no past task had.
LEAST_TOLD, UNTOLD = 0.1, 0.5


@dataclass(frozen=True, slots=True)
class Text:
    """The terms of an entry: of its key and value, and of its path."""

    counts: Mapping[str, int]
    length: int
    path: frozenset[str]

    def has(self, term: str) -> bool:
        return term in self.counts or term in self.path


@lru_cache(maxsize=2_048)
def text_of(path: str, key: str, value: str) -> Text:
    """Return the terms of an entry; of its value, which is JSON text, the first 4,000 characters are read.

    Remembered, as the same entries are candidates again and again.
    """
    of_key = terms.all_terms(key)
    of_value = terms.all_terms(folding.spoken(value[: terms.LETTERS]))
    counts = Counter(of_value)
    for term in of_key:
        counts[term] += KEY_TIMES
    return Text(counts, len(of_value) + len(of_key), _of_path(path))


@lru_cache(maxsize=8_192)
def _of_path(path: str) -> frozenset[str]:
    return frozenset(terms.all_terms(path))


@dataclass(frozen=True, slots=True)
class Scale:
    """What a query's terms weigh among these candidates."""

    asked: tuple[str, ...]
    keyword: Mapping[str, float]
    rarity: Mapping[str, float]
    # What all of them weigh together.
    whole_keyword: float
    whole_rarity: float
    # The length half of the candidates are below: a few long pages would move a mean.
    usual: float


def scale(
    asked: Sequence[str],
    texts: Sequence[Text],
    tasks: Sequence[frozenset[str]] = (),
    tells: Mapping[str, float] | None = None,
) -> Scale:
    """Return the weights of a query's terms over a pool, or over the past tasks of its entity that have them.

    `tells` says how much a term tells tasks apart (episodes.telling), 0..1.
    """
    found = dict.fromkeys(asked, 0)
    wanted = found.keys()
    for at, text in enumerate(texts):
        for term in (wanted & text.counts.keys()) | (wanted & text.path):
            found[term] |= 1 << at
    overlaps = _overlaps(found)
    of_tasks = Counter(term for task in tasks for term in task)
    pool = len(texts) + BACKGROUND
    keyword = {}
    for term in asked:
        many, df = (len(tasks), of_tasks[term]) if of_tasks[term] else (pool, found[term].bit_count())
        keyword[term] = math.log((many + 1) / (df + 1)) / (1 + overlaps[term]) * _share(term)
    rarity, told = {}, tells or {}
    for term in asked:
        df = found[term].bit_count()
        telling = LEAST_TOLD + told.get(term, UNTOLD)
        rarity[term] = math.log(1 + (pool - df + 0.5) / (df + 0.5)) * telling * _share(term)
    usual = statistics.median(text.length for text in texts) if texts else 1.0
    return Scale(tuple(asked), keyword, rarity, sum(keyword.values()), sum(rarity.values()), max(LEAST_LENGTH, usual))


def _overlaps(found: Mapping[str, int]) -> dict[str, float]:
    """Return how much each term's candidates are those of the others, summed; `found` has them as bits."""
    overlaps = dict.fromkeys(found, 0.0)
    for one, other in combinations(found, 2):
        if found[one] & found[other]:
            shared = terms.jaccard(found[one], found[other])
            overlaps[one] += shared
            overlaps[other] += shared
    return overlaps


def _share(term: str) -> float:
    return LIGHT_SHARE if term in LIGHT else 1.0


def keyword(over: Scale, text: Text) -> float:
    """Return the share of a query's terms that path, key and value hold, 0..1, each weighted by its rarity."""
    if not over.asked:
        return 0.0
    if over.whole_keyword <= 0:
        return sum(text.has(term) for term in over.asked) / len(over.asked)
    counts, path = text.counts, text.path
    found = [weight for term, weight in over.keyword.items() if term in counts or term in path]
    return min(1.0, sum(found) / over.whole_keyword)


def lexical(over: Scale, text: Text) -> float:
    """Return how much of a query a text answers, 0..1: BM25; a term met twice in a text of usual length counts 1."""
    if over.whole_rarity <= 0:
        return 0.0
    counts, path = text.counts, text.path
    stretch = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * text.length / over.usual)
    total = 0.0
    for term, weight in over.rarity.items():
        if term in counts or term in path:
            times = counts.get(term, 0) + PATH_TIMES * (term in path)
            total += weight * min(1.0, times * (FULL + SATURATION) / (FULL * (times + stretch)))
    return min(1.0, total / over.whole_rarity)

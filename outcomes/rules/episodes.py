"""Past tasks as ranking sees them, and how alike two tasks are."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from outcomes.rules import terms

CONCLUSION = 0


@dataclass(frozen=True, slots=True)
class Use:
    """An entry that a step of a task relied on, and whether that step went well."""

    entry_id: int
    step: int
    won: bool


@dataclass(frozen=True, slots=True)
class Action:
    """What was done at a step; `attempt` None is the last one."""

    key: str
    won: bool
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """One task that ended: what it was, what it relied on, what was done, and how it went."""

    id: int
    ref: str
    at: datetime
    won: bool
    agent_id: str = ""
    session_id: str = ""
    verified: bool = False
    task: str = ""
    situation: str = ""
    paths: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()
    actions: tuple[Action, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def resolved_by(self) -> tuple[int, ...]:
        """Return the entries that a success relied on at last and no failed attempt had relied on."""
        if not self.won:
            return ()
        failed = {use.entry_id for use in self.uses if not use.won}
        return tuple(use.entry_id for use in self.uses if use.won and use.entry_id not in failed)

    @property
    def resolving_action(self) -> str | None:
        last = [action.key for action in self.actions if action.attempt is None and action.won]
        return last[-1] if self.won and last else None


@dataclass(frozen=True, slots=True)
class Near:
    """A past task and how alike it is to the present one, 0..1; `weight` is what it counts among its like."""

    episode: Episode
    similarity: float
    weight: float


# From where two tasks are alike, and how fast those less alike than the best lose their weight.
LEAST, SPREAD = 0.35, 0.25
DROPPED = 0.1
# What a word that every task has still counts, so that equal tasks are alike whatever they say.
EVERYWHERE = 0.1
# What a term tells that no resolved task had.
UNKNOWN = 0.33
# So many pairs of tasks that have a term are imagined, a share of them resolved alike; newer pairs count more.
CHANCE, SUPPOSED, PAIR_FADE = 2.0, 0.4, 0.95
# Of all tasks so many are imagined, all but one of them resolved otherwise than the one before.
USUAL = 5
# What a term tells that no past task had: one that an entry says, and one that nothing here ever said.
SAID, NEVER_SAID, NEW_SHARE = 1.0, 0.1, 0.6
# So many tasks of other kinds are imagined beside those known.
BACKGROUND = 50


def folded(situation: str) -> str:
    return " ".join(situation.casefold().split())


def telling(episodes: Sequence[Episode]) -> Mapping[str, float]:
    """Return how much each term tells which task it is, 0..1: whether tasks that have it were resolved alike.

    Of the tasks that have a term, each is held against the one before it, so that a world that changed once says no
    more than once that the term tells nothing; newer pairs count more. Politeness, names and numbers stand in tasks of
    every kind, which follow each other as all tasks do: they tell nothing. A term met seldom may tell by chance.
    """
    ways = [
        (terms.of_task(episode.task), way)
        for episode in sorted(episodes, key=lambda one: one.at)
        if (way := episode.resolving_action or episode.resolved_by)
    ]
    alike = sum(way == before for (_, before), (_, way) in pairwise(ways))
    usual = (alike + 1) / (max(0, len(ways) - 1) + USUAL)
    last: dict[str, object] = {}
    pairs: dict[str, tuple[float, float]] = {}
    for task, way in ways:
        for term in task:
            same, met = pairs.get(term, (0.0, 0.0))
            if term in last:
                same, met = same * PAIR_FADE + (last[term] == way), met * PAIR_FADE + 1
            pairs[term], last[term] = (same, met), way
    return {
        term: max(0.0, (same + SUPPOSED * CHANCE) / (met + CHANCE) - usual) / (1 - usual)
        for term, (same, met) in pairs.items()
    }


def weights(tasks: Sequence[frozenset[str]], tells: Mapping[str, float]) -> Mapping[str, float]:
    """Return what each term counts when tasks are compared: rare ones more, and those that tell tasks apart.

    The same task told a hundred times is one task here, or its words would seem to say nothing.
    """
    distinct = set(tasks)
    counted = Counter(term for task in distinct for term in task)
    many = len(distinct) + BACKGROUND + 1
    return {
        term: EVERYWHERE + math.log(many / (df + 1)) * df / (df + 1) * tells.get(term, UNKNOWN)
        for term, df in counted.items()
    }


def similarity(left: frozenset[str], right: frozenset[str], weight: Mapping[str, float]) -> float:
    """Return the cosine of two tasks by their terms."""
    if not left or not right:
        return 0.0
    square = {term: weight[term] ** 2 for term in left | right}
    return _cosine(left, right, square, _norm(left, square))


def _cosine(left: frozenset[str], right: frozenset[str], square: Mapping[str, float], norm: float) -> float:
    if not left or not right:
        return 0.0
    return min(1.0, sum(map(square.__getitem__, left & right)) / (norm * _norm(right, square)))


def _norm(task: frozenset[str], square: Mapping[str, float]) -> float:
    return math.sqrt(sum(map(square.__getitem__, task)))


@dataclass(frozen=True, slots=True)
class Scale:
    """What makes two tasks alike, as a set of past tasks teaches it."""

    weight: Mapping[str, float]

    def alike(self, left: str, right: str) -> float:
        """Return how alike two tasks are by their words, 0..1; both were among those that taught the scale."""
        return similarity(terms.of_task(left), terms.of_task(right), self.weight)

    def alike_to(self, task: str, others: Iterable[str]) -> dict[str, float]:
        """Return how alike each of some tasks is to one, every distinct one measured once."""
        square = {term: weight**2 for term, weight in self.weight.items()}
        asked = terms.of_task(task)
        norm = _norm(asked, square)
        return {other: _cosine(asked, terms.of_task(other), square, norm) for other in set(others)}


def scale(task: str, episodes: Sequence[Episode], tells: Mapping[str, float] | None = None) -> Scale:
    """Return what these past tasks teach; `tells` is what `telling` says of them, where that is known."""
    told = [terms.of_task(episode.task) for episode in episodes]
    return Scale(weights([*told, terms.of_task(task)], telling(episodes) if tells is None else tells))


def with_new(by: Scale, told: Mapping[str, float], many: int) -> Scale:
    """Return a scale with terms that none of so `many` past tasks had; `told` says what they tell."""
    rarity = NEW_SHARE * math.log((many + BACKGROUND + 1) / 2)
    return Scale({**by.weight, **{term: EVERYWHERE + rarity * tells for term, tells in told.items()}})


def near(
    task: str,
    situation: str,
    episodes: Sequence[Episode],
    *,
    by: Scale | None = None,
) -> list[Near]:
    """Return the past tasks that are like this one, most alike first.

    The same declared situation is the same task; else words decide.
    """
    by = by or scale(task, episodes)
    likeness = by.alike_to(task, (episode.task for episode in episodes))
    found = []
    for episode in episodes:
        if situation and folded(situation) == folded(episode.situation):
            found.append((episode, 1.0))
        elif (alike := likeness[episode.task]) >= LEAST:
            found.append((episode, alike))
    best = max((alike for _, alike in found), default=0.0)
    weighed = [Near(episode, alike, math.exp(-(best - alike) / SPREAD)) for episode, alike in found]
    return sorted((one for one in weighed if one.weight >= DROPPED), key=lambda one: -one.similarity)

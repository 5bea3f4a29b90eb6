"""Entries in nearly the same words: which of two a task is for, and whose task it was that one of them failed on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Terms = frozenset[str]
# Two entries say nearly the same of a task when they share so much of what either has of it.
SHARED = 0.1


@dataclass(frozen=True, slots=True)
class Tried:
    """What an entry says, and the tasks it did well and badly on."""

    says: Terms
    won: tuple[Terms, ...] = ()
    lost: tuple[Terms, ...] = ()


def lead(one: Terms, other: Terms, task: Terms, weight: Mapping[str, float]) -> float:
    """Return by how much one of two entries in nearly the same words fits a task better; 0 if they are no twins."""
    mine, theirs = one & task, other & task
    common, ahead, behind = (_mass(part, weight) for part in (mine & theirs, mine - theirs, theirs - mine))
    return ahead - behind if common > SHARED * (common + ahead + behind) else 0.0


def _mass(found: Terms, weight: Mapping[str, float]) -> float:
    return sum(weight.get(term, 0.0) ** 2 for term in found)


def is_meant(one: Tried, other: Tried, task: Terms, weight: Mapping[str, float]) -> bool:
    """Tell whether a task is for `one` rather than for `other`, and nothing that befell them says otherwise."""
    if lead(one.says, other.says, task, weight) <= 0:
        return False
    telling = (one.says & task) - other.says
    return not any(telling & won for won in other.won) and not any(telling & lost for lost in one.lost)


def was_not_meant(one: Tried, others: Sequence[Tried], task: Terms, weight: Mapping[str, float]) -> bool:
    """Tell whether every task that an entry failed on was for another in nearly the same words, and this one is not.

    What resolved such a task does not count: it may have been written from it, and so fits it.
    """
    return bool(one.lost) and all(
        any(
            lost not in other.won
            and lead(other.says, one.says, lost, weight) > 0
            and lead(one.says, other.says, task, weight) > 0
            for other in others
        )
        for lost in one.lost
    )


def ordered(
    scores: Mapping[int, float], tried: Mapping[int, Tried], task: Terms, weight: Mapping[str, float]
) -> tuple[dict[int, float], dict[int, int]]:
    """Return scores in which no entry stands below one in nearly the same words that fits the task less, and who
    stands below whom for that."""
    now, below = dict(scores), {}
    for one, other in _pairs(tried, now):
        if now[one] < now[other] and is_meant(tried[one], tried[other], task, weight):
            now[one], now[other] = now[other], now[one]
            below[other] = one
    return now, below


def _pairs(tried: Mapping[int, Tried], scores: Mapping[int, float]) -> Iterator[tuple[int, int]]:
    best = sorted((entry_id for entry_id in tried if entry_id in scores), key=lambda entry_id: -scores[entry_id])
    return ((one, other) for one in best for other in best if one != other)

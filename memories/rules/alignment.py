"""Where two sequences differ, at bounded cost."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

# Steps the exact search may take in all, the share of what is left that one stretch may take, the edits it looks for.
_STEPS = 300_000
_SHARE = 3
_EDITS = 600
# Longer stretches are not searched for landmarks. A landmark is an element, else a run of so many, that occurs once.
_SEARCHED = 150_000
_RUNS = (1, 6)


class Block(NamedTuple):
    """A stretch in which the sequences differ: old[old_start:old_end] became new[new_start:new_end]."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class _Budget:
    """The steps that are left."""

    def __init__(self, steps: int) -> None:
        self.left = steps


def align(old: Sequence[Hashable], new: Sequence[Hashable], *, steps: int = _STEPS) -> list[Block]:
    """Return the blocks in which two sequences differ, in order; what lies between them is equal.

    As few elements as possible differ, as long as that is found within the steps (Myers, 1986). A stretch where it is
    not is divided at what occurs once on each side (patience diff), and what is then still too much is one block.
    """
    return list(_merged(_within(old, new, Block(0, len(old), 0, len(new)), _Budget(steps))))


def _within(old: Sequence[Hashable], new: Sequence[Hashable], whole: Block, budget: _Budget) -> Iterator[Block]:
    block = _trimmed(old, new, whole)
    found = _shortest(old, new, block, budget)
    if found is not None:
        yield from found
        return
    for gap in _gaps(old, new, block):
        inner = _trimmed(old, new, gap)
        yield from _shortest(old, new, inner, budget) or [inner]


def _trimmed(old: Sequence[Hashable], new: Sequence[Hashable], block: Block) -> Block:
    """Return the block without what is equal at its ends."""
    a, a_end, b, b_end = block
    while a < a_end and b < b_end and old[a] == new[b]:
        a, b = a + 1, b + 1
    while a < a_end and b < b_end and old[a_end - 1] == new[b_end - 1]:
        a_end, b_end = a_end - 1, b_end - 1
    return Block(a, a_end, b, b_end)


def _shortest(old: Sequence[Hashable], new: Sequence[Hashable], block: Block, budget: _Budget) -> list[Block] | None:
    """Return the shortest edit of a block, None when it is not found within the budget."""
    a, a_end, b, b_end = block
    size_a, size_b = a_end - a, b_end - b
    if size_a == 0 or size_b == 0:
        return [block]
    floor = budget.left - budget.left // _SHARE
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(size_a + size_b, _EDITS) + 1):
        trail.append(reach.copy())
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
            x = reach[k + 1] if down else reach[k - 1] + 1
            start = x
            while x < size_a and x - k < size_b and old[a + x] == new[b + x - k]:
                x += 1
            reach[k] = x
            budget.left -= 1 + x - start
            if x >= size_a and x - k >= size_b:
                return _walked_back(trail, block)
        # The copies cost as much as the search.
        budget.left -= edits
        if budget.left <= floor:
            return None
    return None


def _walked_back(trail: list[dict[int, int]], block: Block) -> list[Block]:
    """Return the single edits that led to the end of a block, in order."""
    x, y = block.old_end - block.old_start, block.new_end - block.new_start
    edits: list[Block] = []
    for steps in range(len(trail) - 1, 0, -1):
        reach, k = trail[steps], x - y
        down = k == -steps or (k != steps and reach[k - 1] < reach[k + 1])
        before = k + 1 if down else k - 1
        x = reach[before]
        y = x - before
        at, to = block.old_start + x, block.new_start + y
        edits.append(Block(at, at, to, to + 1) if down else Block(at, at + 1, to, to))
    return edits[::-1]


def _gaps(old: Sequence[Hashable], new: Sequence[Hashable], block: Block) -> Iterator[Block]:
    """Yield what lies between the elements that occur once on each side and keep their order."""
    a, b = block.old_start, block.new_start
    for old_at, new_at in _anchors(old, new, block):
        yield Block(a, old_at, b, new_at)
        a, b = old_at + 1, new_at + 1
    yield Block(a, block.old_end, b, block.new_end)


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable], block: Block) -> list[tuple[int, int]]:
    """Return where landmarks stand on both sides, those that keep their order."""
    a, a_end, b, b_end = block
    if a_end - a + b_end - b > _SEARCHED:
        return []
    for length in _RUNS:
        ours, theirs = _once(old, a, a_end, length), _once(new, b, b_end, length)
        pairs = [(at, theirs[run]) for run, at in ours.items() if run in theirs]
        if pairs:
            return _rising(pairs)
    return []


def _once(sequence: Sequence[Hashable], start: int, end: int, length: int) -> dict[Hashable, int]:
    """Return the runs of a length that occur once in sequence[start:end], with their places, in order."""
    runs = [*zip(*(sequence[start + i : end] for i in range(length)), strict=False)]
    counts = Counter(runs)
    return {run: start + i for i, run in enumerate(runs) if counts[run] == 1}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest run of pairs, in order, whose second members rise."""
    tops: list[int] = []
    last: list[int] = []
    previous: list[int | None] = []
    for i, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        previous.append(last[pile - 1] if pile else None)
        tops[pile : pile + 1] = [place]
        last[pile : pile + 1] = [i]
    chain: list[tuple[int, int]] = []
    at = last[-1] if last else None
    while at is not None:
        chain.append(pairs[at])
        at = previous[at]
    return chain[::-1]


def _merged(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield blocks with those that touch made one, and without empty ones."""
    held: Block | None = None
    for block in blocks:
        if block.old_start == block.old_end and block.new_start == block.new_end:
            continue
        if held is not None and (held.old_end, held.new_end) == (block.old_start, block.new_start):
            held = Block(held.old_start, block.old_end, held.new_start, block.new_end)
            continue
        if held is not None:
            yield held
        held = block
    if held is not None:
        yield held

"""The tree of entities beside the list: folded by the server, so that it works without script and stays small."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from memories.figures import Place, Totals, tree

# Above this many places only the way to the chosen one is unfolded, the rest a link away.
MOST_PLACES = 300
MOST_SIBLINGS = 200


@dataclass(frozen=True, slots=True)
class Twig:
    """A line of the tree. `opens` starts a nested list after it; `closes` lists end with it."""

    place: Place
    is_current: bool
    is_open: bool
    opens: bool
    has_more: bool
    closes: range


@dataclass(frozen=True, slots=True)
class Tree:
    """The lines in order, how many entries there are in all, and how many places were left out at the top."""

    twigs: list[Twig]
    entries: int
    left_out: int


def of(paths: dict[str, Totals], chosen: str | None) -> Tree:
    """Return the tree of an account's paths with the chosen one in sight."""
    places = tree(paths)
    parents = {place.path.rpartition("/")[0] for place in places if place.depth}
    entries = sum(place.own for place in places)
    on_the_way = set(ways(chosen or ""))
    shown = list(places) if len(places) <= MOST_PLACES else list(unfolded(places, on_the_way))
    left_out = sum(place.depth == 0 for place in places) - sum(place.depth == 0 for place in shown)
    twigs = []
    for place, after in zip_longest(shown, shown[1:]):
        opens = after is not None and after.depth > place.depth
        ends = place.depth - (after.depth if after else 0)
        is_open = place.path in on_the_way or len(places) <= MOST_SIBLINGS // 5
        has_more = place.path in parents and not opens
        twigs.append(Twig(place, place.path == chosen, is_open, opens, has_more, range(max(0, ends))))
    return Tree(twigs, entries, left_out)


def ways(path: str) -> Iterable[str]:
    """Yield a path and every path above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def unfolded(places: Iterable[Place], on_the_way: set[str]) -> Iterable[Place]:
    """Yield top places and those right below the way to the chosen one, of each family only so many."""
    seen: dict[str, int] = {}
    for place in places:
        parent = place.path.rpartition("/")[0]
        if place.depth and parent not in on_the_way:
            continue
        seen[parent] = seen.get(parent, 0) + 1
        if seen[parent] <= MOST_SIBLINGS or place.path in on_the_way:
            yield place

"""The tree of entities beside the list: folded by the server, so that it works without script and stays small."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from memories.figures import Totals

# Above this many places only the way to the chosen one is unfolded, the rest a link away.
MOST_PLACES = 300
MOST_SIBLINGS = 200
# A tree this small needs no folding at all.
OPEN_PLACES = 40


@dataclass(frozen=True, slots=True)
class Place:
    """A path, or one above a path, and how many entries lie at it and below it."""

    path: str
    entries: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def depth(self) -> int:
        return self.path.count("/")

    @property
    def parent(self) -> str:
        return self.path.rpartition("/")[0]


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
    places = places_of(paths)
    parents = {place.parent for place in places if place.depth}
    on_the_way = set(ways(chosen or ""))
    shown = places if len(places) <= MOST_PLACES else list(unfolded(places, on_the_way))
    twigs = []
    for place, after in zip_longest(shown, shown[1:]):
        opens = after is not None and after.depth > place.depth
        ends = place.depth - (after.depth if after else 0)
        is_open = place.path in on_the_way or len(places) <= OPEN_PLACES
        has_more = place.path in parents and not opens
        twigs.append(Twig(place, place.path == chosen, is_open, opens, has_more, range(max(0, ends))))
    left_out = sum(not place.depth for place in places) - sum(not place.depth for place in shown)
    return Tree(twigs, sum(sums.entries for sums in paths.values()), left_out)


def places_of(paths: dict[str, Totals]) -> list[Place]:
    """Return every path and every path above one, in the order of a tree."""
    below: dict[str, int] = {}
    for path, sums in paths.items():
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            above = "/".join(parts[:depth])
            below[above] = below.get(above, 0) + sums.entries
    return [Place(path, below[path]) for path in sorted(below, key=lambda path: path.split("/"))]


def ways(path: str) -> Iterable[str]:
    """Yield a path and every path above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def unfolded(places: Iterable[Place], on_the_way: set[str]) -> Iterable[Place]:
    """Yield top places and those right below the way to the chosen one, of each family only so many."""
    seen: dict[str, int] = {}
    for place in places:
        if place.depth and place.parent not in on_the_way:
            continue
        seen[place.parent] = seen.get(place.parent, 0) + 1
        if seen[place.parent] <= MOST_SIBLINGS or place.path in on_the_way:
            yield place

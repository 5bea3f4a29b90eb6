"""The tree of entities beside the list: folded by the server, so that it works without script and stays small."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from memories.figures import Totals
from memories.places import SIBLINGS, WHOLE, Level, Places, above

# Above this many places only the way to the chosen one is unfolded, the rest a link away.
MOST_PLACES = WHOLE
MOST_SIBLINGS = SIBLINGS
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


def of(where: Places, chosen: str | None) -> Tree:
    """Return the tree of an account's paths with the chosen one in sight."""
    if where.levels is not None:
        return of_levels(where, where.levels, chosen)
    places = places_of(where.paths)
    parents = {place.parent for place in places if place.depth}
    on_the_way = set(above(chosen or ""))
    shown = places if len(places) <= MOST_PLACES else list(unfolded(places, on_the_way))
    open_ones = parents if len(places) <= OPEN_PLACES else on_the_way
    left_out = sum(not place.depth for place in places) - sum(not place.depth for place in shown)
    return Tree(list(twigs(shown, parents, open_ones, chosen)), where.entries, left_out)


def of_levels(where: Places, levels: dict[str, Level], chosen: str | None) -> Tree:
    """Return the tree of an account with too many paths to read them all."""
    shown, parents = [], set()

    def grow(parent: str) -> None:
        for child in levels[parent].children:
            path = f"{parent}/{child.name}" if parent else child.name
            shown.append(Place(path, child.entries))
            if child.has_more:
                parents.add(path)
            # A path may begin with a slash: the place before it has no name, as the root has none.
            if path in levels and path:
                grow(path)

    grow("")
    left_out = levels[""].count - sum(not place.depth for place in shown)
    return Tree(list(twigs(shown, parents, set(above(chosen or "")), chosen)), where.entries, left_out)


def twigs(shown: list[Place], parents: set[str], open_ones: set[str], chosen: str | None) -> Iterable[Twig]:
    """Yield the lines of some places; `parents` have places below them, shown or not."""
    for place, after in zip_longest(shown, shown[1:]):
        opens = after is not None and after.depth > place.depth
        ends = place.depth - (after.depth if after else 0)
        has_more = place.path in parents and not opens
        yield Twig(place, place.path == chosen, place.path in open_ones, opens, has_more, range(max(0, ends)))


def places_of(paths: dict[str, Totals]) -> list[Place]:
    """Return every path and every path above one, in the order of a tree."""
    below: dict[str, int] = {}
    for path, sums in paths.items():
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            above = "/".join(parts[:depth])
            below[above] = below.get(above, 0) + sums.entries
    return [Place(path, below[path]) for path in sorted(below, key=lambda path: path.split("/"))]


def unfolded(places: Iterable[Place], on_the_way: set[str]) -> Iterable[Place]:
    """Yield top places and those right below the way to the chosen one, of each family only so many."""
    seen: dict[str, int] = {}
    for place in places:
        if place.depth and place.parent not in on_the_way:
            continue
        seen[place.parent] = seen.get(place.parent, 0) + 1
        if seen[place.parent] <= MOST_SIBLINGS or place.path in on_the_way:
            yield place

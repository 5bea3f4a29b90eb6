"""Where entries lie: all paths of a small account, of a large one the level of each path above the chosen one.

Folded sums by level are kept in the process until they are folded anew, as summing the paths of a million entries takes
a third of a second; what writes added since is added on top.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memories import figures, tallies
from memories.figures import Totals
from memories.tallies import MARK, Shelf
from memories.viewers import Viewer
from senselab import pipeline

# With more paths than these a tree is read level by level, of each level so many, down to so many levels.
WHOLE, SIBLINGS, LEVELS = 300, 200, 8
LEVEL = f"""
    SELECT {MARK}, c.level, c.name, c.entries, c.more, c.count FROM (
        SELECT g.*, row_number() OVER (PARTITION BY g.level ORDER BY g.name) AS place,
               count(*) OVER (PARTITION BY g.level) AS count
          FROM (SELECT l.level, split_part(substr(s.entity_path, l.skipped), '/', 1) AS name, l.way,
                       sum(s.entries)::bigint AS entries,
                       bool_or(strpos(substr(s.entity_path, l.skipped), '/') > 0) AS more
                  FROM unnest(%(levels)s::text[], %(skipped)s::int[], %(below)s::text[], %(beyond)s::text[],
                              %(ways)s::text[]) AS l(level, skipped, below, beyond, way)
                  JOIN memories_counter s ON {{where}} AND s.entity_path >= l.below
                                         AND (l.beyond = '' OR s.entity_path < l.beyond)
                 GROUP BY l.level, l.way, 2
                HAVING sum(s.entries) > 0 OR sum(s.archived) > 0 OR sum(s.superseded) > 0) g) c
     WHERE c.place <= {SIBLINGS} OR c.name = c.way ORDER BY c.level, c.place
"""
ADDED = f"""
    SELECT {MARK}, (SELECT array_agg(d.entity_path) FROM d), (SELECT array_agg(d.entries) FROM d)
"""
DELTAS = """
    WITH d AS (SELECT s.entity_path, sum(s.entries)::bigint AS entries FROM memories_counterdelta s
                WHERE {where} AND s.recalls = 0 GROUP BY s.entity_path HAVING sum(s.entries) <> 0)
"""


@dataclass(frozen=True, slots=True)
class Child:
    """A place right below another: how many entries lie at it and below it, and whether places lie below it."""

    name: str
    entries: int
    has_more: bool


@dataclass(frozen=True, slots=True)
class Level:
    """The first places right below a path, in order, with the one on the way; `count` of them there are."""

    children: tuple[Child, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class Places:
    """Where the entries of an account lie: by path, or by the path above (`levels`) where there are many."""

    entries: int
    is_empty: bool
    paths: dict[str, Totals]
    levels: dict[str, Level] | None = None


_levels = Shelf(512)


def of(viewer: Viewer, branch: str = "main", chosen: str = "") -> Places:
    """Return where the entries of a branch lie, with the chosen path and those above it in sight."""
    tally = tallies.of(viewer, branch, recalls=False)
    entries, is_empty = tally.total.entries, tally.total == Totals()
    if tally.health.entities <= WHOLE:
        return Places(entries, is_empty, figures.by_path(viewer, branch))
    return Places(entries, is_empty, {}, levels(viewer, branch, chosen))


def above(path: str) -> Iterator[str]:
    """Yield a path and every path above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def levels(viewer: Viewer, branch: str, chosen: str) -> dict[str, Level]:
    """Return what lies right below the root, the chosen path and those above it; two statements, or one."""
    values: dict[str, Any] = {**viewer.parameters, "branch": branch}
    where = figures.where(viewer)
    ways = ["", *reversed(list(above(chosen)))]
    steps = dict(zip(ways[:LEVELS], [*ways[1:], ""], strict=False))
    keys = {parent: (viewer.account_id, viewer.agent_id, viewer.sees_all, viewer.reaches, branch, parent, way)
            for parent, way in steps.items()}  # fmt: skip
    while True:
        (((mark, paths, counts),),) = pipeline.fetch((DELTAS.format(where=where) + ADDED, values))
        kept = {parent: _levels.get(key) for parent, key in keys.items()}
        missing = [parent for parent, one in kept.items() if one is None or one[0] != mark]
        if not missing:
            added = dict(zip(paths or (), counts or (), strict=True))
            return {parent: with_added(one[1], parent, added) for parent, one in kept.items()}
        for parent, found in _read(where, values, {parent: steps[parent] for parent in missing}).items():
            _levels.put(keys[parent], found)


def _read(where: str, values: dict[str, Any], steps: dict[str, str]) -> dict[str, tuple[UUID | None, Level]]:
    parents = list(steps)
    asked = {
        "levels": parents,
        "skipped": [len(parent) + 2 if parent else 1 for parent in parents],
        "below": [f"{parent}/" if parent else "" for parent in parents],
        # '0' is the character after '/': every path that begins with "parent/", down the index.
        "beyond": [f"{parent}0" if parent else "" for parent in parents],
        "ways": [way.rpartition("/")[2] for way in steps.values()],
    }
    (rows, ((mark,),)) = pipeline.fetch((LEVEL.format(where=where), {**values, **asked}), (f"SELECT {MARK}", values))
    found: dict[str, list[tuple[Any, ...]]] = {parent: [] for parent in parents}
    for row in rows:
        found[row[1]].append(row)
    return {
        # Folded between the two statements: the next look at the mark finds out.
        parent: (
            of_level[0][0] if of_level else mark,
            Level(tuple(Child(*row[2:5]) for row in of_level), of_level[0][5] if of_level else 0),
        )
        for parent, of_level in found.items()
    }


def with_added(level: Level, parent: str, added: dict[str, int]) -> Level:
    """Return a level with what writes added to paths since it was read."""
    children = {child.name: child for child in level.children}
    prefix, last, count = f"{parent}/" if parent else "", level.children[-1].name if level.children else "", level.count
    for path, entries in added.items():
        if not path.startswith(prefix):
            continue
        name, slash, _ = path.removeprefix(prefix).partition("/")
        old = children.get(name)
        if old is not None:
            children[name] = Child(name, old.entries + entries, old.has_more or bool(slash))
        elif level.count < SIBLINGS or name < last:
            children[name] = Child(name, entries, bool(slash))
            count += 1
    return Level(tuple(children[name] for name in sorted(children)), count)

"""Which entries names stand for, many at once; what the viewer may not see does not exist."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from memories import rows
from memories.rows import Row
from memories.viewers import Viewer

# The viewer's own private entry first, else the shared one; of an entry key with several slashes, the shortest key.
RESOLVED = """
    SELECT DISTINCT ON (g.place) g.place, e.id
      FROM unnest(%(places)s::int[], %(branches)s::text[], %(paths)s::text[], %(keys)s::text[])
            AS g(place, branch, path, key)
      JOIN memories_entry e ON {visible} AND e.branch = g.branch AND e.entity_path = g.path AND e.key = g.key
     ORDER BY g.place, e.owner {first}, length(e.key)
"""


def resolve(viewer: Viewer, named: Sequence[tuple[str, str, str]]) -> list[int | None]:
    """Return the id of the entry each (branch, path, key) stands for, None where there is none."""
    found = _resolve(viewer, [(place, *name) for place, name in enumerate(named)])
    return [found.get(place) for place in range(len(named))]


def resolve_keys(viewer: Viewer, branch: str, entry_keys: Sequence[str]) -> list[int | None]:
    """Return the id of the entry each entry key stands for, looked up at every slash, as keys may hold some."""
    splits = [
        (place, branch, key[:at], key[at + 1 :])
        for place, key in enumerate(entry_keys)
        for at, letter in enumerate(key)
        if letter == "/"
    ]
    found = _resolve(viewer, splits)
    return [found.get(place) for place in range(len(entry_keys))]


def by_entry_key(viewer: Viewer, branch: str, entry_key: str) -> Row | None:
    (entry_id,) = resolve_keys(viewer, branch, [entry_key])
    if entry_id is None:
        return None
    values = {**viewer.parameters, "id": entry_id}
    (row,) = rows.select(f"{rows.HEADS} WHERE {viewer.visible()} AND e.id = %(id)s", values)
    return row


def _resolve(viewer: Viewer, named: Sequence[tuple[int, str, str, str]]) -> dict[int, int]:
    if not named:
        return {}
    places, branches, paths, keys = (list(column) for column in zip(*named, strict=True))
    values: dict[str, Any] = {
        **viewer.parameters,
        "places": places,
        "branches": branches,
        "paths": paths,
        "keys": keys,
    }
    # People see all private entries, and mean the shared one unless they say otherwise.
    sql = RESOLVED.format(visible=viewer.visible(), first="ASC" if viewer.sees_all else "DESC")
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return dict(cursor.fetchall())

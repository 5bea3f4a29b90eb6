"""What of the names that agents told must not be told on: those of other agents' private entries (RULES.md 8).

Traces, events and edges name entries by words alone. What an agent said of its own private entry is hidden, where a
shared one has the same name as well. What anybody else names is a guess: it is told or not whether something stands
behind it or nothing does, or else guessing would find out.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection

from memories.viewers import Viewer

PRIVATE = """
    SELECT e.owner, e.entity_path || '/' || e.key,
           EXISTS (SELECT 1 FROM memories_entry s
                    WHERE s.account_id = e.account_id AND s.branch = e.branch AND s.entity_path = e.entity_path
                      AND s.key = e.key AND s.owner = ANY(%(owners)s))
      FROM memories_entry e
     WHERE e.account_id = %(account)s AND e.owner <> '' AND NOT e.owner = ANY(%(owners)s)
       AND (e.entity_path, e.key) IN (SELECT * FROM unnest(%(paths)s::text[], %(keys)s::text[]))
"""
# Of the paths named, those that stand for nothing but somebody else's private entries.
PATHS = """
    SELECT e.entity_path, array_agg(DISTINCT e.owner) FROM memories_entry e
     WHERE e.account_id = %(account)s AND e.entity_path = ANY(%(paths)s)
     GROUP BY e.entity_path HAVING bool_and(NOT e.owner = ANY(%(owners)s))
"""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Entry keys that stand for nothing the viewer may see, those that are private to one agent, and such paths;
    `beyond` are keys and paths beyond the globs of the viewer's key."""

    keys: frozenset[str] = frozenset()
    of_agents: frozenset[tuple[str, str]] = frozenset()
    paths_of: frozenset[tuple[str, str]] = frozenset()
    beyond: frozenset[str] = frozenset()

    def hides(self, agent_id: str, entry_key: str) -> bool:
        """Tell whether what an agent said of an entry is kept back."""
        return entry_key in self.beyond or (agent_id, entry_key) in self.of_agents

    def hides_name(self, agent_id: str, entry_key: str) -> bool:
        """Tell whether a name alone is kept back, which also stands for a shared entry where there is one."""
        return entry_key in self.keys and self.hides(agent_id, entry_key)

    def hides_path(self, agent_id: str, entity_path: str) -> bool:
        """Tell whether the path of something that an agent told is kept back."""
        return entity_path in self.beyond or (agent_id, entity_path) in self.paths_of

    def relied_on(self, agent_id: str, entry_keys: Iterable[str]) -> bool:
        """Tell whether an agent that named these keys relied on what is hidden, and its words may repeat that.

        Whose private entry it is alone can have: from anybody else the name is but a guess, and tells nothing.
        """
        return any((agent_id, key) in self.of_agents or key in self.beyond for key in entry_keys)


NOTHING = Hidden()


def hidden(viewer: Viewer, keys: Iterable[str], paths: Iterable[str] = ()) -> Hidden:
    """Return what of some entry keys and paths is hidden from the viewer: two statements, none for a person."""
    if viewer.sees_all:
        return NOTHING
    keys = list(keys)
    splits = [(key[:at], key[at + 1 :]) for key in dict.fromkeys(keys) for at in range(len(key)) if key[at] == "/"]
    found: list[tuple[str, str, bool]] = []
    if splits:
        values = {**viewer.parameters, "paths": [path for path, _ in splits], "keys": [key for _, key in splits]}
        with connection.cursor() as cursor:
            cursor.execute(PRIVATE, values)
            found = cursor.fetchall()
    beyond = {key for key in keys if not viewer.reaches_key(key)} if viewer.reaches else set()
    paths = list(dict.fromkeys(paths))
    outside = {path for path in paths if not viewer.reaches_path(path)} if viewer.reaches else set()
    return Hidden(
        keys=frozenset({key for _, key, seen in found if not seen} | beyond),
        of_agents=frozenset((owner, key) for owner, key, _ in found),
        paths_of=frozenset((owner, path) for path, owners in _private(viewer, paths).items() for owner in owners),
        beyond=frozenset(beyond | outside),
    )


def silent_at(viewer: Viewer, entity_path: str) -> list[str] | None:
    """Return whose tales about a path are kept back: of those who alone have entries there; None: everybody's."""
    if viewer.sees_all:
        return []
    return _private(viewer, [entity_path]).get(entity_path, []) if viewer.reaches_path(entity_path) else None


def _private(viewer: Viewer, paths: list[str]) -> dict[str, list[str]]:
    """Return paths under which there is something, and nothing the viewer may see, with whose it is."""
    if not paths:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(PATHS, {**viewer.parameters, "paths": list(dict.fromkeys(paths))})
        return dict(cursor.fetchall())

"""What of the names that agents told must not be told on: those of other agents' private entries (RULES.md 8).

Traces, events and edges name entries by words alone. A name is hidden when nothing but somebody else's private entry
stands behind it; what an agent said of its own private entry is hidden as well where a shared one has the same name.
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
    SELECT e.entity_path FROM memories_entry e
     WHERE e.account_id = %(account)s AND e.entity_path = ANY(%(paths)s)
     GROUP BY e.entity_path HAVING bool_and(NOT e.owner = ANY(%(owners)s))
"""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Entry keys that stand for nothing the viewer may see (`beyond`: of these, those beyond the globs of its key),
    those that are private to one agent, and such paths."""

    keys: frozenset[str] = frozenset()
    of_agents: frozenset[tuple[str, str]] = frozenset()
    paths: frozenset[str] = frozenset()
    beyond: frozenset[str] = frozenset()

    def hides(self, agent_id: str, entry_key: str) -> bool:
        """Tell whether what an agent said of an entry is kept back."""
        return entry_key in self.keys or (agent_id, entry_key) in self.of_agents

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
    return Hidden(
        keys=frozenset({key for _, key, seen in found if not seen} | beyond),
        of_agents=frozenset((owner, key) for owner, key, _ in found),
        paths=frozenset(hidden_paths(viewer, list(paths))),
        beyond=frozenset(beyond),
    )


def hidden_paths(viewer: Viewer, paths: list[str]) -> set[str]:
    """Return those of the paths under which there is something, and nothing the viewer may see."""
    if not paths or viewer.sees_all:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(PATHS, {**viewer.parameters, "paths": list(dict.fromkeys(paths))})
        private = {path for (path,) in cursor.fetchall()}
    return private | {path for path in paths if not viewer.reaches_path(path)} if viewer.reaches else private

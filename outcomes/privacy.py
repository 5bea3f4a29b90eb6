"""What of the names that agents told must not be told on: those of other agents' private entries (RULES.md 8).

Traces, events and edges name entries by words alone. A name is hidden when nothing but somebody else's private entry
stands behind it; what an agent said of its own private entry is hidden as well where a shared one has the same name.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import connection

from memories.viewers import Viewer
from outcomes.querysets import hidden_paths

PRIVATE = """
    SELECT e.owner, e.entity_path || '/' || e.key,
           EXISTS (SELECT 1 FROM memories_entry s
                    WHERE s.account_id = e.account_id AND s.branch = e.branch AND s.entity_path = e.entity_path
                      AND s.key = e.key AND s.owner = ANY(%(owners)s))
      FROM memories_entry e
     WHERE e.account_id = %(account)s AND e.owner <> '' AND NOT e.owner = ANY(%(owners)s)
       AND (e.entity_path, e.key) IN (SELECT * FROM unnest(%(paths)s::text[], %(keys)s::text[]))
"""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Entry keys that stand for nothing the viewer may see, those that are private to one agent, and such paths."""

    keys: frozenset[str] = frozenset()
    of_agents: frozenset[tuple[str, str]] = frozenset()
    paths: frozenset[str] = field(default=frozenset())

    def hides(self, agent_id: str, entry_key: str) -> bool:
        """Tell whether what an agent said of an entry is kept back."""
        return entry_key in self.keys or (agent_id, entry_key) in self.of_agents


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
    )

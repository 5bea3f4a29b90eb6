"""Every read of outcomes; of what they relied on only what the viewer may see is told."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self, cast

from django.db import connection, models

from memories.viewers import Viewer

FIELDS = (
    "outcome_ref", "outcome_type", "causal_confidence", "committed_at", "causal_entry_keys", "causal_entry_versions",
    "agent_id", "attempts", "final_action_index", "actions_taken", "entity_paths", "situation", "covariates",
    "task_input", "response_text", "tool_calls", "session_metadata", "trace_follows",
)  # fmt: skip
# Of the keys named, those that are nobody else's private entry, or are shared as well.
HIDDEN = """
    SELECT DISTINCT e.entity_path || '/' || e.key FROM memories_entry e
     WHERE e.account_id = %(account)s AND e.owner <> '' AND NOT e.owner = ANY(%(owners)s)
       AND (e.entity_path, e.key) IN (SELECT * FROM unnest(%(paths)s::text[], %(keys)s::text[]))
       AND NOT EXISTS (SELECT 1 FROM memories_entry s
                        WHERE s.account_id = e.account_id AND s.branch = e.branch AND s.entity_path = e.entity_path
                          AND s.key = e.key AND s.owner = ANY(%(owners)s))
"""


# Of the paths named, those that stand for nothing but somebody else's private entries.
HIDDEN_PATHS = """
    SELECT e.entity_path FROM memories_entry e
     WHERE e.account_id = %(account)s AND e.entity_path = ANY(%(paths)s)
     GROUP BY e.entity_path HAVING bool_and(NOT e.owner = ANY(%(owners)s))
"""
NAMES_NOTHING_BEYOND = """
    (cardinality(causal_entry_keys || entity_paths) = 0
     OR EXISTS (SELECT 1 FROM unnest(causal_entry_keys || entity_paths) AS named(name) WHERE named.name ~ %s))
"""


def within(viewer: Viewer) -> tuple[str, dict[str, str]]:
    """Return, for a key with globs, the rest of a condition on outcomes o, and what it binds; see `Outcomes.within`."""
    bound = {f"named_{n}": reach.entry_key_pattern for n, reach in enumerate(viewer.reaches)}
    return "".join(f" AND {NAMES_NOTHING_BEYOND.replace('%s', f'%({name})s')}" for name in bound), bound


class Outcomes(models.QuerySet[Any]):
    def of(self, account_id: int) -> Self:
        return self.filter(account_id=account_id)

    def by_ids(self, viewer: Viewer, ids: Sequence[int]) -> Self:
        return self.of(viewer.account_id).filter(pk__in=ids)

    def within(self, viewer: Viewer) -> Self:
        """Leave out, for a key with globs, what names something and nothing within them."""
        found: Any = self
        for reach in viewer.reaches:
            found = found.extra(where=[NAMES_NOTHING_BEYOND], params=[reach.entry_key_pattern])
        return cast("Self", found)

    def told(
        self,
        viewer: Viewer,
        *,
        entity_path: str = "",
        outcome_ref: str = "",
        agent_id: str = "",
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[dict[str, Any]]:
        """Return outcomes as contract.md 1.5 describes them, newest first."""
        asked = self.of(viewer.account_id).within(viewer)
        if entity_path:
            if hidden_paths(viewer, [entity_path]):
                return []
            asked = asked.filter(entity_paths__contains=[entity_path])
        if outcome_ref:
            asked = asked.filter(outcome_ref=outcome_ref)
        if agent_id:
            asked = asked.filter(agent_id=agent_id)
        if since:
            asked = asked.filter(committed_at__gte=since)
        found = list(asked.order_by("-committed_at", "-id").values(*FIELDS)[:limit])
        hidden = hidden_keys(viewer, [key for row in found for key in keys_of(row)])
        paths = hidden_paths(viewer, [path for row in found for path in row["entity_paths"]])
        return [without(row, hidden, paths) for row in found] if hidden or paths else found


def keys_of(row: dict[str, Any]) -> list[str]:
    tried = [key for attempt in row["attempts"] for key in attempt["causal_entry_keys"]]
    return [*row["causal_entry_keys"], *row["causal_entry_versions"], *tried]


def hidden_keys(viewer: Viewer, keys: list[str]) -> set[str]:
    """Return those of the keys that stand for somebody else's private entry and nothing else."""
    splits = [(key[:at], key[at + 1 :]) for key in dict.fromkeys(keys) for at in range(len(key)) if key[at] == "/"]
    if not splits or viewer.sees_all:
        return set()  # A key without a slash stands for nothing.
    paths, names = zip(*splits, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(HIDDEN, {**viewer.parameters, "paths": list(paths), "keys": list(names)})
        private = {key for (key,) in cursor.fetchall()}
    return private | {key for key in keys if not viewer.reaches_key(key)} if viewer.reaches else private


def hidden_paths(viewer: Viewer, paths: list[str]) -> set[str]:
    """Return those of the paths under which there is something, and nothing the viewer may see."""
    if not paths or viewer.sees_all:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(HIDDEN_PATHS, {**viewer.parameters, "paths": list(dict.fromkeys(paths))})
        private = {path for (path,) in cursor.fetchall()}
    return private | {path for path in paths if not viewer.reaches_path(path)} if viewer.reaches else private


def without(row: dict[str, Any], hidden: set[str], paths: set[str]) -> dict[str, Any]:
    """Return an outcome as if the hidden entries did not exist."""

    def seen(told: dict[str, Any]) -> dict[str, Any]:
        return {
            **told,
            "causal_entry_keys": [key for key in told["causal_entry_keys"] if key not in hidden],
            "causal_entry_versions": {k: v for k, v in told["causal_entry_versions"].items() if k not in hidden},
        }

    shown = [path for path in row["entity_paths"] if path not in paths]
    return {**seen(row), "attempts": [seen(attempt) for attempt in row["attempts"]], "entity_paths": shown}

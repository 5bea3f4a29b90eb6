"""Every read of outcomes; of what they relied on only what the viewer may see is told."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self, cast

from django.db import models

from memories.viewers import Viewer
from outcomes.querysets import privacy
from outcomes.querysets.privacy import Hidden

FIELDS = (
    "outcome_ref", "outcome_type", "causal_confidence", "committed_at", "causal_entry_keys", "causal_entry_versions",
    "agent_id", "attempts", "final_action_index", "actions_taken", "entity_paths", "situation", "covariates",
    "task_input", "response_text", "tool_calls", "session_metadata", "trace_follows",
)  # fmt: skip
# What an agent tells in its own words, and what stands there when it told nothing.
WORDS: dict[str, Any] = {
    "task_input": None,
    "response_text": None,
    "situation": None,
    "covariates": {},
    "actions_taken": [],
    "tool_calls": [],
    "session_metadata": None,
}
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
            silent = privacy.silent_at(viewer, entity_path)
            if silent is None:
                return []
            asked = asked.filter(entity_paths__contains=[entity_path]).exclude(agent_id__in=silent)
        if outcome_ref:
            asked = asked.filter(outcome_ref=outcome_ref)
        if agent_id:
            asked = asked.filter(agent_id=agent_id)
        if since:
            asked = asked.filter(committed_at__gte=since)
        found = list(asked.order_by("-committed_at", "-id").values(*FIELDS)[:limit])
        keys = [key for row in found for key in keys_of(row)]
        hidden = privacy.hidden(viewer, keys, [path for row in found for path in row["entity_paths"]])
        return found if hidden == privacy.NOTHING else [without(row, hidden) for row in found]


def keys_of(row: dict[str, Any]) -> list[str]:
    tried = [key for attempt in row["attempts"] for key in attempt["causal_entry_keys"]]
    return [*row["causal_entry_keys"], *row["causal_entry_versions"], *tried]


def without(row: dict[str, Any], hidden: Hidden) -> dict[str, Any]:
    """Return an outcome as if the hidden entries did not exist: neither their names nor words that may repeat them."""

    agent_id = row["agent_id"]

    def seen(told: dict[str, Any]) -> dict[str, Any]:
        versions = told["causal_entry_versions"]
        return {
            **told,
            "causal_entry_keys": [key for key in told["causal_entry_keys"] if not hidden.hides_name(agent_id, key)],
            "causal_entry_versions": {k: v for k, v in versions.items() if not hidden.hides_name(agent_id, k)},
        }

    shown = [path for path in row["entity_paths"] if not hidden.hides_path(agent_id, path)]
    told = {**seen(row), "attempts": [seen(attempt) for attempt in row["attempts"]], "entity_paths": shown}
    return unsaid(told) if hidden.relied_on(agent_id, keys_of(row)) else told


def unsaid(told: dict[str, Any]) -> dict[str, Any]:
    """Return what was told without what its agent said in its own words."""
    return {**told, **WORDS, "attempts": [{**attempt, "summary": None} for attempt in told["attempts"]]}

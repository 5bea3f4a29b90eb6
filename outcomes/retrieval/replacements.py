"""What took the place of an entry that failed: its successor, or what resolved the tasks it failed on."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memories.viewers import Viewer
from outcomes.retrieval.past import GOOD
from senselab.pipeline import Query

MOST = 3
NEWEST = 20
# For each entry its newest failures, and of these tasks what they relied on at last and what was done at last.
RESOLVED = f"""
    SELECT failed.entry_id, failed.at, o.actions_taken::json,
           (SELECT json_agg(e.entity_path || '/' || e.key ORDER BY e.id) FROM memories_effect s
              JOIN memories_entry e ON e.account_id = s.account_id AND e.id = s.entry_id
             WHERE s.account_id = %(account)s AND s.outcome_id = failed.outcome_id AND s.step = 0
               AND s.entry_id <> failed.entry_id AND {{visible}})
      FROM unnest(%(ids)s::bigint[]) AS asked(id),
           LATERAL (SELECT f.entry_id, f.outcome_id, f.at FROM memories_effect f
                     WHERE f.account_id = %(account)s AND f.entry_id = asked.id AND f.skipped = ''
                       AND NOT f.outcome_type = ANY(%(good)s)
                     ORDER BY f.at DESC LIMIT {NEWEST}) failed
      JOIN outcomes_outcome o ON o.account_id = %(account)s AND o.id = failed.outcome_id
     WHERE o.outcome_type = ANY(%(good)s)
     ORDER BY failed.at DESC
"""


@dataclass(slots=True)
class Replaced:
    """The entries that did what this one did not, newest first, and the action that last resolved such a task."""

    by: list[str] = field(default_factory=list)
    action: str | None = None


def query(viewer: Viewer, ids: Sequence[int]) -> Query:
    """Return the statement for what replaced these entries."""
    values = {**viewer.parameters, "ids": list(ids), "good": sorted(GOOD)}
    return RESOLVED.format(visible=viewer.visible()), values


def read(found: Sequence[Sequence[Any]], successors: dict[int, str]) -> dict[int, Replaced]:
    """Return what replaced each entry, from the rows of `query`; `successors` are the entries that superseded some."""
    told: dict[int, Replaced] = defaultdict(Replaced)
    for entry_id, successor in successors.items():
        told[entry_id].by.append(successor)
    for entry_id, _, actions, keys in found:
        replaced = told[entry_id]
        replaced.by += [key for key in keys or () if key not in replaced.by]
        del replaced.by[MOST:]
        if replaced.action is None:
            replaced.action = _resolving(actions)
    return dict(told)


def _resolving(actions: Sequence[Any]) -> str | None:
    last = [one for one in actions if isinstance(one, dict) and one.get("attempt") is None and one.get("success")]
    return str(last[-1]["action_key"]) if last and last[-1].get("action_key") else None

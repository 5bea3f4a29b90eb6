"""Reads behind learning, explanations and training data; what the viewer may not see is left out."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from django.db import connection

from memories.rules.kinds import SUCCESSES
from memories.viewers import Viewer
from outcomes.curve import Session, Shift
from outcomes.models import Outcome
from outcomes.querysets import keys_of, privacy, within

MOST = 5_000
GOOD = [str(word) for word in SUCCESSES]
SESSIONS = """
    SELECT o.committed_at, o.outcome_type = ANY(%(good)s), o.verified_by <> '', o.entity_paths
      FROM outcomes_outcome o
     WHERE o.account_id = %(account)s AND o.committed_at >= %(since)s AND NOT o.replayed{within}
       AND (%(agent)s::text IS NULL OR o.agent_id = %(agent)s)
       AND (%(path)s::text IS NULL
            OR (o.entity_paths @> ARRAY[%(path)s]::text[] AND o.agent_id <> ALL(%(silent)s::text[])) OR EXISTS (
            SELECT 1 FROM memories_effect f JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
             WHERE f.account_id = %(account)s AND f.outcome_id = o.id AND e.entity_path = %(path)s AND {visible}))
     ORDER BY o.committed_at DESC, o.id DESC LIMIT %(most)s
"""
SHIFTS = """
    SELECT e.entity_path, e.key, f.at
      FROM memories_effect f JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
     WHERE f.account_id = %(account)s AND {visible} AND f.at >= %(since)s AND f.before >= 0.5 AND f.after < 0.5
       AND (%(agent)s::text IS NULL OR f.agent_id = %(agent)s)
       AND (%(path)s::text IS NULL OR e.entity_path = %(path)s)
     ORDER BY f.at DESC LIMIT 100
"""
EFFECTS = """
    SELECT e.entity_path, e.key, coalesce(f.version_read, f.version_made), f.before, f.after, e.agent_id, e.memory_type,
           e.evidence_status, f.outcome_type
      FROM memories_effect f JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
     WHERE f.account_id = %(account)s AND {visible} AND f.outcome_id = %(id)s ORDER BY f.step, e.entity_path, e.key
"""
EXPORT = """
    SELECT o.task_input, o.response_text, o.outcome_type, o.outcome_ref, o.entity_paths, o.situation,
           o.outcome_type = ANY(%(good)s), o.committed_at, o.agent_id, o.causal_entry_keys,
           o.causal_entry_versions::text, o.attempts::text
      FROM outcomes_outcome o
     WHERE o.account_id = %(account)s AND NOT o.replayed AND o.task_input <> '' AND o.response_text <> ''
       AND (%(path)s::text IS NULL OR o.entity_paths @> ARRAY[%(path)s]::text[])
     ORDER BY o.committed_at DESC, o.id DESC LIMIT %(most)s
"""


def _rows(sql: str, viewer: Viewer, **values: Any) -> list[tuple[Any, ...]]:
    beyond, bound = within(viewer)
    with connection.cursor() as cursor:
        sql = sql.format(visible=viewer.visible(), within=beyond)
        cursor.execute(sql, {**viewer.parameters, **bound, "good": GOOD, **values})
        return cursor.fetchall()


def sessions(viewer: Viewer, since: datetime, *, agent: str | None, path: str | None) -> tuple[list[Session], bool]:
    """Return tasks that ended since a moment, oldest first, and whether there were more than 5,000."""
    silent = privacy.silent_at(viewer, path) if path else []
    if silent is None:
        return [], False
    found = _rows(SESSIONS, viewer, since=since, agent=agent, path=path, silent=silent, most=MOST + 1)
    told = [Session(at, success, verified, tuple(paths)) for at, success, verified, paths in found[:MOST]]
    return told[::-1], len(found) > MOST


def shifts(viewer: Viewer, since: datetime, *, agent: str | None, path: str | None) -> list[Shift]:
    """Return entries that were discredited since a moment, newest first, at most 100 times."""
    return [Shift(*row) for row in _rows(SHIFTS, viewer, since=since, agent=agent, path=path)]


def explained(viewer: Viewer, outcome_ref: str) -> tuple[Outcome, list[tuple[Any, ...]]] | None:
    """Return the newest outcome of a reference and what it did to entries the viewer may see."""
    outcome = (
        Outcome.objects.of(viewer.account_id).within(viewer).filter(outcome_ref=outcome_ref).order_by("-id").first()
    )
    return (outcome, _rows(EFFECTS, viewer, id=outcome.pk)) if outcome else None


def told_tasks(viewer: Viewer, *, path: str | None, most: int) -> list[dict[str, Any]]:
    """Return tasks with what was asked and answered, newest first, cleaned of what the viewer may not see."""
    names = ("prompt", "response", "outcome_type", "outcome_ref", "entity_paths", "situation", "success", "at")
    found = [
        {**dict(zip(names, row, strict=True)), "by": by, "keys": _keys(keys, versions, attempts)}
        for *row, by, keys, versions, attempts in _rows(EXPORT, viewer, path=path, most=most)
    ]
    keys, places = ([name for row in found for name in row[names]] for names in ("keys", "entity_paths"))
    hidden = privacy.hidden(viewer, keys, places)
    return [row for row in found if not _may_repeat(row, hidden)]


def _may_repeat(row: dict[str, Any], hidden: privacy.Hidden) -> bool:
    """Tell whether a task relied on what is hidden, and its words may repeat that."""
    named = any(hidden.hides_path(row["by"], place) for place in row["entity_paths"])
    return named or hidden.relied_on(row["by"], row["keys"])


def _keys(keys: list[str], versions: str, attempts: str) -> list[str]:
    """Return all that a task relied on, what failed attempts relied on as well."""
    known = {"causal_entry_versions": msgspec.json.decode(versions), "attempts": msgspec.json.decode(attempts)}
    return keys_of({"causal_entry_keys": keys, **known})


def examples(tasks: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return training examples: sft of successes, reward_model of all, dpo of pairs about the same task."""
    if kind == "sft":
        good_ones = [task for task in tasks if task["success"]]
        return [{"prompt": task["prompt"], "completion": task["response"], **_about(task)} for task in good_ones]
    if kind == "reward_model":
        return [
            {"prompt": task["prompt"], "response": task["response"], "reward": float(task["success"]), **_about(task)}
            for task in tasks
        ]
    good = {task["prompt"]: task for task in reversed(tasks) if task["success"]}
    return [
        {
            "prompt": task["prompt"],
            "chosen": good[task["prompt"]]["response"],
            "rejected": task["response"],
            **_about(task),
        }
        for task in tasks
        if not task["success"] and task["prompt"] in good
    ]


def _about(task: dict[str, Any]) -> dict[str, Any]:
    return {"outcome_ref": task["outcome_ref"], "outcome_type": task["outcome_type"], "committed_at": task["at"]}

"""Traces that an outcome's own row tells: what it relied on is read from its effects, at the versions of then."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec
from django.db import connection

from memories.viewers import Viewer
from outcomes.models import Outcome
from outcomes.querysets import keys_of, privacy

# Each entry once, at the version the agent said it read, else the one the outcome found.
RELIED = """
    SELECT f.outcome_id, e.entity_path, e.key, f.number, v.confidence, c.value, v.memory_type, c.agent_id,
           v.evidence_status, v.success_count, v.failure_count, f.before, f.after
      FROM (SELECT g.account_id, g.outcome_id, g.entry_id, min(g.step) AS step,
                   coalesce(max(g.version_read), min(g.version_made) - 1) AS number,
                   (array_agg(g.before ORDER BY g.version_made))[1] AS before,
                   (array_agg(g.after ORDER BY g.version_made DESC NULLS LAST))[1] AS after
              FROM memories_effect g WHERE g.account_id = %(account)s AND g.outcome_id = ANY(%(ids)s)
             GROUP BY g.account_id, g.outcome_id, g.entry_id) f
      JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
      LEFT JOIN memories_entryversion v ON v.account_id = e.account_id AND v.entry_id = e.id AND v.number = f.number
      LEFT JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
     WHERE {visible}
     ORDER BY f.outcome_id, f.step, e.entity_path, e.key
"""
# What an agent said in its own words may repeat what it read.
UNSAID: dict[str, Any] = {"task_input": None, "response_text": None, "tool_calls": [], "session_metadata": None}


def told(viewer: Viewer, outcome_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return what is known of each outcome in the words of a trace (contract.md 1.6); three statements for all."""
    if not outcome_ids:
        return {}
    read, moved = _relied(viewer, outcome_ids)
    found = list(Outcome.objects.by_ids(viewer, outcome_ids))
    named = {one.pk: keys_of(vars(one)) for one in found}
    hidden = privacy.hidden(viewer, [key for keys in named.values() for key in keys])
    traces = {one.pk: _trace(one, read[one.pk], moved[one.pk]) for one in found}
    for one in found:
        if hidden.relied_on(one.agent_id, named[one.pk]):
            traces[one.pk] |= UNSAID
    return traces


def _relied(viewer: Viewer, ids: Sequence[int]) -> tuple[dict[int, list[Any]], dict[int, list[Any]]]:
    read: dict[int, list[Any]] = defaultdict(list)
    moved: dict[int, list[Any]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(RELIED.format(visible=viewer.visible()), {**viewer.parameters, "ids": list(ids)})
        for outcome_id, path, key, number, confidence, value, kind, author, evidence, wins, losses, *ends in cursor:
            named = {"entity_path": path, "key": key}
            read[outcome_id].append(
                {
                    **named,
                    "version": number,
                    "confidence": confidence,
                    "value": msgspec.Raw((value or "null").encode()),
                    "memory_type": kind,
                    "written_by": author,
                    "read_at": None,
                    "duration_ms": None,
                    "evidence_status": evidence,
                    "success_count": wins,
                    "failure_count": losses,
                }
            )
            if ends[1] is not None:
                moved[outcome_id].append({**named, "before": ends[0], "after": ends[1]})
    return read, moved


def _trace(outcome: Outcome, read: list[Any], moved: list[Any]) -> dict[str, Any]:
    metadata = outcome.session_metadata
    if outcome.attempts:
        metadata = {**(metadata or {}), "attempts": outcome.attempts}
    return {
        "task_input": outcome.task_input,
        "response_text": outcome.response_text,
        "tool_calls": [_call(call) for call in outcome.tool_calls],
        "causal_entries": read,
        "state_diff": {
            "entries_created": 0,
            "entries_updated": len(moved),
            "confidence_changes": [{**change, "outcome_ref": outcome.outcome_ref} for change in moved],
        },
        "session_metadata": metadata,
    }


def _call(call: dict[str, Any]) -> dict[str, Any]:
    """Return a tool call with the name that the public client cannot do without."""
    name = call.get("tool_name") or call.get("name") or "tool"
    return {**call, "tool_name": name if isinstance(name, str) else json.dumps(name)}

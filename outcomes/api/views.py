"""Reporting and listing outcomes (contract.md 2.8)."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import docs, identity, screened, wire
from memories.api.entries import whole
from memories.rules import names
from memories.rules.kinds import OutcomeType
from memories.rules.refusals import Refused
from memories.viewers import Viewer
from outcomes import services
from outcomes.api.shapes import AttemptBody, OutcomeBody
from outcomes.gap import memory_gap
from outcomes.models import Outcome
from outcomes.rules import Attempt, Report
from senselab import api

KEYS = 1_000
ATTEMPTS = 50
ATTRIBUTES = 20
ATTRIBUTE_NAME, ATTRIBUTE_TEXT = 64, 256
NESTING = 100
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# What the public client adds to the attributes of its caller.
STAMPED = frozenset({"verified_by", "memory_branch", "final_action_index", "situation"})


class Outcomes(APIView):
    """How tasks ended."""

    @docs.outcomes
    def get(self, request: Request) -> HttpResponse:
        """List outcomes, newest first; keys of entries the caller may not see are left out."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        query = request.query_params
        found = Outcome.objects.told(
            viewer,
            entity_path=asked_name(query.get("entity_path", ""), "/entity_path"),
            outcome_ref=asked_name(query.get("outcome_ref", ""), "/outcome_ref"),
            agent_id=asked_name(query.get("agent_id", ""), "/agent_id"),
            since=identity.since_of(query["since"]) if query.get("since") else None,
            limit=whole(query.get("limit", ""), "/limit", 1, 10_000) or 100,
        )
        return api.answer({"outcomes": found})

    @docs.committing
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Store an outcome and move what it relied on. Told again it changes nothing and answers as at first."""
        body = screened.body_of(request, OutcomeBody)
        agent_id = identity.agent_of(request, body.agent_id, writes=True)
        report = report_of(body, agent_id)
        viewer, now = identity.viewer_of(request, agent_id, writes=True), timezone.now()
        report = replace(report, on_probation=identity.on_probation(request, viewer, agent_id, now))
        actor = identity.actor_of(request, agent_id, identity.session_of(request, body.session_id))
        # Before the outcome holds any lock.
        gap = gap_of(viewer, body, report, now)
        done = services.commit(viewer.account_id, report, actor=actor, policy=viewer.policy, now=now, viewer=viewer)
        told: dict[str, Any] = {
            "outcome_ref": report.outcome_ref,
            "outcome_type": str(report.outcome_type),
            "affected_entries": len(done.moved),
            # As of the outcome, so that telling it again is answered alike.
            "entries": [wire.entry(row, done.at, viewer.policy) for row in done.moved],
            "repeated": done.repeated,
        }
        told["immutable_trace_id"] = done.trace_id
        told["memory_gap"] = gap
        told["unknown_keys"] = list(done.unknown) or None
        headers = {"X-Change-Set": str(done.change_set_id)} if done.change_set_id else {}
        return api.answer({name: value for name, value in told.items() if value is not None}, headers=headers)


def gap_of(viewer: Viewer, body: OutcomeBody, report: Report, now: datetime) -> dict[str, Any] | None:
    if not body.task_input:
        return None
    cited = [*report.keys, *(key for attempt in report.attempts for key in attempt.keys)]
    paths = report.told["entity_paths"]
    return memory_gap(viewer, body.task_input, cited=cited, paths=paths, branch=report.branch, now=now)


def asked_name(text: str, pointer: str) -> str:
    """:raises Refused: the text cannot be a name."""
    return names.clean_path(text, pointer=pointer) if text else ""


def type_of(word: str, pointer: str) -> OutcomeType:
    """:raises Refused: the word is no outcome type."""
    if word not in set(OutcomeType):
        raise Refused(pointer, f"An outcome type is one of {', '.join(OutcomeType)}, not {word!r}.")
    return OutcomeType(word)


def report_of(body: OutcomeBody, agent_id: str) -> Report:
    """Return what a body reports, checked.

    :raises Refused: something in it cannot be; the pointer says what.
    """
    attributes = attributes_of(body.session_metadata)
    _refuse_final_action(body)
    if len(body.attempts or []) > ATTEMPTS:
        raise Refused("/attempts", f"At most {ATTEMPTS} attempts are taken.")
    said = (body.session_metadata or {}).get("verified_by") or attributes.get("verified_by") or ""
    if not isinstance(said, str):
        raise Refused("/session_metadata/verified_by", "A text is expected here.")
    paths = list(body.entity_paths or []) + ([body.entity_path] if body.entity_path else [])
    return Report(
        outcome_ref=names.clean_path(body.outcome_ref, pointer="/outcome_ref"),
        outcome_type=type_of(body.outcome_type, "/outcome_type"),
        agent_id=agent_id,
        keys=keys_of(body.causal_entry_keys, "/causal_entry_keys"),
        causal_confidence=1.0 if body.causal_confidence is None else body.causal_confidence,
        versions=body.causal_entry_versions or {},
        attempts=tuple(attempt_of(attempt, place) for place, attempt in enumerate(body.attempts or [])),
        verified_by=said.strip()[:256],
        replayed=attributes.get("origin") == "repair" or "replay_delivery_id" in attributes,
        branch=names.clean_name(body.branch, pointer="/branch") if body.branch else "main",
        told=told_of(body, [names.clean_path(path, pointer="/entity_paths") for path in paths]),
    )


def keys_of(keys: list[str] | None, pointer: str) -> tuple[str, ...]:
    """:raises Refused: there are too many, or one is no entry key."""
    if len(keys or []) > KEYS:
        raise Refused(pointer, f"At most {KEYS} entry keys are taken at once.")
    return tuple(names.clean_reference(key, place, pointer) for place, key in enumerate(keys or []))


def attempt_of(body: AttemptBody, place: int) -> Attempt:
    pointer = f"/attempts/{place}"
    return Attempt(
        attempt=body.attempt or place + 1,
        outcome_type=type_of(body.outcome_type or "minor_failure", f"{pointer}/outcome_type"),
        keys=keys_of(body.causal_entry_keys, f"{pointer}/causal_entry_keys"),
        versions=body.causal_entry_versions or {},
        action_indices=tuple(body.action_indices or ()),
        summary=body.summary,
    )


def attributes_of(metadata: dict[str, Any] | None) -> dict[str, Any]:
    """Return session_metadata.attributes.

    :raises Refused: more than 20, a name over 64 or a text over 256 characters, or a value that is no scalar.
    """
    attributes = (metadata or {}).get("attributes") or {}
    pointer = "/session_metadata/attributes"
    if not isinstance(attributes, dict):
        raise Refused(pointer, "An object is expected here.")
    if sum(name not in STAMPED and not name.startswith("evidence_") for name in attributes) > ATTRIBUTES:
        raise Refused(pointer, f"At most {ATTRIBUTES} attributes are taken.")
    for name, value in attributes.items():
        if len(name) > ATTRIBUTE_NAME:
            raise Refused(pointer, f"The name of an attribute is at most {ATTRIBUTE_NAME} characters long.")
        if isinstance(value, dict | list) or (isinstance(value, str) and len(value) > ATTRIBUTE_TEXT):
            raise Refused(f"{pointer}/{name}", f"A number, a truth or a text of at most {ATTRIBUTE_TEXT} characters.")
    return attributes


def _refuse_final_action(body: OutcomeBody) -> None:
    index, calls = body.final_action_index, body.tool_calls or []
    if index is not None and not 0 <= index < max(1, len(calls)):
        raise Refused("/final_action_index", f"There are {len(calls)} tool calls; this names none of them.")


def told_of(body: OutcomeBody, paths: list[str]) -> dict[str, Any]:
    """Return what is kept as told. PostgreSQL holds no NUL, so a text with one is refused.

    :raises Refused: NUL in a text.
    """
    told = {
        "entity_paths": paths,
        "task_input": body.task_input,
        "response_text": body.response_text,
        "tool_calls": body.tool_calls,
        "session_metadata": body.session_metadata,
        "trace_follows": body.trace_follows,
        "final_action_index": body.final_action_index,
        "actions_taken": body.actions_taken,
        "covariates": body.covariates,
        "situation": body.situation,
    }
    kept = told | {"attempts": msgspec.to_builtins(body.attempts), "causal_entry_versions": body.causal_entry_versions}
    for name, value in kept.items():
        refuse_what_cannot_be_kept(value, f"/{name}")
    return told


def refuse_what_cannot_be_kept(value: Any, pointer: str) -> None:
    """:raises Refused: NUL in a text, a lone surrogate, or nesting beyond 100 levels."""
    waiting = [(value, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > NESTING:
            raise Refused(pointer, f"This is nested more than {NESTING} levels deep.")
        if isinstance(part, str) and ("\0" in part or _SURROGATE.search(part)):
            raise Refused(pointer, "A text holds NUL or half of a surrogate pair.")
        if isinstance(part, dict):
            waiting += [(name, depth) for name in part] + [(item, depth + 1) for item in part.values()]
        elif isinstance(part, list):
            waiting += [(item, depth + 1) for item in part]

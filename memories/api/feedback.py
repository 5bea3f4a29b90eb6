"""Judging entries over the API: feedback, evidence, and a user's words relayed (DESIGN.md, native)."""

from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import reads
from memories.api import identity, review_docs, screened, wire
from memories.api.history import found
from memories.api.review_shapes import EvidenceBody, FeedbackBody, NameBody, ObservationBody, ReplacementBody
from memories.api.rollback import reason_of
from memories.heads import Name
from memories.queue import review_names
from memories.rules import names
from memories.rules.detection import Signal, detect_feedback
from memories.rules.kinds import MemoryType
from memories.rules.refusals import Refused
from memories.rules.values import read_value
from memories.services import evidence, feedback, observations
from memories.services.evidence import Observed
from memories.services.feedback import Feedback, Verdict
from memories.services.observations import Applied
from memories.services.superseding import Replacement
from memories.viewers import Viewer
from senselab import api
from senselab.accounts.keys import Caller
from senselab.errors import NotFound

PROMPT_BYTES = 100_000
ENTRIES = 50


def keeps(request: Request) -> bool:
    """Tell whether this key's verdict holds: only one with the scope review takes an entry out of review."""
    caller: Caller = request.user
    return caller.may("review")


def branch_of(branch: str | None) -> str:
    return names.clean_name(branch, pointer="/branch") if branch else "main"


def name_of(request: Request, body: FeedbackBody | EvidenceBody) -> Name:
    path = identity.within(request, names.clean_path(body.entity_path), "read", "write")
    return Name(path, names.clean_key(body.key))


def replacement_of(request: Request, body: ReplacementBody | None) -> Replacement | None:
    """:raises Refused: something in it cannot be; the pointer says what."""
    if body is None:
        return None
    if body.memory_type and body.memory_type not in set(MemoryType):
        raise Refused("/replacement/memory_type", f"A type is one of {', '.join(MemoryType)}.")
    key = names.clean_key(body.key, pointer="/replacement/key") if body.key else ""
    path = names.clean_path(body.entity_path, pointer="/replacement/entity_path") if body.entity_path else ""
    if path:
        identity.within(request, path, "write")
    return Replacement(
        value=read_value(bytes(body.value), key=key),
        entity_path=path,
        key=key,
        confidence=1.0 if body.confidence is None else body.confidence,
        memory_type=body.memory_type or "",
    )


def successor_of(request: Request, entry_key: str | None) -> str | None:
    if entry_key is None:
        return None
    return identity.key_within(request, names.clean_reference(entry_key, 0, "/superseded_by"))


def told(viewer: Viewer, entry_id: int, change_set_id: int | None, now: Any, **more: Any) -> HttpResponse:
    """Answer with an entry as a verdict left it, and the change set of that."""
    row = reads.entries_by_ids(viewer, [entry_id])[0]
    headers = api.etag(row.version) | ({"X-Change-Set": str(change_set_id)} if change_set_id else {})
    body = {"entry": wire.entry(row, now, viewer.policy), "change_set": change_set_id, **more}
    return api.answer(body, headers=headers)


class GiveFeedback(APIView):
    """A verdict on an entry."""

    @review_docs.feedback
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Accept, reject or supersede an entry. Without the scope review an acceptance moves the confidence alone."""
        body = screened.body_of(request, FeedbackBody)
        if body.outcome not in set(Verdict):
            raise Refused("/outcome", f"An outcome of feedback is one of {', '.join(Verdict)}, not {body.outcome!r}.")
        agent_id = identity.agent_of(request, body.agent_id, writes=True)
        viewer, now = identity.viewer_of(request, agent_id, writes=True), timezone.now()
        said = Feedback(
            Verdict(body.outcome),
            note=reason_of(body.note, "/note"),
            superseded_by=successor_of(request, body.superseded_by),
            replacement=replacement_of(request, body.replacement),
        )
        row = found(viewer, branch_of(body.branch), name_of(request, body), now)
        if said.replacement is not None:
            waits = identity.on_probation(request, viewer, agent_id, now)
            said = replace(said, replacement=replace(said.replacement, on_probation=waits))
        given = feedback.give(
            viewer,
            row.entry_id,
            said,
            actor=identity.actor_of(request, agent_id, identity.session_of(request, body.session_id)),
            keeps=keeps(request),
            author=agent_id,
            now=now,
            expected=body.expected_version or api.expected_version(request),
        )
        more = {}
        if given.replacement_id is not None:
            new = reads.entries_by_ids(viewer, [given.replacement_id])[0]
            more["replacement"] = wire.entry(new, now, viewer.policy)
        return told(viewer, row.entry_id, given.change_set_id, now, **more)


class AddEvidence(APIView):
    """Something observed about an entry."""

    @review_docs.evidence
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Add evidence, which may move the confidence. An observation_id counts once; told again it changes nothing."""
        body = screened.body_of(request, EvidenceBody)
        agent_id = identity.agent_of(request, body.agent_id, writes=True)
        viewer, now = identity.viewer_of(request, agent_id, writes=True), timezone.now()
        given, at = body.evidence, identity.zoned(body.evidence.timestamp or now, "/evidence/timestamp")
        name = given.observation_id
        seen = Observed(
            at=at,
            description=given.description,
            observation_id=names.clean_name(name, pointer="/evidence/observation_id") if name else "",
            delta=body.confidence_delta or 0.0,
        )
        row = found(viewer, branch_of(body.branch), name_of(request, body), now)
        added = evidence.add(
            viewer,
            row.entry_id,
            seen,
            actor=identity.actor_of(request, agent_id, identity.session_of(request, body.session_id)),
            now=now,
            expected=body.expected_version or api.expected_version(request),
        )
        return told(viewer, row.entry_id, added.change_set_id, now, repeated=added.repeated)


class Observe(APIView):
    """A user's words."""

    @review_docs.observations
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Find a correction or an approval in a user's words, and judge by it the entries named, or those read last."""
        body = screened.body_of(request, ObservationBody)
        prompt = body.data.prompt
        if len(prompt) > PROMPT_BYTES or "\0" in prompt:
            raise Refused("/data/prompt", f"A prompt is at most {PROMPT_BYTES:,} characters long and holds no NUL.")
        agent_id = identity.agent_of(request, body.agent_id, writes=True)
        viewer, now = identity.viewer_of(request, agent_id, writes=True), timezone.now()
        session_id = identity.session_of(request, body.session_id)
        ids = entries_of(request, viewer, body, session_id, now)
        signal = detect_feedback(prompt)
        applied = Applied([], None)
        if signal is not None and body.apply is not False:
            applied = observations.apply(
                viewer,
                signal,
                ids,
                words=" ".join(prompt.split())[:500],
                replace=body.replace,
                actor=identity.actor_of(request, agent_id, session_id),
                keeps=keeps(request),
                author=agent_id,
                now=now,
                on_probation=identity.on_probation(request, viewer, agent_id, now),
            )
        return observed(viewer, signal, applied, now)


def entries_of(request: Request, viewer: Viewer, body: ObservationBody, session_id: str, now: Any) -> list[int]:
    """Return the entries an observation is about: those named, else, where `apply` asks for it, those read last.

    :raises Refused: there are too many, a name cannot be, or nobody says whose readings are meant.
    :raises NotFound: one of those named is not there.
    """
    if body.entries:
        if len(body.entries) > ENTRIES:
            raise Refused("/entries", f"At most {ENTRIES} entries are judged at once.")
        branch = branch_of(body.branch)
        return [named(request, viewer, entry, place, branch) for place, entry in enumerate(body.entries)]
    if not body.apply:
        return []
    if not session_id:
        raise Refused("/session_id", "Say whose readings are meant: name entries, or the session.")
    # What this process has served within the last moment is not in the database yet.
    wire.flush_recalls()
    return observations.read_last(viewer, session_id, now)


def named(request: Request, viewer: Viewer, entry: str | NameBody, place: int, branch: str) -> int:
    if isinstance(entry, str):
        key = identity.key_within(request, names.clean_reference(entry, place, "/entries"), "read", "write")
        (entry_id,) = review_names.resolve_keys(viewer, branch, [key])
    else:
        path = names.clean_path(entry.entity_path, pointer=f"/entries/{place}/entity_path")
        name = names.clean_key(entry.key, pointer=f"/entries/{place}/key")
        identity.within(request, path, "read", "write")
        (entry_id,) = review_names.resolve(viewer, [(branch, path, name)])
    if entry_id is None:
        raise NotFound(f"There is no such entry: /entries/{place}.")
    return entry_id


def observed(viewer: Viewer, signal: Signal | None, applied: Applied, now: Any) -> HttpResponse:
    rows = reads.entries_by_ids(viewer, applied.entry_ids) if applied.entry_ids else []
    given = applied.given
    body: dict[str, Any] = {
        "signal": signal and {"type": signal.type, "suggested": signal.suggested, "context": signal.context},
        "applied": [wire.entry(row, now, viewer.policy) for row in rows],
        "change_set": given and given.change_set_id,
    }
    if given is not None and given.replacement_id is not None:
        new = reads.entries_by_ids(viewer, [given.replacement_id])[0]
        body["replacement"] = wire.entry(new, now, viewer.policy)
    return api.answer(body, headers={"X-Change-Set": str(given.change_set_id)} if given else {})

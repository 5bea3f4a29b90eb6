"""Calls in the shape of the public server (contract.md 2.18): verify, diff, patches, events from outside, a moment."""

from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import contracts, reads
from memories.api import history_docs, identity, peer_docs, screened
from memories.api.history import Diff, changes_of, found
from memories.api.rollback import Rollback, reason_of
from memories.checking import integrity_reads
from memories.heads import Name
from memories.rows import Row
from memories.rules import names
from memories.rules.refusals import Refused
from memories.rules.values import read_value
from memories.services import promises, to_a_time, writing
from memories.services.writing import Draft
from senselab import api
from senselab.errors import NotFound


class VerifyBody(msgspec.Struct):
    """POST /verify: all there is, or what stands at a path."""

    entity_path: str | None = None
    branch: str | None = None


class DiffBody(msgspec.Struct):
    """POST /diff and /patches: the current version against an older one, by default the one before."""

    entity_path: str
    key: str
    old_version: int | None = None
    source_version: int | None = None
    branch: str | None = None


class EventBody(msgspec.Struct):
    """POST /events: what something outside saw; written by the agent external/<source>."""

    source: str
    entity_path: str
    key: str
    value: msgspec.Raw = msgspec.Raw(b"null")
    event_type: str | None = None


class MomentBody(msgspec.Struct):
    """POST /rollback for an agent and a time."""

    target_timestamp: str | None = None
    agent_id: str | None = None
    target_event_id: str | None = None
    to_version: Any = None
    reason: str = ""
    branch: str | None = None


class Verify(APIView):
    """Whether values still fit their hashes."""

    scopes = {"POST": "read"}

    @peer_docs.verify
    def post(self, request: Request) -> HttpResponse:
        """Recompute hashes and chains of what the caller may see; at most 20,000 versions or 64 MiB of values."""
        body = api.body_of(request, VerifyBody)
        viewer = identity.viewer_of(request, identity.agent_of(request))
        branch = names.clean_name(body.branch or "main", pointer="/branch")
        path = names.clean_path(body.entity_path) if body.entity_path else None
        return api.answer(integrity_reads.report(viewer, branch, path).told())


def pair(request: Request, body: DiffBody) -> tuple[Row, Row | None]:
    """Return the current version of an entry and an older one; None of the first version's.

    :raises NotFound: there is no such entry, or no such version.
    """
    viewer = identity.viewer_of(request, identity.agent_of(request))
    name = Name(identity.within(request, names.clean_path(body.entity_path)), names.clean_key(body.key))
    branch = names.clean_name(body.branch or "main", pointer="/branch")
    new = found(viewer, branch, name, timezone.now())
    asked = body.old_version or body.source_version
    if asked is None and new.version == 1:
        return new, None
    old = reads.version(viewer, new.entry_id, asked or new.version - 1)
    if old is None:
        raise NotFound(f"Versions go from 1 to {new.version}.")
    return new, old


def fields_changed(old: Row | None, new: Row) -> list[dict[str, Any]]:
    changes = changes_of(old, new) if old else []
    renamed = {"old": "old_value", "new": "new_value"}
    return [{renamed.get(name, name): value for name, value in change.items()} for change in changes]


def raw(row: Row | None) -> msgspec.Raw:
    return msgspec.Raw(row.value.encode() if row else b"null")


class DiffEither(Diff):
    """What differs between two versions: natively by query, or by body in the public shape."""

    scopes = {"POST": "read"}

    @peer_docs.diff
    def post(self, request: Request) -> HttpResponse:
        """Compare the current version of an entry with an older one."""
        new, old = pair(request, api.body_of(request, DiffBody))
        return api.answer(
            {
                "entity_path": new.entity_path,
                "key": new.key,
                "diff_type": "modified" if old else "added",
                "branch_value": raw(new),
                "parent_value": raw(old),
                "branch_confidence": new.state.confidence,
                "parent_confidence": old.state.confidence if old else None,
                "branch_shared": new.state.shared,
                "field_changes": fields_changed(old, new),
            }
        )


class Patches(APIView):
    """What leads from an older version to the current one."""

    scopes = {"POST": "read"}

    @peer_docs.patches
    def post(self, request: Request) -> HttpResponse:
        """Return the changes from an older version to the current one, by JSON pointer."""
        new, old = pair(request, api.body_of(request, DiffBody))
        return api.answer(
            {
                "entity_path": new.entity_path,
                "key": new.key,
                "changes": fields_changed(old, new),
                "source_version": old.version if old else None,
                "target_version": new.version,
            }
        )


class Events(APIView):
    """What something outside saw."""

    @peer_docs.events
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Write what an outside source saw, as the agent external/<source>."""
        body = screened.body_of(request, EventBody)
        agent_id = identity.agent_of(request, names.clean_name(f"external/{body.source}"), writes=True)
        viewer, now = identity.viewer_of(request, agent_id), timezone.now()
        key = names.clean_key(body.key)
        path = identity.within(request, names.clean_path(body.entity_path), "write")
        waits = identity.on_probation(request, viewer, agent_id, now)
        draft = Draft(path, key, read_value(bytes(body.value), key=key), agent_id, on_probation=waits)
        done = writing.write(
            viewer.account_id,
            promises.held(draft, contracts.of(viewer.account_id, agent_id), now),
            actor=identity.actor_of(request, agent_id, identity.session_of(request)),
            policy=viewer.policy,
            now=now,
        )
        told = {"status": "ok", "entity_path": draft.entity_path, "key": draft.key, "source": body.source}
        more = {"agent_id": agent_id, "version": done.version, "event_type": body.event_type}
        return api.answer(told | more, headers={"X-Change-Set": str(done.change_set_id)})


class RollbackEither(Rollback):
    """Back to a version of an entry, or all that an agent wrote back to a moment; told apart by what is named."""

    @history_docs.rollback
    def post(self, request: Request) -> HttpResponse:
        """Go back to `to_version` of an entry, or take what `agent_id` wrote back to `target_timestamp`."""
        asked = api.body_of(request, MomentBody)
        if asked.target_timestamp is None and asked.target_event_id is None:
            return super().post(request)
        return self.to_a_moment(request, asked)

    @api.once
    def to_a_moment(self, request: Request, asked: MomentBody) -> HttpResponse:
        return to_a_moment(request, asked)


def to_a_moment(request: Request, body: MomentBody) -> HttpResponse:
    """Take what an agent wrote back to a moment.

    :raises Refused: agent or moment is missing, or the other body is mixed in.
    """
    if body.to_version is not None:
        raise Refused("/to_version", "Name a version of an entry, or an agent and a moment, not both.")
    if not body.agent_id or not body.target_timestamp:
        raise Refused("/target_timestamp", "Name agent_id and target_timestamp.")
    agent_id = identity.agent_of(request, body.agent_id, writes=True)
    viewer, now = identity.viewer_of(request, agent_id, writes=True), timezone.now()
    at = identity.since_of(body.target_timestamp, "/target_timestamp")
    if at > now:
        raise Refused("/target_timestamp", "That moment is still to come.")
    done = to_a_time.roll_back_to(
        viewer,
        agent_id,
        at,
        branch=names.clean_name(body.branch or "main", pointer="/branch"),
        actor=identity.actor_of(request, agent_id, identity.session_of(request)),
        policy=viewer.policy,
        reason=reason_of(body.reason),
        now=now,
    )
    told = {
        "entries_restored": done.restored,
        "entries_archived": done.archived,
        "rolled_back_to": at,
        "agent_id": agent_id,
        "change_set": done.change_set_id,
    }
    headers = {"X-Change-Set": str(done.change_set_id)} if done.change_set_id else {}
    return api.answer(told, headers=headers)

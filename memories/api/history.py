"""What an entry was, what changed, and why it is as it is (DESIGN.md, native)."""

from datetime import datetime
from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import reads
from memories.api import history_docs, identity, wire
from memories.api.entries import whole
from memories.entry import why
from memories.heads import Name
from memories.rows import Row
from memories.rules import diff, names
from memories.viewers import Viewer
from senselab import api
from senselab.errors import Invalid, NotFound


def name_of(request: Request) -> tuple[str, Name]:
    """Return branch and name from a query string.

    :raises Invalid: path or key is missing.
    """
    query = request.query_params
    for field in ("entity_path", "key"):
        if not query.get(field):
            raise Invalid(f"{field} is missing.", f"/{field}")
    branch = names.clean_name(query["branch"], pointer="/branch") if query.get("branch") else "main"
    return branch, Name(identity.within(request, names.clean_path(query["entity_path"])), names.clean_key(query["key"]))


def found(viewer: Viewer, branch: str, name: Name, now: datetime) -> Row:
    """:raises NotFound: there is no such entry for the viewer."""
    row = reads.entry(viewer, branch, name, now)
    if row is None:
        raise NotFound("There is no such entry.")
    return row


def viewer_of(request: Request) -> Viewer:
    return identity.viewer_of(request, identity.agent_of(request))


def history(request: Request, branch: str, name: Name) -> HttpResponse:
    viewer, now = viewer_of(request), timezone.now()
    versions = reads.history(viewer, branch, name, now)
    if not versions:
        raise NotFound("There is no such entry.")
    etag, query = api.etag(versions[-1].head_version), request.query_params
    if query.get("since"):
        since = identity.since_of(query["since"])
        versions = [version for version in versions if version.written_at >= since]
    if query.get("until"):
        until = identity.since_of(query["until"], "/until")
        versions = [version for version in versions if version.written_at < until]
    shown = [wire.entry(version, now, viewer.policy) for version in versions]
    told = {"entity_path": name.entity_path, "key": name.key, "version_count": len(shown), "versions": shown}
    return api.answer(told, headers=etag)


class History(APIView):
    """All versions of an entry."""

    @history_docs.history
    def get(self, request: Request) -> HttpResponse:
        """Return every version, oldest first; since and until narrow by when its claim was written."""
        return history(request, *name_of(request))


class HistoryByPath(APIView):
    """All versions of an entry named by path: the last segment is the key."""

    @history_docs.history_by_path
    def get(self, request: Request, rest: str) -> HttpResponse:
        """Return every version, oldest first."""
        path, _, key = rest.rpartition("/")
        branch = request.query_params.get("branch") or "main"
        name = Name(identity.within(request, names.clean_path(path)), names.clean_key(key))
        return history(request, names.clean_name(branch, pointer="/branch"), name)


def changes_of(old: Row, new: Row) -> list[dict[str, Any]]:
    """Return what differs between two values; each old and new is the JSON it was."""
    return [
        {
            "path": change.path,
            "operation": change.operation,
            "old": msgspec.Raw((change.old or "null").encode()),
            "new": msgspec.Raw((change.new or "null").encode()),
        }
        for change in diff.diff(old.value, new.value)
    ]


class Diff(APIView):
    """What differs between two versions."""

    @history_docs.diff
    def get(self, request: Request) -> HttpResponse:
        """Return the changes of the value from one version to another, by JSON pointer; the current one by default."""
        viewer = viewer_of(request)
        row = found(viewer, *name_of(request), timezone.now())
        query = request.query_params
        last = whole(query.get("to", ""), "/to", 1, 2_147_483_647) or row.version
        first = whole(query.get("from", ""), "/from", 1, 2_147_483_647) or max(1, last - 1)
        pair = [reads.version(viewer, row.entry_id, number) for number in (first, last)]
        old, new = pair
        if old is None or new is None:
            raise NotFound(f"Versions go from 1 to {row.version}.")
        return api.answer({"from": first, "to": last, "changes": changes_of(old, new)})


class Why(APIView):
    """The arithmetic behind a confidence."""

    @history_docs.why
    def get(self, request: Request) -> HttpResponse:
        """Return every step that moved the confidence, oldest first, as a sum in words and numbers."""
        viewer, now = viewer_of(request), timezone.now()
        row = found(viewer, *name_of(request), now)
        wanted = whole(request.query_params.get("version", ""), "/version", 1, 2_147_483_647) or row.version
        if wanted > row.version:
            raise NotFound(f"Versions go from 1 to {row.version}.")
        told = why.story(viewer, row.entry_id)
        steps = [step for step in told.steps if step.row.version <= wanted]
        shown = steps[-1].row
        freshness = shown.freshness(now, viewer.policy)
        body = {
            "entity_path": row.entity_path,
            "key": row.key,
            "version": wanted,
            "confidence": shown.state.confidence,
            "freshness": freshness,
            "effective_confidence": shown.state.confidence * freshness,
            "evidence_status": shown.state.evidence_status,
            "policy": steps[-1].act.policy,
            "steps": [why.steps_of(step) for step in steps],
            "skipped": [
                {
                    "at": effect.at,
                    "outcome_ref": effect.outcome_ref,
                    "outcome_type": effect.outcome_type,
                    "why": effect.skipped,
                }
                for effect in told.skipped
            ],
        }
        return api.answer(body, headers=api.etag(row.version))

"""Reading, writing and listing entries (contract.md 2.3 to 2.5)."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import contracts, heads, reads
from memories.api import docs, identity, screened, wire
from memories.api.shapes import UNSET, WriteBody
from memories.heads import Name
from memories.rules import names
from memories.rules.kinds import MemoryType, Status
from memories.rules.refusals import Refused
from memories.rules.values import read_value
from memories.search import LISTED, Search
from memories.services import promises, writing
from memories.services.writing import KEEP, Draft
from senselab import api, pipeline
from senselab.errors import Invalid

UNLIMITED = 5_000


def draft_of(request: Request, body: WriteBody) -> Draft:
    """Return what a body asks to write, checked name by name.

    :raises Refused: a name, a value or a range cannot be; the pointer says which.
    """
    if body.memory_type and body.memory_type not in set(MemoryType):
        raise Refused("/memory_type", f"A type is one of {', '.join(MemoryType)}, not {body.memory_type!r}.")
    key = names.clean_key(body.key)
    return Draft(
        entity_path=identity.within(request, names.clean_path(body.entity_path), "write"),
        key=key,
        value=read_value(bytes(body.value), key=key),
        agent_id=identity.agent_of(request, body.agent_id, writes=True),
        confidence=1.0 if body.confidence is None else body.confidence,
        memory_type=body.memory_type or MemoryType.FACT.value,
        shared=body.shared is not False,
        branch=names.clean_name(body.branch, pointer="/branch") if body.branch else "main",
        pattern_refs=tuple(names.clean_reference(ref, place) for place, ref in enumerate(body.pattern_refs or [])),
        artifact_refs=_artifacts(body.artifact_refs or []),
        ttl_at=_ttl(body),
        pinned=KEEP if body.pinned is None else body.pinned,
        importance_score=body.importance_score,
        importance_dimensions=_dimensions(body.importance_dimensions),
        embedding=body.embedding,
    )


def _ttl(body: WriteBody) -> Any:
    if not isinstance(body.ttl_at, datetime):
        return KEEP if body.ttl_at is UNSET else None
    at = identity.zoned(body.ttl_at, "/ttl_at")
    if at <= timezone.now():
        raise Refused("/ttl_at", "A time to live ends in the future.")
    return at


def _dimensions(dimensions: dict[str, float] | None) -> dict[str, float] | None:
    for name in dimensions or {}:
        names.clean_name(name, pointer="/importance_dimensions")
    return dimensions


def _artifacts(references: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for place, reference in enumerate(references):
        if not isinstance(reference.get("uri"), str) or not reference["uri"]:
            raise Refused(f"/artifact_refs/{place}/uri", "An artifact reference names its uri.")
    # As deep, and holding what, a value may.
    read_value(json.dumps(references), key="artifact_refs")
    return references


class Entries(APIView):
    """The entries of an account: listed, and written."""

    @docs.listing
    def get(self, request: Request) -> HttpResponse:
        """List entries, newest first; with include_superseded every version of them."""
        agent_id = identity.agent_of(request)
        viewer, now = identity.viewer_of(request, agent_id), timezone.now()
        asked = listing_of(request)
        if asked.versions:
            found, total = reads.list_versions(asked.search, viewer, now)
        else:
            found, total = reads.list_entries(asked.search, viewer, now)
        shown = [wire.entry(row, now, viewer.policy, meta_only=asked.meta_only) for row in found]
        return api.answer({"entries": shown, "total": total})

    @docs.writing
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Write an entry, or the next version of it. If-Match or expected_version guard against a lost update."""
        body = screened.body_of(request, WriteBody)
        draft = draft_of(request, body)
        viewer, now = identity.viewer_of(request, draft.agent_id), timezone.now()
        expected = api.expected_version(request) if body.expected_version is None else body.expected_version
        queries: list[pipeline.Query] = [
            heads.named_query(viewer.account_id, draft.branch, draft.name, draft.agent_id),
            # With the head, so that what an agent bound itself to costs a write no round trip.
            contracts.query(viewer.account_id, draft.agent_id),
        ]
        if body.include_scope:
            queries.append(reads.scope_query(viewer, draft.branch, draft.name))
        found, kept, *scope = pipeline.read(*queries)
        draft = promises.held(draft, contracts.read(kept), now)
        draft = replace(draft, on_probation=identity.on_probation(request, viewer, draft.agent_id, now))
        stored = writing.write(
            viewer.account_id,
            draft,
            actor=identity.actor_of(request, draft.agent_id, identity.session_of(request, body.session_id)),
            policy=viewer.policy,
            now=now,
            expected=expected,
            seen=[heads.head_of(row) for row in found],
        )
        told = wire.entry(wire.row_of_stored(draft, stored, now), now, viewer.policy)
        if scope and scope[0][0][0]:
            told["scope"] = reads.scope_of(draft.entity_path, scope[0][0])
        headers = {**api.etag(stored.version), "X-Change-Set": str(stored.change_set_id)}
        return api.answer(told, headers=headers)


class Listing:
    """What a list was asked for, from its query string."""

    def __init__(self, search: Search, *, versions: bool, meta_only: bool) -> None:
        self.search, self.versions, self.meta_only = search, versions, meta_only


def listing_of(request: Request) -> Listing:
    query = request.query_params
    sort = query.get("sort", "written_at")
    if sort not in {"written_at", "recall_count"}:
        raise Refused("/sort", "A list sorts by written_at or recall_count.")
    if query.get("fields", "meta") != "meta":
        raise Refused("/fields", "fields takes meta and nothing else.")
    path = query.get("entity_path")
    search = Search(
        entity_path=names.clean_path(path) if path else None,
        descendants=truth(query.get("include_descendants", ""), "/include_descendants"),
        branch=names.clean_name(query["branch"], pointer="/branch") if query.get("branch") else "main",
        over_main=True,
        agent_id=names.clean_name(query["agent_id"]) if query.get("agent_id") else "",
        statuses=statuses_of(query.getlist("status")),
        sort="recency" if sort == "written_at" else "recall_count",
        limit=whole(query.get("limit", ""), "/limit", 1, 10_000) or UNLIMITED,
        offset=whole(query.get("offset", ""), "/offset", 0, 2_147_483_647) or 0,
    )
    versions = truth(query.get("include_superseded", ""), "/include_superseded")
    return Listing(search, versions=versions, meta_only="fields" in query)


def statuses_of(asked: list[str]) -> tuple[str, ...]:
    """Return the statuses a list is narrowed to: those it shows by default unless some are named, `all` for every one.

    :raises Refused: a word that is no status.
    """
    words = [word for text in asked for word in text.split(",") if word]
    if not words:
        return LISTED
    if words == ["all"]:
        return ()
    for word in words:
        if word not in set(Status):
            raise Refused("/status", f"A status is one of {', '.join(Status)} or all, not {word!r}.")
    return tuple(words)


def whole(text: str, pointer: str, least: int, most: int) -> int | None:
    """Return a whole number from a query string, None when it is not given.

    :raises Refused: it is no number between `least` and `most`.
    """
    if text == "":
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 10 or not least <= int(text) <= most:
        raise Refused(pointer, f"A whole number from {least} to {most} is expected here.")
    return int(text)


def truth(text: str, pointer: str) -> bool:
    """:raises Refused: the text is neither true nor false."""
    if text.lower() in {"true", "1", "yes"}:
        return True
    if text.lower() in {"", "false", "0", "no"}:
        return False
    raise Refused(pointer, "true or false is expected here.")


def show(request: Request, entity_path: str, key: str) -> HttpResponse:
    """Answer with an entry the caller may see, and count the recall; contract.md 2.3 has 200 for what is not there."""
    agent_id = identity.agent_of(request)
    viewer, now = identity.viewer_of(request, agent_id), timezone.now()
    branch = request.query_params.get("branch") or "main"
    try:
        name = Name(identity.within(request, names.clean_path(entity_path)), names.clean_key(key))
        row = reads.entry(viewer, names.clean_name(branch, pointer="/branch"), name, now)
    except Refused:
        # A name that cannot be names nothing, and the public client knows only this answer.
        row = None
    if row is None:
        return api.answer({"status": "not_found", "entity_path": entity_path, "key": key})
    wire.note_recall(row, viewer, identity.session_of(request), now)
    headers = {**api.etag(row.version), **wire.reuse_header(row, viewer)}
    return api.answer(wire.entry(row, now, viewer.policy), headers=headers)


class EntryByPath(APIView):
    """One entry, named by path: the last segment is the key."""

    @docs.reading_by_path
    def get(self, request: Request, rest: str) -> HttpResponse:
        """Read an entry. What does not exist answers 200 with `status: not_found`."""
        path, _, key = rest.rpartition("/")
        return show(request, path, key)


class EntryByName(APIView):
    """One entry, named by query; the only way to a key with a slash."""

    @docs.reading
    def get(self, request: Request) -> HttpResponse:
        """Read an entry. What does not exist answers 200 with `status: not_found`."""
        query = request.query_params
        for name in ("entity_path", "key"):
            if not query.get(name):
                raise Invalid(f"{name} is missing.", f"/{name}")
        return show(request, query["entity_path"], query["key"])

"""Traces: what agents read, did and reported on the way to an outcome (contract.md 2.9)."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import identity, screened
from memories.api.entries import whole
from memories.rules import names
from memories.rules.refusals import Refused
from memories.viewers import Viewer
from outcomes.api import telling_docs as docs
from outcomes.api.views import asked_name, type_of
from outcomes.rules import BRANCH_ATTRIBUTE
from outcomes.services import tracing
from outcomes.services.tracing import Told
from outcomes.tracing import listing, sharing
from outcomes.tracing.listing import Asked
from senselab import api
from senselab.errors import Forbidden, NotFound

LIMIT, MOST = 100, 1_000
# The client asks for whatever it likes; what is beyond a page is a page.
CLAMPED = 2**31
PARTS = 10_000


class CausalBody(msgspec.Struct):
    """An entry a trace relied on; the rest of it is kept as told."""

    entity_path: str
    key: str
    written_by: str | None = None


class MetadataBody(msgspec.Struct):
    attributes: dict[str, Any] | None = None


class TraceBody(msgspec.Struct):
    """POST /traces: what is looked at. Everything else is kept as it came."""

    agent_id: str | None = None
    session_id: str | None = None
    outcome_ref: str | None = None
    outcome_type: str | None = None
    branch: str | None = None
    created_at: datetime | None = None
    causal_entries: Annotated[list[CausalBody], msgspec.Meta(max_length=PARTS)] | None = None
    tool_calls: Annotated[list[dict[str, Any]], msgspec.Meta(max_length=PARTS)] | None = None
    external_contexts: list[dict[str, Any]] | None = None
    query_events: list[dict[str, Any]] | None = None
    error_events: list[dict[str, Any]] | None = None
    session_metadata: MetadataBody | None = None
    session_duration_ms: float | None = None


class Traces(APIView):
    """The traces of an account."""

    @docs.list_traces
    def get(self, request: Request) -> HttpResponse:
        """List traces, newest first; entries the caller may not see are left out of them."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        query = request.query_params
        page = listing.page(
            viewer,
            asked_of(query),
            cursor=query.get("cursor", ""),
            offset=whole(query.get("offset", ""), "/offset", 0, CLAMPED) or 0,
            limit=limit_of(query),
        )
        told = listing.told(viewer, page.rows)
        return api.answer({"traces": told, "next_cursor": page.next or None, "has_more": bool(page.next)})

    @docs.submit_trace
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Keep a trace; the one of an outcome, session and agent that is there already is answered with."""
        body = screened.body_of(request, TraceBody)
        agent_id = identity.agent_of(request, body.agent_id, writes=True)
        viewer = identity.viewer_of(request, agent_id)
        told = told_of(request, body, agent_id, timezone.now())
        if not listing.touches(viewer, told.entity_paths):
            raise Forbidden("This key has no read permission for any path of the trace.")
        return api.answer(shown(viewer, tracing.keep_and_read(viewer, told)))


def limit_of(query: Any) -> int:
    """Return how many are asked for; beyond a thousand a thousand.

    :raises Refused: below one.
    """
    return min(whole(query.get("limit", ""), "/limit", 1, CLAMPED) or LIMIT, MOST)


def asked_of(query: Any) -> Asked:
    kind = query.get("outcome_type", "")
    return Asked(
        entity_path=asked_name(query.get("entity_path", ""), "/entity_path"),
        agent_id=asked_name(query.get("agent_id", ""), "/agent_id"),
        types=(str(type_of(kind, "/outcome_type")),) if kind else (),
        since=identity.since_of(query["since"]) if query.get("since") else None,
        until=identity.since_of(query["until"], "/until") if query.get("until") else None,
    )


def told_of(request: Request, body: TraceBody, agent_id: str, now: datetime) -> Told:
    """Return what a body tells, checked.

    :raises Refused: a name or a type cannot be.
    """
    relied = body.causal_entries or []
    attributes = (body.session_metadata.attributes if body.session_metadata else None) or {}
    branch = body.branch or attributes.get(BRANCH_ATTRIBUTE)
    said = body.created_at and identity.in_utc(body.created_at, "/created_at")
    paths = [names.clean_path(one.entity_path, pointer=f"/causal_entries/{n}") for n, one in enumerate(relied)]
    keys = [names.clean_key(one.key, pointer=f"/causal_entries/{n}/key") for n, one in enumerate(relied)]
    authors = [names.clean_name(one.written_by) if one.written_by else "" for one in relied]
    return Told(
        agent_id=agent_id,
        session_id=identity.session_of(request, body.session_id),
        outcome_ref=names.clean_path(body.outcome_ref, pointer="/outcome_ref") if body.outcome_ref else "",
        outcome_type=str(type_of(body.outcome_type, "/outcome_type")) if body.outcome_type else "",
        branch=names.clean_name(branch, pointer="/branch") if isinstance(branch, str) and branch else "main",
        body=text_of(request),
        entity_paths=paths,
        causal=list(zip([f"{path}/{key}" for path, key in zip(paths, keys, strict=True)], authors, strict=True)),
        tool_calls=len(body.tool_calls or []),
        errors=len(body.error_events or []),
        duration_ms=body.session_duration_ms,
        # A trace that comes late says when it was; none comes from the future.
        created_at=min(said, now) if said else now,
    )


def text_of(request: Request) -> str:
    """:raises Refused: the body is no UTF-8."""
    try:
        return api.raw_body(request).decode() or "{}"
    except UnicodeDecodeError as error:
        raise Refused("", "The body is no UTF-8.") from error


def trace(viewer: Viewer, trace_id: UUID) -> dict[str, Any]:
    """:raises NotFound: there is no such trace."""
    return shown(viewer, listing.one(viewer, trace_id))


def shown(viewer: Viewer, row: listing.Row | None) -> dict[str, Any]:
    """:raises NotFound: there is no such trace."""
    if row is None:
        raise missing()
    return listing.told(viewer, [row])[0]


def missing() -> NotFound:
    return NotFound("There is no such trace.", extra={"error": "There is no such trace."})


class OneTrace(APIView):
    """One trace."""

    @docs.get_trace
    def get(self, request: Request, trace_id: str) -> HttpResponse:
        """Return a trace whole."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        try:
            found = UUID(trace_id)
        except ValueError as error:
            raise missing() from error
        return api.answer(trace(viewer, found))


class ShareStats(APIView):
    """Who relies on whom."""

    @docs.share_stats
    def get(self, request: Request) -> HttpResponse:
        """Count the entries in traces whose author is another agent, by reader and author."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        query = request.query_params
        since = identity.since_of(query["since"]) if query.get("since") else None
        limit = whole(query.get("pair_limit", ""), "/pair_limit", 0, MOST)
        return api.answer(sharing.share_stats(viewer, since=since, pair_limit=20 if limit is None else limit))

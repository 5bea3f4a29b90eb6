"""Timelines and the graph (contract.md 2.12 and 2.13)."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import identity, screened
from memories.api.entries import whole
from memories.api.shapes import Probability
from memories.rules import names
from memories.rules.refusals import Refused
from outcomes import timeline
from outcomes.api import telling_docs as docs
from outcomes.api.traces import limit_of
from outcomes.api.views import asked_name, refuse_what_cannot_be_kept
from outcomes.graph import neighbours
from outcomes.graph.neighbours import Asked
from outcomes.rules import EVENT_TYPES
from outcomes.services import edges, events
from outcomes.services.edges import Told
from outcomes.services.events import Posted
from senselab import api
from senselab.errors import Conflict, Refusal

SUMMARY = 2_000
DIRECTIONS = {"both": (True, True), "outgoing": (True, False), "incoming": (False, True)}
NEIGHBOURS = 1_000


class UnknownEvent(Refusal):
    """An event of a kind nobody knows."""

    status = 400
    title = "Unknown event type"


class EventBody(msgspec.Struct):
    """POST /timeline/events."""

    event_type: str
    agent_id: str | None = None
    summary: Annotated[str, msgspec.Meta(max_length=SUMMARY)] | None = None
    details: dict[str, Any] | None = None
    branch: str | None = None
    actor_agent_id: str | None = None


class EdgeBody(msgspec.Struct):
    """POST /graph/edges."""

    source_entity: str
    relation: str
    target_entity: str
    source_type: str | None = None
    target_type: str | None = None
    provenance: dict[str, Any] | None = None
    branch: str | None = None
    confidence: Probability | None = None


class Timeline(APIView):
    """What happened to an agent's memory."""

    @docs.read_timeline
    def get(self, request: Request, agent_id: str) -> HttpResponse:
        """List an agent's events, newest first."""
        viewer, query = identity.viewer_of(request, identity.agent_of(request)), request.query_params
        asked = timeline.Asked(
            agent_id=names.clean_name(agent_id),
            event_type=type_of(query.get("event_type", "")),
            branch=asked_name(query.get("branch", ""), "/branch"),
            since=identity.since_of(query["since"]) if query.get("since") else None,
            until=identity.since_of(query["until"], "/until") if query.get("until") else None,
        )
        offset = whole(query.get("offset", ""), "/offset", 0, 10_000) or 0
        page = timeline.page(viewer, asked, cursor=query.get("cursor", ""), offset=offset, limit=limit_of(query))
        told = {
            "agentId": asked.agent_id,
            "events": [timeline.told(asked.agent_id, event) for event in page.events],
            "count": len(page.events),
            "next_cursor": page.next or None,
            "has_more": bool(page.next),
        }
        return api.answer(told)


def type_of(word: str) -> str:
    """:raises UnknownEvent: nobody knows the type."""
    if word and word not in EVENT_TYPES:
        text = f"An event is one of {', '.join(EVENT_TYPES)}, not {word!r}."
        raise UnknownEvent(text, extra={"error": text})
    return word


class PostEvent(APIView):
    """Events that clients report."""

    @docs.post_event
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Put an event on a timeline; writes and outcomes, which the server knows by itself, are echoed, not kept."""
        event = posted_of(request, screened.body_of(request, EventBody))
        account_id, now = request.user.account_id, timezone.now()
        known = events.outcome_of(account_id, event) if event.event_type == "outcome" else None
        if event.event_type == "write":
            return api.answer(echo(event, "", now))
        if known is not None:
            return api.answer(echo(event, str(timeline.event_id(timeline.OUTCOMES, known)), now))
        number = events.post(account_id, event, now)
        return api.answer(echo(event, str(timeline.event_id(timeline.POSTED, number)), now))


def posted_of(request: Request, body: EventBody) -> Posted:
    """Return an event, checked.

    :raises UnknownEvent: its type is none we know.
    :raises Conflict: the key speaks for another agent, and this is no report of what that agent read.
    :raises Refused: a name in it cannot be.
    """
    kind = type_of(body.event_type) or type_of("?")
    details = body.details or {}
    refuse_what_cannot_be_kept([details, body.summary], "/details")
    actor = names.clean_name(body.actor_agent_id, pointer="/actor_agent_id") if body.actor_agent_id else ""
    path, key = details.get("entity_path"), details.get("key")
    return Posted(
        agent_id=whose(request, body.agent_id, kind, actor),
        event_type=kind,
        summary=body.summary or "",
        details=details,
        branch=names.clean_name(body.branch, pointer="/branch") if body.branch else "main",
        actor_agent_id=actor,
        entity_path=names.clean_path(path, pointer="/details/entity_path") if path else "",
        key=names.clean_key(key, pointer="/details/key") if path and key else "",
    )


def whose(request: Request, said: str | None, kind: str, actor: str) -> str:
    """Return on whose timeline an event goes: the caller's, or that of the agent the caller says it has read from.

    :raises Conflict: the key is bound to an agent who is neither.
    """
    if said and kind == "cross_agent_read" and actor:
        identity.agent_of(request, actor, writes=True)
        return names.clean_name(said)
    agent_id = identity.agent_of(request, said, writes=True)
    if actor and actor != agent_id and request.user.agent_id:
        raise Conflict(f"This key speaks for {agent_id}, not for {actor}.")
    return agent_id


def echo(event: Posted, event_id: str, now: datetime) -> dict[str, Any]:
    return {
        "id": event_id,
        "namespace": timeline.NAMESPACE,
        "agent_id": event.agent_id,
        "branch": event.branch,
        "event_type": event.event_type,
        "summary": event.summary,
        "details": event.details,
        "actor_agent_id": event.actor_agent_id or None,
        "created_at": now,
    }


class PostEdge(APIView):
    """Edges that clients report."""

    @docs.post_edge
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Keep an edge; told again it counts again."""
        body = screened.body_of(request, EdgeBody)
        provenance = body.provenance or {}
        refuse_what_cannot_be_kept(provenance, "/provenance")
        said = provenance.get("agent_id")
        # A bound key tells nothing in another agent's name.
        agent_id = identity.agent_of(request, said if isinstance(said, str) and said else None, writes=True)
        edge = Told(
            source=names.clean_reference(body.source_entity, 0, "/source_entity"),
            relation=names.clean_name(body.relation, pointer="/relation"),
            target=names.clean_reference(body.target_entity, 0, "/target_entity"),
            agent_id=agent_id,
            source_type=names.clean_name(body.source_type or "entry", pointer="/source_type"),
            target_type=names.clean_name(body.target_type or "entry", pointer="/target_type"),
            branch=names.clean_name(body.branch, pointer="/branch") if body.branch else "main",
            confidence=1.0 if body.confidence is None else body.confidence,
            provenance=provenance,
        )
        edges.tell(request.user.account_id, edge, timezone.now())
        return api.answer({"status": "ok"})


class Neighbours(APIView):
    """What hangs together with a node."""

    @docs.graph_neighbors
    def get(self, request: Request) -> HttpResponse:
        """List edges around an entry, an outcome or an agent, breadth first, each once."""
        viewer, query = identity.viewer_of(request, identity.agent_of(request)), request.query_params
        direction = query.get("direction") or "both"
        if direction not in DIRECTIONS:
            raise Refused("/direction", f"A direction is one of {', '.join(DIRECTIONS)}, not {direction!r}.")
        out, into = DIRECTIONS[direction]
        limit = whole(query.get("limit", ""), "/limit", 1, 2**31)
        asked = Asked(
            entity=names.clean_reference(query.get("entity", ""), 0, "/entity"),
            now=timezone.now(),
            relation=asked_name(query.get("relation", ""), "/relation"),
            out=out,
            into=into,
            least=probability_of(query.get("min_confidence", ""), "/min_confidence"),
            depth=whole(query.get("depth", ""), "/depth", 1, neighbours.DEPTH) or 1,
            limit=min(limit or 50, NEIGHBOURS),
            branch=asked_name(query.get("branch", ""), "/branch") or "main",
        )
        found = [neighbours.told(edge) for edge in neighbours.neighbours(viewer, asked)]
        return api.answer({"entity": asked.entity, "edges": found, "count": len(found)})


def probability_of(text: str, pointer: str) -> float:
    """Return a number from 0 to 1, 0 when it is not given.

    :raises Refused: it is none.
    """
    try:
        value = float(text or 0)
    except ValueError as error:
        raise Refused(pointer, "A number from 0 to 1 is expected here.") from error
    if not 0 <= value <= 1:
        raise Refused(pointer, "A number from 0 to 1 is expected here.")
    return value

"""Agents: who there is, what each says of itself, what it wrote, read and knows (contract.md 2.15 and 2.18)."""

from collections import defaultdict
from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import reads
from memories.api import bindings, identity, screened, wire
from memories.api.entries import whole
from memories.heads import Name
from memories.rows import Row
from memories.rules import names
from memories.search import Search
from memories.viewers import Viewer
from outcomes import timeline
from outcomes.agents import one, roster
from outcomes.agents.roster import Member
from outcomes.api import agent_docs as docs
from outcomes.api.traces import limit_of
from outcomes.api.views import asked_name, refuse_what_cannot_be_kept
from outcomes.graph import neighbours
from outcomes.graph.neighbours import Asked
from senselab import api
from senselab.accounts import services as accounts
from senselab.accounts.models import Agent
from senselab.errors import NotFound

PATHS = 1_000


class ProfileBody(msgspec.Struct):
    """PUT /agents/ID/profile: what is looked at; the rest is kept as it came."""

    description: str = ""
    default_branch: str = "main"
    auto_context_paths: list[str] = []
    tags: list[str] = []
    session_metadata: dict[str, Any] | None = None


def viewer_of(request: Request) -> Viewer:
    return identity.viewer_of(request, identity.agent_of(request))


def member(one_of: Member) -> dict[str, Any]:
    metadata = one_of.profile.get("session_metadata") or {}
    return {
        "agentId": one_of.agent_id,
        "entriesWritten": one_of.entries.entries,
        "entitiesTouched": one_of.paths,
        "lastActive": one_of.last_at,
        "createdAt": one_of.created_at or one_of.last_at,
        "description": one_of.profile.get("description") or "",
        "platform": (isinstance(metadata, dict) and metadata.get("platform")) or "",
    }


class Agents(APIView):
    """The agents of an account."""

    @docs.list_agents
    def get(self, request: Request) -> HttpResponse:
        """List agents, those active last first."""
        found = roster.members(viewer_of(request), timezone.now(), limit=limit_of(request.query_params))
        return api.answer({"agents": [member(one_of) for one_of in found]})


class Enriched(APIView):
    """The agents with their figures."""

    @docs.enriched_agents
    def get(self, request: Request) -> HttpResponse:
        """List agents with what they read and how their tasks ended in the last 30 days."""
        now = timezone.now()
        found = roster.members(viewer_of(request), now, limit=limit_of(request.query_params))
        return api.answer({"agents": [enriched(one_of, now) for one_of in found], "days": roster.WINDOW.days})


def enriched(one_of: Member, now: Any) -> dict[str, Any]:
    return {
        **member(one_of),
        "reads": one_of.reads,
        "outcomes": one_of.ended.whole if one_of.ended else 0,
        "successRate": one_of.ended.rate if one_of.ended else None,
        "discreditedShare": one_of.discredited,
        "silentDays": one_of.silent_for(now),
    }


class Discover(APIView):
    """Agents by what they say they can do."""

    @docs.discover_agents
    def get(self, request: Request) -> HttpResponse:
        """Find agents by capability, by an entity path they name, or by tag."""
        query = request.query_params
        viewer = viewer_of(request)
        asked = {name: query.get(name, "").strip() for name in ("capability", "entity_path", "tag")}
        known = roster.described(viewer, limit_of(query))
        found = [agent for agent in known if fits(agent, viewer, **asked)]
        return api.answer({"agents": bindings.told_all(found, viewer), "total": len(found)})


def fits(agent: Agent, viewer: Viewer, *, capability: str, entity_path: str, tag: str) -> bool:
    able = [
        one_of
        for one_of in bindings.said(agent, viewer)["capabilities"]
        if not capability or one_of.get("name") == capability
    ]
    if entity_path:
        able = [one_of for one_of in able if entity_path in (one_of.get("entity_paths") or [])]
    tagged = not tag or tag in (agent.profile.get("tags") or [])
    return tagged and (bool(able) or not (capability or entity_path))


class Profile(APIView):
    """What an agent is."""

    @docs.read_profile
    def get(self, request: Request, agent_id: str) -> HttpResponse:
        """Return what an agent says of itself, and what it wrote and read."""
        viewer, name, now = viewer_of(request), names.clean_name(agent_id), timezone.now()
        agent = roster.known(viewer, name)
        found = roster.member(viewer, name, now)
        if agent is None and found is None:
            raise NotFound("There is no such agent.", extra={"error": "There is no such agent."})
        of = found or Member(name)
        told = {
            "agentId": name,
            "entriesWritten": of.entries.entries,
            "entitiesTouched": of.paths,
            "entityPaths": [place.entity_path for place in one.places(viewer, name, limit=PATHS)],
            "totalReads": of.reads,
            "decisionTraces": one.count_traces(viewer, name),
            "lastActive": of.last_at,
            **(bindings.said(agent, viewer) if agent else {"profile": {}, "capabilities": [], "contracts": []}),
            "displayName": (agent.display_name if agent else "") or None,
            "createdAt": agent.created_at if agent else None,
        }
        return api.answer(told)

    @docs.set_profile
    def put(self, request: Request, agent_id: str) -> HttpResponse:
        """Keep what an agent says of itself."""
        body = screened.body_of(request, ProfileBody)
        said = screened.body_of(request, dict[str, Any])  # type: ignore[type-var]
        refuse_what_cannot_be_kept(said, "")
        name = identity.agent_of(request, agent_id, writes=True)
        profile = said | msgspec.to_builtins(body)
        agent = accounts.describe_agent(request.user.account_id, name, now=timezone.now(), profile=profile)
        return api.answer(bindings.told(agent, identity.viewer_of(request, name)))


class Entries(APIView):
    """What an agent wrote."""

    @docs.agent_entries
    def get(self, request: Request, agent_id: str) -> HttpResponse:
        """List the entries of an agent that the caller may see, newest first."""
        viewer, now, query = viewer_of(request), timezone.now(), request.query_params
        offset = whole(query.get("offset", ""), "/offset", 0, 2**31) or 0
        asked = Search(agent_id=names.clean_name(agent_id), sort="recency", limit=limit_of(query), offset=offset)
        found, total = reads.list_entries(asked, viewer, now)
        told = [wire.entry(row, now, viewer.policy) for row in found]
        return api.answer({"agentId": agent_id, "entries": told, "total": total})


class Recall(APIView):
    """One entry of an agent."""

    @docs.agent_recall
    def get(self, request: Request, agent_id: str, rest: str) -> HttpResponse:
        """Return the entry of a path and key when this agent wrote it and the caller may see it."""
        return of_author(request, [(agent_id, rest)])


class ReadFrom(APIView):
    """One entry of another agent."""

    @docs.agent_read_from
    def get(self, request: Request, agent_id: str, rest: str) -> HttpResponse:
        """Return an entry that the agent named first wrote; where its id has slashes every way to read it is tried."""
        names.clean_name(agent_id)
        at = [place for place, letter in enumerate(rest) if letter == "/"]
        return of_author(request, [(rest[:place], rest[place + 1 :]) for place in at])


def of_author(request: Request, asked: list[tuple[str, str]]) -> HttpResponse:
    """Answer with the first entry among (author, path/key) that is there; contract.md 2.3 has 200 for none."""
    viewer, now = viewer_of(request), timezone.now()
    for author, entry_key in asked:
        path, _, key = entry_key.rpartition("/")
        if not path or not key:
            continue
        row = reads.entry(viewer, "main", Name(names.clean_path(path), names.clean_key(key)), now)
        if row is not None and row.agent_id == author:
            wire.note_recall(row, viewer, identity.session_of(request), now)
            return answer_of(row, viewer, now)
    path, _, key = (asked[-1][1] if asked else "").rpartition("/")
    return api.answer({"status": "not_found", "entity_path": path, "key": key})


def answer_of(row: Row, viewer: Viewer, now: Any) -> HttpResponse:
    return api.answer(wire.entry(row, now, viewer.policy), headers=wire.reuse_header(row, viewer))


class CrossAgentReads(APIView):
    """What an agent read of others."""

    @docs.cross_agent_reads
    def get(self, request: Request, agent_id: str) -> HttpResponse:
        """List by author what an agent read of others in the last 30 days."""
        reads_by: dict[str, list[dict[str, Any]]] = defaultdict(list)
        name = names.clean_name(agent_id)
        for author, path, key, times in one.read_of_others(viewer_of(request), name, timezone.now()):
            reads_by[author].append({"entity_path": path, "key": key, "read_count": times})
        return api.answer({"agentId": name, "days": roster.WINDOW.days, "reads": reads_by})


class Activity(APIView):
    """What an agent did lately."""

    @docs.agent_activity
    def get(self, request: Request, agent_id: str) -> HttpResponse:
        """List the latest events of an agent's timeline."""
        name, limit = names.clean_name(agent_id), limit_of(request.query_params)
        page = timeline.page(viewer_of(request), timeline.Asked(name), limit=limit)
        told = [timeline.told(name, event) for event in page.events]
        return api.answer({"agentId": name, "activity": told, "count": len(told)})


class MemoryGraph(APIView):
    """What hangs together around an agent."""

    @docs.memory_graph
    def get(self, request: Request, agent_id: str) -> HttpResponse:
        """Return the edges around an agent, two steps far, and the nodes they join."""
        limit = min(limit_of(request.query_params), 500)
        asked = Asked(names.clean_name(agent_id), timezone.now(), depth=2, limit=limit)
        found = neighbours.neighbours(viewer_of(request), asked)
        nodes = {edge.source: edge.source_type for edge in found} | {edge.target: edge.target_type for edge in found}
        told = {
            "agentId": asked.entity,
            "nodes": [{"id": name, "type": kind} for name, kind in nodes.items()],
            "edges": [neighbours.told(edge) for edge in found],
        }
        return api.answer(told)


class Expertise(APIView):
    """Who knows what."""

    @docs.expertise
    def get(self, request: Request) -> HttpResponse:
        """List who wrote about which entity, those with most validated entries first."""
        query = request.query_params
        path = asked_name(query.get("entity_path", ""), "/entity_path")
        found = one.experts(viewer_of(request), path, limit=limit_of(query))
        fields = ("agent_id", "entity_path", "entry_count", "validated", "discredited", "avg_confidence")
        return api.answer({"expertise": [dict(zip(fields, row, strict=True)) for row in found], "total": len(found)})

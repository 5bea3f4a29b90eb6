"""Digests and consolidation as the public clients ask for them (contract.md 2.15 and 2.16)."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import activity, digests
from memories.api import cortex_docs, identity
from memories.api.entries import whole
from memories.queue import pairs
from memories.queue.pairs import Pair
from memories.rules.refusals import Refused
from senselab import api

DAYS = 14


class Digests(APIView):
    """What there is about each entity, agent and source."""

    @cortex_docs.digests
    def get(self, request: Request) -> HttpResponse:
        """Return digests, computed now, those with most entries first."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        kind = request.query_params.get("digest_type", "")
        limit = whole(request.query_params.get("limit", ""), "/limit", 1, 500) or 100
        found = digests.digests(viewer, timezone.now(), kind=kind, limit=limit)
        return api.answer({"digests": found, "total": len(found)})


class CortexStatus(APIView):
    """How many digests there would be."""

    @cortex_docs.status
    def get(self, request: Request) -> HttpResponse:
        """Say what digests there are; they are computed when asked for, so they are never stale."""
        found = digests.counts(identity.viewer_of(request, identity.agent_of(request)))
        return api.answer({"status": "live", "digest_count": sum(found.values()), "digest_types": found})


class CortexActivity(APIView):
    """What has been going on."""

    @cortex_docs.activity
    def get(self, request: Request) -> HttpResponse:
        """Return writes by day, oldest first, and the agents of the last week."""
        viewer, now = identity.viewer_of(request, identity.agent_of(request)), timezone.now()
        writers = activity.agents(viewer, now, 50)
        told = [{"agent_id": one.agent_id, "writes": one.writes, "last_active": one.last_at} for one in writers]
        return api.answer({"days": DAYS, "writes": activity.writes_by_day(viewer, now, DAYS), "agents": told})


class ConsolidationStatus(APIView):
    """What is merged by itself: nothing."""

    @cortex_docs.consolidation_status
    def get(self, request: Request) -> HttpResponse:
        """Say that nothing is merged or archived here without a person's decision, and how much may say the same."""
        alike = pairs.count(identity.viewer_of(request, identity.agent_of(request)), timezone.now())
        told: dict[str, Any] = {"enabled": False, "auto_archived": 0, "pending_proposals": 0, "candidates": alike}
        told |= {"health": "ok"}
        return api.answer(told | {"note": "Entries are merged and archived by people, in the review queue."})


class Proposals(APIView):
    """Proposals to merge entries."""

    @cortex_docs.proposals
    def get(self, request: Request) -> HttpResponse:
        """Return no proposals: what looks alike is listed under candidates, and people decide."""
        status = request.query_params.get("status", "pending")
        return api.answer({"proposals": [], "total": 0, "status": status})


class Candidates(APIView):
    """Entries that may say the same."""

    @cortex_docs.candidates
    def get(self, request: Request) -> HttpResponse:
        """Return pairs of entries that say nearly the same, or the opposite, the newest first."""
        viewer, now = identity.viewer_of(request, identity.agent_of(request)), timezone.now()
        query = request.query_params
        limit = whole(query.get("limit", ""), "/limit", 1, 1_000) or pairs.PAGE
        page = pairs.page(viewer, now, cursor=query.get("cursor", ""))
        told = [candidate(pair) for pair in page.pairs[:limit]]
        return api.answer({"candidates": told, "total": pairs.count(viewer, now), "next": page.next or None})


def candidate(pair: Pair) -> dict[str, Any]:
    sides = [{"entity_path": row.entity_path, "key": row.key, "version": row.version} for row in pair.sides]
    return {"kind": pair.kind, "score": pair.score, "why": pair.why, "found_at": pair.found_at, "entries": sides}


class Consolidate(APIView):
    """A round of merging."""

    scopes = {"POST": "read"}

    @cortex_docs.consolidate
    def post(self, request: Request) -> HttpResponse:
        """Answer what a dry run would find.

        :raises Refused: a run that changes entries is asked for.
        """
        body = api.body_of(request, cortex_docs.ConsolidateBody)
        if body.dry_run is False:
            raise Refused("/dry_run", "Entries are merged and archived by people, in the review queue, not by a run.")
        page = pairs.page(identity.viewer_of(request, identity.agent_of(request)), timezone.now())
        alike = [candidate(pair) for pair in page.pairs]
        return api.answer({"dry_run": True, "auto_archived": 0, "proposals_created": 0, "candidates": alike})

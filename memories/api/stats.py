"""Figures of an account (contract.md 1.8 and 2.10), counting only what the caller may see."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import figures, tallies
from memories.api import docs, identity
from memories.api.entries import truth
from memories.viewers import Viewer
from senselab import api


class Stats(APIView):
    @docs.stats
    def get(self, request: Request) -> HttpResponse:
        """Return counts, confidence, types and weeks; breakdown=false leaves out the maps of agents and entities."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        breakdown = truth(request.query_params.get("breakdown", "true"), "/breakdown")
        return api.answer(stats(viewer, breakdown=breakdown))


def stats(viewer: Viewer, *, breakdown: bool) -> dict[str, Any]:
    tally = tallies.of(viewer)
    total, (oldest, newest) = tally.total, figures.ages(viewer)
    ends = tallies.extremes(viewer, tally, timezone.now())
    told: dict[str, Any] = {
        "total_entries": total.entries,
        "total_entities": tally.health.entities,
        "total_agents": len(tally.agents),
        "confidence_avg": total.confidence_avg,
        "confidence_min": ends.confidence_min,
        "confidence_max": ends.confidence_max,
        "outcome_linked_count": total.outcome_linked,
        "oldest_entry_at": oldest,
        "newest_entry_at": newest,
        "total_recalls": total.recalls,
        "recalled_tokens_saved": total.tokens_saved,
        "entries_this_week": ends.this_week,
        "entries_last_week": ends.last_week,
        "recalls_this_week": None,
        "recalls_last_week": None,
        "memory_type_counts": {
            "fact": total.facts,
            "belief": total.beliefs,
            "experience": total.experiences,
            "procedure": total.procedures,
        },
        "evidence_counts": {
            name: getattr(total, name) for name in ("untested", "validated", "contested", "discredited")
        },
        "tier_counts": {"hot": total.hot, "warm": total.warm, "archive": total.cold},
        "entity_confidence": tally.health.told,
    }
    if breakdown:
        told["agents"] = tally.agents
        told["entities"] = tallies.entities(viewer, tally)
    return told


class Entities(APIView):
    @docs.entities
    def get(self, request: Request) -> HttpResponse:
        """Return each entity with its count, mean confidence, who wrote there last, and recalls."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        return api.answer({"entities": figures.entities(viewer)})

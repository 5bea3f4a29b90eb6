"""Figures of an account (contract.md 1.8 and 2.10), counting only what the caller may see."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import figures
from memories.api import docs, identity
from memories.api.entries import truth
from memories.figures import Totals
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
    by_path, by_agent = figures.by_path(viewer), figures.by_agent(viewer)
    total = sum(by_path.values(), Totals())
    ends = figures.extremes(viewer, timezone.now())
    told: dict[str, Any] = {
        "total_entries": total.entries,
        "total_entities": sum(sums.entries > 0 for sums in by_path.values()),
        "total_agents": len(by_agent),
        "confidence_avg": total.confidence_avg,
        "confidence_min": ends.confidence_min,
        "confidence_max": ends.confidence_max,
        "outcome_linked_count": total.outcome_linked,
        "oldest_entry_at": ends.oldest,
        "newest_entry_at": ends.newest,
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
        "entity_confidence": figures.health(by_path.values()),
    }
    if breakdown:
        told["agents"] = {agent: sums.entries for agent, sums in by_agent.items()}
        told["entities"] = {path: sums.entries for path, sums in by_path.items() if sums.entries}
    return told


class Entities(APIView):
    @docs.entities
    def get(self, request: Request) -> HttpResponse:
        """Return each entity with its count, mean confidence, who wrote there last, and recalls."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        return api.answer({"entities": figures.entities(viewer)})

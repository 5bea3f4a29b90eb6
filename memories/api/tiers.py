"""How the tiers stand (contract.md 2.18, and native)."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.ageing import tier_reads
from memories.ageing.tier_reads import Moved, Ranked
from memories.api import time_docs
from memories.api.entries import whole
from memories.api.history import viewer_of
from memories.rules import names
from memories.search import Search
from senselab import api

LIMIT, MOST = 50, 1_000


def branch_of(request: Request) -> str:
    branch = request.query_params.get("branch")
    return names.clean_name(branch, pointer="/branch") if branch else "main"


class Distribution(APIView):
    """Counts by tier."""

    @time_docs.distribution
    def get(self, request: Request) -> HttpResponse:
        """Return how many entries stand in each tier, and their mean priority."""
        viewer, branch = viewer_of(request), branch_of(request)
        counts = tier_reads.distribution(viewer, branch)
        told = {
            "total": counts.total,
            "hot": counts.hot,
            "warm": counts.warm,
            "archive": counts.archive,
            # Every entry has a priority, as it is computed when asked for.
            "scored": counts.total,
            "avg_priority_score": tier_reads.mean_priority(viewer, timezone.now(), branch),
        }
        return api.answer(told)


class TierEntries(APIView):
    """Entries by priority."""

    @time_docs.tier_entries
    def get(self, request: Request) -> HttpResponse:
        """List entries of a tier, the first priority first."""
        query = request.query_params
        tier = whole(query.get("tier", ""), "/tier", 1, 3)
        limit = whole(query.get("limit", ""), "/limit", 1, MOST) or LIMIT
        asked = Search(branch=branch_of(request), tiers=(tier,) if tier else ())
        page = tier_reads.entries(asked, viewer_of(request), timezone.now(), limit=limit)
        return api.answer([row(one) for one in page.entries])


def row(one: Ranked) -> dict[str, Any]:
    """Return an entry as contract.md 2.18 lists it."""
    return {
        "entity_path": one.row.entity_path,
        "key": one.row.key,
        "confidence": one.row.state.confidence,
        "tier": one.row.tier,
        "priority_score": one.priority.value,
        "recall_count": one.row.recall_count,
        "importance_score": one.row.importance_score,
        "written_at": one.row.written_at,
        "agent_id": one.row.agent_id,
    }


class Tiers(APIView):
    """The tiers of a branch."""

    @time_docs.tiers
    def get(self, request: Request) -> HttpResponse:
        """Return counts and capacities of the tiers, and what rose and fell today with the priority that decided."""
        viewer, branch, now = viewer_of(request), branch_of(request), timezone.now()
        counts = tier_reads.distribution(viewer, branch)
        moved = tier_reads.moved_today(viewer, now, branch)
        told = {
            "branch": branch,
            "tiers": {
                "hot": {"tier": 1, "count": counts.hot, "capacity": counts.hot_capacity},
                "warm": {"tier": 2, "count": counts.warm, "capacity": counts.warm_capacity},
                "archive": {"tier": 3, "count": counts.archive, "capacity": None},
            },
            "moved_today": [{"from": before, "to": after, "count": n} for (before, after), n in moved.items()],
            "moves": [move(one) for one in tier_reads.moves(viewer, now, branch)],
        }
        return api.answer(told)


def move(one: Moved) -> dict[str, Any]:
    return {
        "entity_path": one.entity_path,
        "key": one.key,
        "at": one.at,
        "from": one.before,
        "to": one.after,
        "priority": one.priority,
    }

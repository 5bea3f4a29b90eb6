"""What happens if nothing happens, to an entry or to a branch (DESIGN.md, native)."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.ageing import forecasts
from memories.ageing.forecasts import Coming, Horizon
from memories.api import time_docs
from memories.api.entries import whole
from memories.api.history import found, name_of, viewer_of
from memories.rules import names
from memories.rules.refusals import Refused
from senselab import api

LONGEST = 365


class Forecast(APIView):
    """The moments at which silence moves entries."""

    @time_docs.forecast
    def get(self, request: Request) -> HttpResponse:
        """Return when an entry leaves its tier, goes under review, is archived; or how many of a branch do, and which.

        Everything is told for the case that nothing happens: no write, recall, outcome or feedback.
        """
        query = request.query_params
        if query.get("entity_path") or query.get("key"):
            return of_entry(request)
        return of_branch(request)


def of_entry(request: Request) -> HttpResponse:
    viewer, now = viewer_of(request), timezone.now()
    row = found(viewer, *name_of(request), now)
    ahead = forecasts.of_entry(row, viewer.policy, viewer.account_id, now)
    told = {
        "entity_path": row.entity_path,
        "key": row.key,
        "tier": row.tier,
        "leaves_tier_at": ahead.leaves_tier_at,
        "under_review_at": ahead.under_review_at,
        "archived_at": ahead.archived_at,
        "expires_at": ahead.expires_at,
        "curve": [{"at": point.at, "effective_confidence": point.effective} for point in ahead.curve],
    }
    return api.answer(told, headers=api.etag(row.version))


def of_branch(request: Request) -> HttpResponse:
    query, viewer, now = request.query_params, viewer_of(request), timezone.now()
    branch = names.clean_name(query["branch"], pointer="/branch") if query.get("branch") else "main"
    days = whole(query.get("days", ""), "/days", 1, LONGEST) or 30
    kind = query.get("kind", "")
    if not kind:
        horizons = forecasts.horizons(viewer, now, branch)
        return api.answer({"branch": branch, "within": [horizon(one) for one in horizons]})
    if kind not in forecasts.KINDS:
        raise Refused("/kind", f"It is one of {', '.join(forecasts.KINDS)}, not {kind!r}.")
    page = forecasts.coming(viewer, now, kind, days, branch, cursor=query.get("cursor", ""))
    told = {"branch": branch, "kind": kind, "days": days, "entries": [entry(one) for one in page.entries]}
    return api.answer({**told, "next": page.next or None})


def horizon(one: Horizon) -> dict[str, int]:
    return {
        "days": one.days,
        "under_review": one.review,
        "archived": one.archive,
        "expired": one.expire,
        "left_tier": one.fall,
    }


def entry(one: Coming) -> dict[str, Any]:
    told = {
        "entity_path": one.entity_path,
        "key": one.key,
        "status": one.status,
        "tier": one.tier,
        "confidence": one.confidence,
        "at": one.at,
    }
    return told if one.then is None else {**told, "tier_then": one.then}

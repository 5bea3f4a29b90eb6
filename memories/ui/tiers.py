"""The page of tiers: how full they are, how they stood, what moved today and why, who is in one; who is near a border
takes ranking what may come near, so that is loaded a moment later."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_safe

from memories.ageing import tier_reads
from memories.ageing.tier_reads import Distribution
from memories.rules.kinds import MemoryType
from memories.search import Search
from memories.ui import filters
from memories.ui.people import viewer_of
from senselab import addresses
from senselab.addresses import Problem
from senselab.cursors import BadCursor
from senselab.ui import for_people, render_page

NARROWING = ("q", "path", "type", "agent", "branch")
PARSERS: addresses.Parsers = {name: filters.PARSERS[name] for name in NARROWING}


@require_safe
@for_people
def tiers(request: HttpRequest) -> HttpResponse:
    """Show the tiers of a branch, and a page of the entries of one; htmx gets only that page."""
    viewer, now, query = viewer_of(request), timezone.now(), request.GET
    asked, problems = addresses.parse(query, PARSERS, filters.LABELS, now)
    word = query.get("tier", "hot")
    tier = filters.TIERS.get(word)
    if tier is None:
        problems.append(Problem("tier", f"One of {', '.join(filters.TIERS)} is meant."))
        tier = filters.TIERS["hot"]
    search = Search(**{**asked, "tiers": (tier,)})
    context: dict[str, Any] = {"tier": tier, "words": list(filters.TIERS), "problems": problems, "given": query}
    context |= {"types": [kind.value for kind in MemoryType], "chips": chips_of(query, asked), "now": now}
    try:
        page = tier_reads.entries(search, viewer, now, cursor=query.get("cursor", ""))
        context |= {"page": page, "next_url": addresses.page_after(query, page.next)}
        context |= {"first_url": addresses.without(query) if "cursor" in query else ""}
    except BadCursor as error:
        problems.append(Problem("page", f"{error.detail} Start again at the first page."))
    if not request.htmx:  # type: ignore[attr-defined]
        context |= standing(request, search.branch)
    status = 400 if problems else 200
    part = "memories/_tier_entries.html"
    return render_page(request, "memories/tiers.html", part=part, context=context, status=status)


@require_safe
@for_people
def borders(request: HttpRequest) -> HttpResponse:
    """Show who stands near the borders of a branch's tiers; htmx gets the part for the page of tiers."""
    now = timezone.now()
    asked, _ = addresses.parse(request.GET, {"branch": PARSERS["branch"]}, filters.LABELS, now)
    context = {"borders": tier_reads.borders(viewer_of(request), now, Search(**asked).branch)}
    return render_page(request, "memories/borders.html", part="memories/_tier_borders.html", context=context)


def chips_of(query: QueryDict, asked: Mapping[str, Any]) -> list[addresses.Chip]:
    """Return a chip for each filter that is on."""
    search = Search(**asked)
    names = [name for name in NARROWING if name != "branch" and query.get(name, "").strip()]
    fitting = [name for name in names if any(field in asked for field in filters.FIELDS[name])]
    return [addresses.chip(query, name, filters.LABELS[name], filters.said(name, search, query)) for name in fitting]


def standing(request: HttpRequest, branch: str) -> dict[str, Any]:
    """Return what the page shows beside its list."""
    viewer, now = viewer_of(request), timezone.now()
    distribution = tier_reads.distribution(viewer, branch)
    moved = tier_reads.moved_today(viewer, now, branch)
    days = tier_reads.days(viewer, now, branch)
    return {
        "distribution": distribution,
        "fills": fills(distribution),
        "policy": viewer.policy,
        "days": days,
        "counted": sum(day.hot is not None for day in days),
        "moves": tier_reads.moves(viewer, now, branch),
        "rose": sum(count for (before, after), count in moved.items() if after < before),
        "fell": sum(count for (before, after), count in moved.items() if after > before),
    }


def fills(counts: Distribution) -> list[dict[str, Any]]:
    """Return each tier with its use: the share of its capacity, or of all entries for the archive."""
    rows = [("hot", counts.hot, counts.hot_capacity), ("warm", counts.warm, counts.warm_capacity)]
    made = [
        {"word": word, "tier": filters.TIERS[word], "count": count, "capacity": capacity, "full": count >= capacity}
        | {"parts": [("a", count), ("c", max(0, capacity - count))]}
        for word, count, capacity in rows
    ]
    rest = {"word": "archive", "tier": 3, "count": counts.archive, "capacity": None, "full": False}
    return [*made, rest | {"parts": [("b2", counts.archive), ("c", counts.total - counts.archive)]}]

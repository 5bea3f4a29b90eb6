"""Agents: what each wrote and read, how its tasks ended, how far its word holds."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from memories.rules import names
from memories.ui.people import viewer_of
from outcomes import timeline
from outcomes.agents import one, roster
from outcomes.agents.roster import Member
from senselab.addresses import page_after, without
from senselab.cursors import BadCursor
from senselab.errors import NotFound
from senselab.ui import for_people, render_page

EVENTS = 30
# What a filter of the timeline may say.
KINDS = {"write": "writes", "outcome": "outcomes", "read": "reads", "cross_agent_read": "read by others"}


@require_safe
@for_people
def agents(request: HttpRequest) -> HttpResponse:
    """Show all agents, those active last first, and who fell silent."""
    now = timezone.now()
    found = roster.members(viewer_of(request), now)
    lines = [(member, member.silent_for(now)) for member in found]
    context = {
        "lines": lines,
        "silent": [(member, days) for member, days in lines if days is not None][:5],
        "silent_count": sum(days is not None for _, days in lines),
        "days": roster.WINDOW.days,
        "silence": roster.SILENT.days,
        "most": roster.MOST,
    }
    return render_page(request, "outcomes/agents.html", context=context)


@require_safe
@for_people
def agent(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Show one agent; htmx gets a page of its timeline."""
    viewer, now, query = viewer_of(request), timezone.now(), request.GET
    name = names.clean_name(agent_id)
    known = roster.known(viewer, name)
    found = roster.member(viewer, name, now)
    if known is None and found is None:
        raise NotFound("There is no such agent.")
    kind = query.get("kind", "") if query.get("kind", "") in KINDS else ""
    try:
        events = timeline.page(viewer, timeline.Asked(name, kind), cursor=query.get("cursor", ""), limit=EVENTS)
    except BadCursor:
        events = timeline.page(viewer, timeline.Asked(name, kind), limit=EVENTS)
    member = found or Member(name, last_at=known.last_active_at if known else None)
    calibration = one.calibration(viewer, name)
    context: dict[str, Any] = {
        "member": member,
        "agent": known,
        "silent_for": member.silent_for(now),
        "calibration": calibration,
        "points": [(kept.stated, kept.held, kept.good + kept.bad) for kept in calibration],
        "relies_on": one.relies_on(viewer, name),
        "places": one.places(viewer, name),
        "events": events.events,
        "next_url": page_after(query, events.next),
        "first_url": without(query) if "cursor" in query else "",
        "kinds": KINDS,
        "kind": kind,
        "days": roster.WINDOW.days,
        "entries_looked_at": one.ENTRIES,
        "traces_looked_at": one.TRACES,
    }
    return render_page(request, "outcomes/agent.html", part="outcomes/_agent_timeline.html", context=context)

"""The pages of erasing an entry or an agent: what goes, what stays out of reach, and the name to be typed."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from memories.entry import portrait
from memories.rules import names
from memories.services.erasing import Target
from memories.ui import named
from memories.ui.people import actor_of, viewer_of
from outcomes.services import erasing
from senselab.accounts.audit import who_of
from senselab.errors import Conflict, Invalid
from senselab.ui import for_admins, render_page

WORDS = {
    "values": "values, with their references, words and vectors",
    "reasons": "reasons that were given",
    "evidence": "descriptions of evidence",
    "comments": "comments",
    "outcomes": "outcomes that relied on it, with what the tasks were about and answered",
    "traces": "traces that tell of it, but that there was one",
    "events": "events on timelines, with summary and details",
    "edges": "edges of the graph",
}


@require_http_methods(["GET", "HEAD", "POST"])
@for_admins
def erase_entry(request: HttpRequest) -> HttpResponse:
    """Ask for reason and name, and erase what an entry says."""
    asked = named.asked(request)
    row = portrait.found(viewer_of(request), asked.branch, asked.name, asked.owner)
    target = Target(entry_ids=(row.entry_id,), names="names" in request.POST)
    return answered(request, target, row.entry_key, {"row": row, "back": reverse("entries")})


@require_http_methods(["GET", "HEAD", "POST"])
@for_admins
def erase_agent(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Ask for reason and name, and erase all that an agent said."""
    name = names.clean_name(agent_id)
    target = Target(agent_id=name, names="names" in request.POST)
    return answered(request, target, name, {"agent_id": name, "back": reverse("agents")})


def answered(request: HttpRequest, target: Target, name: str, context: dict[str, Any]) -> HttpResponse:
    """Show what would be erased; by POST erase it, or say why not."""
    viewer = viewer_of(request)
    context["refusal"] = None
    if request.method == "POST":
        try:
            done = erasing.erase(
                viewer.account_id,
                target,
                confirmation=name,
                typed=request.POST.get("confirm", "").strip(),
                actor=actor_of(request),
                by=who_of(request),
                policy=viewer.policy,
                reason=request.POST.get("reason", ""),
                now=timezone.now(),
            )
        except (Invalid, Conflict) as refusal:
            context["refusal"] = refusal
        else:
            messages.success(request, f"Erased for good; change set {done.change_set_id} stands for it.")
            return redirect(context["back"])
    told = erasing.foresee(viewer.account_id, target, name)
    context |= {
        "told": told,
        "counts": [(WORDS[word], number) for word, number in told.counts.items() if word in WORDS and number],
        "reason": request.POST.get("reason", ""),
        "with_names": target.names,
        "longest": erasing.LONGEST_REASON,
    }
    status = context["refusal"].status if context["refusal"] else 200
    return render_page(request, "outcomes/erase.html", context=context, status=status)

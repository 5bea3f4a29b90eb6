"""Entries that say nearly the same, or the opposite: one takes the other's place, or both stay."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from memories.queue import pairs as reads
from memories.rules.decisions import Item, Word
from memories.services import pairs as services
from memories.services import review
from memories.services.decisions import Decision
from memories.ui.decisions import row_of, whole
from memories.ui.people import actor_of, viewer_of
from senselab import addresses
from senselab.errors import Conflict, Invalid, NotFound, StaleVersion
from senselab.ui import for_people, for_reviewers, render_page


@require_safe
@for_people
def pairs(request: HttpRequest) -> HttpResponse:
    """Show pairs that are alike, the newest first."""
    viewer, now, cursor = viewer_of(request), timezone.now(), request.GET.get("cursor", "")
    page = reads.page(viewer, now, cursor=cursor)
    context = {
        "page": page,
        "next_url": addresses.page_after(request.GET, page.next),
        "first_url": addresses.without(request.GET) if cursor else "",
    }
    return render_page(request, "memories/pairs.html", context=context)


@require_POST
@for_reviewers
def decide_pair(request: HttpRequest) -> HttpResponse:
    """Let one entry of a pair take the other's place, or both stay; what stands in the way is said in a toast."""
    form, viewer, now = request.POST, viewer_of(request), timezone.now()
    keep, other, version = (whole(form, name) for name in ("keep", "other", "version"))
    if keep is None or other is None or (version or 0) >= 2**31:
        raise NotFound("There is no such pair.")
    if version is None:
        services.dismiss(viewer, keep, other, actor=actor_of(request), now=now)
        messages.success(request, "Both stay as they are.")
        return redirect("pairs")
    kept, item = row_of(viewer, keep), Item(other, version)
    decision = Decision(word=Word.SUPERSEDE, superseded_by=kept.entry_key)
    author = request.user.get_username()
    try:
        decided = review.decide(viewer, [item], decision, actor=actor_of(request), author=author, now=now)
    except (Conflict, StaleVersion, Invalid) as refusal:
        messages.error(request, f"{refusal.detail} Nothing was changed.")
        return redirect("pairs")
    undo = f"undo:{reverse('undo_decision', args=[decided.change_set_id])}" if decided.change_set_id else ""
    messages.success(request, f"{kept.entry_key} took its place.", extra_tags=undo)
    return redirect("pairs")

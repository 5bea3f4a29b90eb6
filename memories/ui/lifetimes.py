"""Setting and clearing the time to live of an entry; its form stands on the entry's page."""

from datetime import UTC, datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from memories.entry import portrait
from memories.services import lifetimes
from memories.ui import named
from memories.ui.people import actor_of, viewer_of
from memories.ui.rollback import LONGEST_REASON
from senselab.errors import Invalid
from senselab.templatetags.look import entry_address
from senselab.ui import for_reviewers


@require_POST
@for_reviewers
def set_ttl(request: HttpRequest) -> HttpResponse:
    """Set when an entry expires (`ttl_at`, a moment in UTC), or clear that with an empty one."""
    asked, viewer = named.asked(request), viewer_of(request)
    row = portrait.found(viewer, asked.branch, asked.name, asked.owner)
    written = lifetimes.set_ttl(
        viewer,
        row.entry_id,
        moment_in(request.POST.get("ttl_at", "")),
        expected=named.version_in(request.POST, "expected"),
        actor=actor_of(request),
        policy=viewer.policy,
        reason=reason_in(request.POST.get("reason", "")),
        now=timezone.now(),
    )
    undo = reverse("undo_change_set", args=[written.change_set_id])
    words = "It expires then." if request.POST.get("ttl_at", "").strip() else "It does not expire any more."
    messages.success(request, words, extra_tags=f"undo:{undo}")
    return redirect(entry_address(row))


def moment_in(text: str) -> datetime | None:
    """Return a moment as a form sends it, in UTC; None of an empty one.

    :raises Invalid: it is none.
    """
    if not text.strip():
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise Invalid("A moment is meant, such as 2026-12-31T23:59.", "/ttl_at") from error


def reason_in(text: str) -> str:
    """:raises Invalid: a reason cannot be kept."""
    reason = text.strip()
    if len(reason) > LONGEST_REASON or "\0" in reason:
        raise Invalid(f"A reason is at most {LONGEST_REASON:,} characters long and holds no NUL.", "/reason")
    return reason

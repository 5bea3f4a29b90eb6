"""Going back to an earlier version: what that would do, a reason, and the act itself."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from memories.rows import Row
from memories.services import going_back
from memories.services import rollback as services
from memories.services.going_back import Choice
from memories.services.rollback import Restored
from memories.ui import named
from memories.ui.people import actor_of, viewer_of
from senselab.errors import Invalid, Refusal, StaleVersion
from senselab.templatetags.look import entry_address
from senselab.ui import for_reviewers, render_page

LONGEST_REASON = 2_000


@dataclass(frozen=True, slots=True)
class Told:
    """What a person filled in: the version to go back to, the one they looked at, why, and whether it is only asked."""

    to: int | None
    expected: int | None
    reason: str
    is_preview: bool


@require_http_methods(["GET", "HEAD", "POST"])
@for_reviewers
def rollback(request: HttpRequest) -> HttpResponse:
    """Show what going back to a version would do; by POST, without `preview`, do it.

    Whoever looked at a version that is no longer the current one gets 412 and the new differences, the reason kept.
    """
    told = told_in(request.GET) if request.method != "POST" else told_in(request.POST)
    choice = choice_of(request, told.to)
    if request.method != "POST" or told.is_preview:
        return page(request, choice, told)
    try:
        refuse_gaps(told)
        done = services.roll_back(
            viewer_of(request),
            choice.row.entry_id,
            to=choice.to,
            expected=told.expected or 0,
            actor=actor_of(request),
            policy=viewer_of(request).policy,
            reason=told.reason,
            now=timezone.now(),
        )
    except StaleVersion as refusal:
        return page(request, choice_of(request, told.to), told, refusal)
    except Invalid as refusal:
        return page(request, choice, told, refusal)
    return done_page(request, choice, done)


def told_in(query: QueryDict) -> Told:
    return Told(
        named.version_in(query, "to"),
        named.version_in(query, "expected"),
        query.get("reason", "").replace("\r\n", "\n").strip(),
        "preview" in query,
    )


def choice_of(request: HttpRequest, to: int | None) -> Choice:
    asked = named.asked(request)
    return going_back.choice(viewer_of(request), asked.branch, asked.name, timezone.now(), owner=asked.owner, to=to)


def refuse_gaps(told: Told) -> None:
    """:raises Invalid: something is not said, or the reason cannot be kept."""
    if told.to is None or told.expected is None:
        raise Invalid("Say which version to go back to, and which one you looked at.", "/to")
    if not told.reason:
        raise Invalid("Say why: the reason is kept in the history, for the next reader.", "/reason")
    if len(told.reason) > LONGEST_REASON:
        raise Invalid(f"A reason is at most {LONGEST_REASON:,} characters long.", "/reason")
    if "\0" in told.reason:
        raise Invalid("A reason holds no NUL.", "/reason")


def page(request: HttpRequest, choice: Choice, told: Told, refusal: Refusal | None = None) -> HttpResponse:
    context = {
        "choice": choice,
        "row": choice.row,
        "told": told,
        "refusal": refusal,
        "is_stale": isinstance(refusal, StaleVersion),
        "longest": LONGEST_REASON,
        "here": entry_address(choice.row, "rollback"),
    }
    status = refusal.status if refusal else 200
    return render_page(
        request, "memories/rollback.html", part="memories/_rollback.html", context=context, status=status
    )


def done_page(request: HttpRequest, choice: Choice, done: Restored) -> HttpResponse:
    """Lead to the entry, with a toast that offers to undo what was done."""
    undo = reverse("undo_change_set", args=[done.change_set_id])
    words = f"v{done.version} is current: rolled back to v{choice.to}."
    messages.success(request, words, extra_tags=f"undo:{undo}")
    return led_to(request, choice.row)


def led_to(request: HttpRequest, row: Row) -> HttpResponse:
    address = entry_address(row)
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponseClientRedirect(address)
    answer: HttpResponseRedirect = redirect(address)
    return answer

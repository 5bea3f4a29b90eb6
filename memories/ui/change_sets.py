"""Change sets: who changed what, when and why; and the way back."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from memories.changes import change_reads, moves
from memories.changes.change_reads import Shown
from memories.changes.moves import Page, Reach
from memories.services import bulk, rollback
from memories.services.review import AT_ONCE
from memories.services.rollback import Undone
from memories.ui.people import actor_of, viewer_of
from memories.viewers import Viewer
from senselab import addresses
from senselab.addresses import Problem, one_of, text
from senselab.cursors import BadCursor
from senselab.errors import Conflict, NotFound, Refusal, StaleVersion
from senselab.ui import for_people, for_reviewers, render_page

# The acts that make change sets, in words.
KINDS = {
    "write": "Writes",
    "outcome": "Outcomes",
    "feedback": "Feedback",
    "evidence": "Evidence",
    "decision": "Decisions",
    "rollback": "Rollbacks",
    "undo": "Undos",
    "review": "Changes of a time to live",
    "policy": "Changes of policy",
    "decay": "Decay",
    "expire": "Expiries",
}
LABELS = {"kind": "kind", "actor": "by", "entity_path": "under", "since": "since", "until": "until"}
LONGEST_ACTOR = 256
LONGEST_PATH = 1_024
LONGEST_REASON = 2_000
PARSERS: addresses.Parsers = {
    "kind": lambda given: {"kind": one_of(KINDS, given.values)[-1]},
    "actor": lambda given: {"actor": text(given.last, LONGEST_ACTOR)},
    "entity_path": lambda given: {"entity_path": text(given.last, LONGEST_PATH)},
    "since": lambda given: {"since": addresses.day(given.last)},
    "until": lambda given: {"until": addresses.day_after(given.last)},
}


@for_people
def change_sets(request: HttpRequest) -> HttpResponse:
    """Show a page of change sets, newest first."""
    query = request.GET
    asked, problems = addresses.parse(query, PARSERS, LABELS, timezone.now())
    chips = [addresses.chip(query, name, LABELS[name], chip_words(name, query)) for name in LABELS if name in asked]
    context: dict[str, Any] = {"chips": chips, "problems": problems, "kinds": KINDS, "given": query}
    if not problems:
        try:
            viewer = viewer_of(request)
            page = moves.listed(viewer, cursor=query.get("cursor", ""), **asked)
            context |= {"rows": page.rows, "next_url": addresses.page_after(query, page.next)}
            context |= {"first_url": addresses.without(query) if "cursor" in query else ""}
        except BadCursor as error:
            problems.append(Problem("page", f"{error.detail} Start again at the first page."))
    return render_page(request, "memories/change_sets.html", context=context, status=400 if problems else 200)


def chip_words(name: str, query: QueryDict) -> str:
    value = str(query[name]).strip()
    return KINDS[value].lower() if name == "kind" else value


@dataclass(frozen=True, slots=True)
class Detail:
    """A change set with what it did, and what of that an undo could still take back."""

    change_set: Shown
    page: Page
    reach: Reach

    @property
    def can_be_undone(self) -> bool:
        return self.change_set.undone_by_id is None and (self.reach.untouched > 0 or self.is_comment)

    @property
    def is_comment(self) -> bool:
        """Tell whether it only said something, and made no version."""
        return self.change_set.size == 0


def detail_of(viewer: Viewer, change_set_id: int, cursor: str) -> Detail:
    """Return a change set with a page of what it did.

    :raises NotFound: there is none.
    :raises BadCursor: the cursor cannot be read.
    """
    found = change_reads.one(viewer, change_set_id) if change_set_id < 2**63 else None
    if found is None:
        raise NotFound("There is no such change set.")
    page = moves.page(viewer, change_set_id, cursor=cursor)
    return Detail(found, page, moves.reach(viewer, change_set_id))


@for_people
def change_set(request: HttpRequest, change_set_id: int) -> HttpResponse:
    """Show what one act changed, entry by entry."""
    return show(request, change_set_id)


def show(request: HttpRequest, change_set_id: int, refusal: Refusal | None = None) -> HttpResponse:
    detail = detail_of(viewer_of(request), change_set_id, request.GET.get("cursor", ""))
    context = {
        "detail": detail,
        "refusal": refusal,
        "reason": request.POST.get("reason", ""),
        "next_url": addresses.page_after(request.GET, detail.page.next),
        "first_url": addresses.without(request.GET) if "cursor" in request.GET else "",
    }
    return render_page(request, "memories/change_set.html", context=context, status=refusal.status if refusal else 200)


@require_POST
@for_reviewers
def undo_change_set(request: HttpRequest, change_set_id: int) -> HttpResponse:
    """Take a change set back; what cannot be is said on its page, under the status of the refusal."""
    try:
        if is_large(request, change_set_id):
            return redirect("bulk_run", undo_as_run(request, change_set_id, timezone.now()))
        done = undo(request, change_set_id, timezone.now())
    except (StaleVersion, Conflict, Unreadable) as refusal:
        return show(request, change_set_id, refusal)
    back = reverse("undo_change_set", args=[done.change_set_id])
    messages.success(request, words_of(done), extra_tags=f"undo:{back}")
    return redirect("change_set", done.change_set_id)


class Unreadable(Refusal):
    """A reason that cannot be kept."""

    title = "That reason cannot be kept"


def reason_of(request: HttpRequest) -> str:
    reason = request.POST.get("reason", "").strip()
    if len(reason) > LONGEST_REASON or "\0" in reason:
        raise Unreadable(f"A reason is at most {LONGEST_REASON:,} characters long and holds no NUL.")
    return reason


def wanted(change_set_id: int) -> int:
    """Return a number PostgreSQL can look for: one beyond it is nobody's change set."""
    return change_set_id if change_set_id < 2**63 else 0


def undo(request: HttpRequest, change_set_id: int, now: datetime) -> Undone:
    viewer, reason = viewer_of(request), reason_of(request)
    return rollback.undo(
        viewer, wanted(change_set_id), actor=actor_of(request), policy=viewer.policy, reason=reason, now=now
    )


def is_large(request: HttpRequest, change_set_id: int) -> bool:
    """Tell whether undoing it takes longer than a person waits; then a run does it."""
    found = change_reads.one(viewer_of(request), wanted(change_set_id))
    return found is not None and found.size > AT_ONCE


def undo_as_run(request: HttpRequest, change_set_id: int, now: datetime) -> int:
    return bulk.undo(viewer_of(request), change_set_id, actor=actor_of(request), reason=reason_of(request), now=now)


def words_of(done: Undone) -> str:
    """Return what an undo did, for a toast."""
    if not done.restored:
        return "Undone: what was said is out of sight."
    went = "1 entry is" if done.restored == 1 else f"{done.restored:,} entries are"
    stayed = f" {len(done.left):,} changed since and stayed as they are." if done.left else ""
    return f"Undone: {went} as before.{stayed}"

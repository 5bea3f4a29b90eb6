"""An agent went wrong: everything it wrote since a moment, with what it made of it, and the way back for all of it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from memories import activity
from memories.entry import comparison
from memories.entry.comparison import Field
from memories.queue import review_wrong
from memories.queue.review_wrong import Difference, Suspect, Written
from memories.rules import names
from memories.rules.decisions import Word
from memories.services import wrong as services
from memories.services.bulk import Outcome
from memories.services.review import AT_ONCE
from memories.ui.bulk import entries
from memories.ui.decisions import reason_of
from memories.ui.people import actor_of, viewer_of
from memories.viewers import Viewer
from senselab import addresses, wording
from senselab.addresses import Given, Problem, Unfit
from senselab.cursors import BadCursor
from senselab.errors import Conflict, Forbidden, Invalid, Refusal
from senselab.ui import DECIDING, for_people, render_page

AGENTS = 100
FIELDS = 12
DAY = timedelta(days=1)
LABELS = {"agent": "agent", "session": "session", "path": "entity", "since": "since"}


def moment(given: Given) -> datetime:
    """Return a moment in UTC, as a form sends it: 2026-11-30T08:15, or a day.

    :raises Unfit: it is none.
    """
    text = given.last.strip()
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise Unfit(f"A moment is meant, such as 2026-11-30T08:15, not “{wording.cut(text, 40)}”.") from error
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    if not 1970 <= at.year <= 9000:
        raise Unfit("A moment between 1970 and 9000 is meant.")
    return at


PARSERS: addresses.Parsers = {
    "agent": lambda given: {"agent_id": names.clean_name(given.last.strip())},
    "session": lambda given: {"session_id": names.clean_name(given.last.strip(), pointer="/session_id")},
    "path": lambda given: {"entity_path": names.clean_path(given.last.strip())},
    "since": lambda given: {"since": moment(given)},
}


@dataclass(frozen=True, slots=True)
class Line:
    """An entry they wrote, and what differs from the version before."""

    written: Written
    difference: Difference | None
    fields: list[Field]

    @property
    def before_number(self) -> str:
        return str(self.written.before)

    @property
    def now_number(self) -> str:
        return str(self.written.version)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people
def wrong(request: HttpRequest) -> HttpResponse:
    """Show what somebody wrote since a moment; by POST, roll all of it back or send it to review."""
    now = timezone.now()
    suspect, problems = suspect_of(request.GET, now)
    if request.method != "POST" or suspect is None:
        return page(request, suspect, problems, now)
    if request.role not in DECIDING:  # type: ignore[attr-defined]
        raise Forbidden("Your role in this account is viewer: you may look, not change. An admin can give you another.")
    try:
        outcome = act(request, suspect, now)
    except (Invalid, Conflict) as refusal:
        return page(request, suspect, problems, now, refusal)
    return told(request, suspect, outcome)


def suspect_of(query: QueryDict, now: datetime) -> tuple[Suspect | None, list[Problem]]:
    """Return whose writes an address means, None when it names nobody, and what in it cannot be."""
    asked, problems = addresses.parse(query, PARSERS, LABELS, now)
    if problems or not asked:
        return None, problems
    if "since" not in asked:
        return None, [Problem("since", "Say since when.")]
    suspect = Suspect(**asked)
    try:
        suspect.check(now)
    except Invalid as refusal:
        return None, [Problem(refusal.places[0].pointer.strip("/").replace("agent_id", "who"), refusal.detail)]
    return suspect, []


def page(
    request: HttpRequest,
    suspect: Suspect | None,
    problems: list[Problem],
    now: datetime,
    refusal: Refusal | None = None,
) -> HttpResponse:
    viewer, query = viewer_of(request), request.GET
    context: dict[str, Any] = {"suspect": suspect, "problems": problems, "refusal": refusal, "given": query}
    context |= {"agents": activity.agents(viewer, now, AGENTS), "typed": request.POST, "at_once": AT_ONCE}
    context |= {"since": query.get("since") or f"{now - DAY:%Y-%m-%dT%H:%M}"}
    context |= {"here": f"{reverse('wrong')}{addresses.without(query)}"}
    if suspect is not None:
        try:
            context |= found(viewer, suspect, query)
        except BadCursor as error:
            problems.append(Problem("page", f"{error.detail} Start again at the first page."))
    status = refusal.status if refusal else 400 if problems else 200
    return render_page(request, "memories/wrong.html", context=context, status=status)


def found(viewer: Viewer, suspect: Suspect, query: QueryDict) -> dict[str, Any]:
    """Return a page of what they wrote, each with what it changed.

    :raises BadCursor: the cursor cannot be read.
    """
    rows = review_wrong.page(suspect, viewer, cursor=query.get("cursor", ""))
    made = review_wrong.differences(viewer, rows.rows) if rows.rows else {}
    return {
        "counts": review_wrong.counts(suspect, viewer),
        "lines": [line_of(row, made.get(row.entry_id)) for row in rows.rows],
        "first_url": addresses.without(query) if "cursor" in query else "",
        "next_url": addresses.page_after(query, rows.next),
    }


def line_of(written: Written, made: Difference | None) -> Line:
    return Line(written, made, comparison.fields(made.changes[:FIELDS]) if made else [])


def act(request: HttpRequest, suspect: Suspect, now: datetime) -> Outcome:
    """:raises Invalid: there is nothing to take back, or nobody said what to do."""
    ways = {Word.RESTORE.value: services.roll_back, Word.SEND.value: services.send_to_review}
    way = ways.get(request.POST.get("decision", ""))
    if way is None:
        raise Invalid("Say what to do: roll back, or send to review.", "/decision")
    return way(viewer_of(request), suspect, actor=actor_of(request), reason=reason_of(request.POST), now=now)


def told(request: HttpRequest, suspect: Suspect, outcome: Outcome) -> HttpResponse:
    """Lead to the run, or to the change set, which shows what was done entry by entry."""
    if outcome.run_id is not None:
        return redirect("bulk_run", outcome.run_id)
    decided = outcome.decided
    if decided is None or decided.change_set_id is None:
        raise Conflict("All of it was changed meanwhile; nothing was taken back.")
    undo = reverse("undo_decision", args=[decided.change_set_id])
    did = "Rolled back" if request.POST["decision"] == Word.RESTORE else "Sent to review"
    left = f" {entries(len(decided.failed))} changed meanwhile and stayed." if decided.failed else ""
    messages.success(
        request, f"{did}: {entries(len(decided.done))} of {suspect.told()}.{left}", extra_tags=f"undo:{undo}"
    )
    return redirect("change_set", decided.change_set_id)

"""One decision about many: what it would be about, the act, and how a run of it is getting on."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from memories import reads
from memories.queue import review as queue
from memories.queue import review_runs
from memories.rows import Row
from memories.rules.decisions import Item, Word
from memories.services import bulk as services
from memories.services import bulk_run as runs
from memories.services.bulk import Order, Outcome
from memories.services.review import Decided
from memories.ui import queue_address
from memories.ui.decisions import DONE, decision_of, reason_of
from memories.ui.people import actor_of, viewer_of
from memories.ui.queue_address import REASONS, Asked
from memories.viewers import Viewer
from senselab import addresses
from senselab.errors import Conflict, Invalid, NotFound, Refusal
from senselab.ui import for_people, for_reviewers, render_page

SHOWN = 200
SAMPLE = 20
EVERYTHING = "everything"
# What makes sense about many at once, in words.
WORDS = {
    Word.ACCEPT.value: "Accept",
    Word.REJECT.value: "Reject",
    Word.ROLLBACK.value: "Roll back, each to its last validated version",
    Word.ARCHIVE.value: "Archive",
    Word.SNOOZE.value: "Snooze",
    Word.PIN.value: "Pin",
    Word.SUPERSEDE.value: "Supersede by one entry",
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is meant: entries at the versions seen, or all that the filter of the queue selects.

    `failed` says why entries were left alone when they were decided about a moment ago, by id.
    """

    items: list[Item]
    is_all: bool
    failed: dict[int, str]

    @property
    def seen(self) -> dict[int, int]:
        return {item.entry_id: item.version for item in self.items}


@require_POST
@for_reviewers
def bulk(request: HttpRequest) -> HttpResponse:
    """Show what a decision about many would be about; with `confirm`, make it: above 200 entries as a run."""
    now, asked = timezone.now(), queue_address.read(request.GET, timezone.now())
    if asked.problems:
        return redirect(asked.address())
    chosen = Chosen(items_of(request.POST), request.POST.get("all") == "1", {})
    if "confirm" not in request.POST:
        return page(request, asked, chosen, now)
    try:
        outcome = decide(request, asked, chosen, now)
    except (Invalid, Conflict) as refusal:
        return page(request, asked, chosen, now, refusal)
    return told(request, asked, outcome, now)


def items_of(form: QueryDict) -> list[Item]:
    """Return what was selected, as "id:version".

    :raises Invalid: something of it cannot be read.
    """
    items = []
    for text in dict.fromkeys(form.getlist("pick")):
        entry_id, _, version = text.partition(":")
        if not all(one.isascii() and one.isdigit() and len(one) <= 10 for one in (entry_id, version)):
            raise Invalid("That is no selection of this queue.", "/pick")
        items.append(Item(int(entry_id), int(version)))
    return items


def decide(request: HttpRequest, asked: Asked, chosen: Chosen, now: datetime) -> Outcome:
    """:raises Invalid: nothing is selected, or the whole queue without typing that out; or the decision cannot be."""
    form = request.POST
    if form.get("decision") not in WORDS:
        raise Invalid("Choose what to decide.", "/decision")
    order = Order(decision_of(form), actor_of(request), request.user.get_username(), reason_of(form))
    viewer = viewer_of(request)
    if not chosen.is_all:
        return services.decide(viewer, chosen.items, order, now)
    if asked.queue.is_everything and form.get("everything", "").strip().lower() != EVERYTHING:
        raise Invalid(f"This is the whole queue; type “{EVERYTHING}” if that is meant.", "/everything")
    return services.decide_matching(viewer, asked.start.queue, order, now, everything=True)


def told(request: HttpRequest, asked: Asked, outcome: Outcome, now: datetime) -> HttpResponse:
    """Lead to the run, back to the queue, or show what failed, still selected, at its present version."""
    if outcome.run_id is not None:
        return redirect("bulk_run", outcome.run_id)
    decided = outcome.decided
    assert decided is not None  # An outcome is one or the other.
    tell(request, asked, decided)
    if not decided.failed:
        return redirect(asked.start.address())
    present = reads.entries_by_ids(viewer_of(request), [one.entry_id for one in decided.failed])
    items = [Item(row.entry_id, row.version) for row in present]
    why = {one.entry_id: one.why for one in decided.failed}
    return page(request, asked, Chosen(items, False, why), now)


def tell(request: HttpRequest, asked: Asked, decided: Decided) -> None:
    if decided.change_set_id is not None:
        undo = asked.start.address("undo_decision", decided.change_set_id)
        did = DONE[request.POST["decision"]]
        messages.success(request, f"{did} {entries(len(decided.done))}.", extra_tags=f"undo:{undo}")


def entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number:,} entries"


def page(
    request: HttpRequest, asked: Asked, chosen: Chosen, now: datetime, refusal: Refusal | None = None
) -> HttpResponse:
    """Show what is meant, counted, with what can be decided."""
    context: dict[str, Any] = {"asked": asked, "chosen": chosen, "refusal": refusal, "typed": request.POST}
    context |= {"words": WORDS, "everything": EVERYTHING, "back": asked.address(), "here": asked.address("bulk")}
    viewer = viewer_of(request)
    try:
        context |= matching(viewer, asked, now) if chosen.is_all else selected(viewer, chosen)
    except Invalid as nothing:
        context["refusal"], context["total"] = nothing, 0
    status = context["refusal"].status if context["refusal"] else 200
    return render_page(request, "memories/bulk.html", context=context, status=status)


def matching(viewer: Viewer, asked: Asked, now: datetime) -> dict[str, Any]:
    """Return what the filter selects: how many, for which reasons, and the first of them.

    :raises Invalid: nothing.
    """
    start = asked.start.queue
    total = services.preview(viewer, start, now, everything=True)
    counts = queue.counts(start, viewer, now)
    found = queue.page(start, viewer, now).items[:SAMPLE]
    groups = [(REASONS[word], number) for word, number in counts.by_reason.items() if number]
    return {"total": total, "groups": groups, "rows": [(item.row, item.why) for item in found], "told": start.told()}


def selected(viewer: Viewer, chosen: Chosen) -> dict[str, Any]:
    """Return the selected entries as they stand, and how many of them moved since they were seen.

    :raises Invalid: nothing is selected.
    """
    if not chosen.items:
        raise Invalid("Nothing is selected.", "/pick")
    rows = sorted(reads.entries_by_ids(viewer, list(chosen.seen)[:SHOWN]), key=lambda row: row.entry_key)
    statuses = Counter(row.state.status.replace("_", " ").capitalize() for row in rows)
    return {
        "total": len(chosen.items),
        "groups": statuses.most_common(),
        "rows": [(row, note(row, chosen)) for row in rows],
        "moved": sum(row.version != chosen.seen[row.entry_id] for row in rows),
    }


def note(row: Row, chosen: Chosen) -> str:
    """Return what is to be known about a selected entry before it is decided about."""
    seen = chosen.seen[row.entry_id]
    moved = "" if row.version == seen else f"moved to v{row.version} since you saw v{seen}"
    return chosen.failed.get(row.entry_id, moved)


@require_safe
@for_people
def bulk_run(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show how a run is getting on; the page asks again by itself until it is over."""
    return run_page(request, run_id)


def run_page(request: HttpRequest, run_id: int, refusal: Refusal | None = None) -> HttpResponse:
    """:raises NotFound: there is no such run."""
    viewer = viewer_of(request)
    if run_id > queue_address.BIGGEST_ID:
        raise NotFound("There is no such run.")
    progress = review_runs.progress(viewer, run_id, timezone.now())
    failures = review_runs.failures(viewer, run_id, cursor=request.GET.get("cursor", ""))
    context = {
        "progress": progress,
        "run": progress.run,
        "word": DONE[progress.run.decision],
        "failures": failures,
        "next_url": addresses.page_after(request.GET, failures.next),
        "refusal": refusal,
        "is_polled": not progress.is_over,
    }
    status = refusal.status if refusal else 200
    return render_page(
        request, "memories/bulk_run.html", part="memories/_bulk_run.html", context=context, status=status
    )


@require_POST
@for_reviewers
def bulk_again(request: HttpRequest, run_id: int) -> HttpResponse:
    """Decide once more about those entries of a run that failed, and about no others."""
    try:
        runs.again(viewer_of(request), run_id, timezone.now())
    except Conflict as refusal:
        return run_page(request, run_id, refusal)
    return redirect("bulk_run", run_id)


@require_POST
@for_reviewers
def bulk_cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    """Stop a run after the batch it is at."""
    try:
        runs.cancel(viewer_of(request), run_id, timezone.now())
    except Conflict as refusal:
        return run_page(request, run_id, refusal)
    return redirect("bulk_run", run_id)

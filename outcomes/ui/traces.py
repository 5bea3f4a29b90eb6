"""Traces: what an agent read, did and reported on the way to an outcome."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from memories.rules import names
from memories.ui.people import viewer_of
from outcomes import reads
from outcomes.tracing import listing, story
from outcomes.tracing.listing import Asked
from outcomes.tracing.story import STEPS, Story
from outcomes.ui import lists
from outcomes.ui.lists import Filtered
from senselab import addresses
from senselab.errors import NotFound
from senselab.ui import for_people, render_page

LABELS = {"type": "outcome", "ref": "reference", "agent": "agent", "path": "entity", "since": "since"}
PARSERS: addresses.Parsers = {
    **lists.PARSERS,
    "path": lambda given: {"entity_path": names.clean_path(given.last, pointer="")},
    "since": lambda given: {"since": addresses.day(given.last)},
}
FIELDS = {"type": "types", "ref": "ref", "agent": "agent_id", "path": "entity_path", "since": "since"}
TRACES = Filtered(
    "outcomes/traces.html",
    LABELS,
    FIELDS,
    PARSERS,
    lambda viewer, asked, cursor: listing.page(viewer, Asked(**asked), cursor=cursor),
)


@require_safe
@for_people
def traces(request: HttpRequest) -> HttpResponse:
    """Show a page of traces, newest first."""
    return lists.shown(request, TRACES)


@require_safe
@for_people
def trace(request: HttpRequest, trace_id: UUID) -> HttpResponse:
    """Show one trace, step by step, a page of steps at a time."""
    viewer = viewer_of(request)
    row = listing.one(viewer, trace_id)
    if row is None:
        raise NotFound("There is no such trace.")
    told = story.story(viewer, row)
    first = first_of(request.GET.get("from", ""), len(told.steps))
    shown = told.steps[first : first + STEPS]
    context = {
        "trace": row,
        "story": told,
        "shown": [(number, step, told.bar(step)) for number, step in enumerate(shown, start=first + 1)],
        "range": (first + 1, first + len(shown)),
        "more": first + STEPS + 1 if first + STEPS < len(told.steps) else None,
        "before": first > 0,
        "figures": figures(told),
        "ended": reads.story(viewer, row.outcome_id) if row.outcome_id else None,
    }
    return render_page(request, "outcomes/trace.html", context=context)


def first_of(text: str, many: int) -> int:
    """Return the index of the first step asked for, 0 for anything that is none."""
    number = int(text) - 1 if text.isascii() and text.isdigit() and len(text) < 7 else 0
    return number if 0 <= number < many else 0


def figures(told: Story) -> list[tuple[str, int]]:
    """Return how many steps of each kind there are, in words."""
    kinds = {"read": "read", "query": "asked", "tool": "tool call", "model": "model call", "error": "error"}
    counts = [(kind, word, told.count(kind)) for kind, word in kinds.items()]
    return [
        (f"{word}s" if count > 1 and kind not in ("read", "query") else word, count)
        for kind, word, count in counts
        if count
    ]

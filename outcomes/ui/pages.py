"""Outcomes: how tasks ended, and what that did to the entries they relied on."""

import json

from django.http import HttpRequest, HttpResponse

from memories.rules import names
from memories.ui.people import viewer_of
from outcomes import reads
from outcomes.models import Outcome
from outcomes.reads import Asked
from outcomes.ui import lists
from outcomes.ui.lists import Filtered
from senselab.errors import NotFound
from senselab.ui import for_people, render_page

LABELS = {"type": "type", "ref": "reference", "agent": "agent", "path": "entity"}
PARSERS = {**lists.PARSERS, "path": lambda given: {"path": names.clean_path(given.last, pointer="")}}
FIELDS = {"type": "types", "ref": "ref", "agent": "agent_id", "path": "path"}
OUTCOMES = Filtered(
    "outcomes/outcomes.html",
    LABELS,
    FIELDS,
    PARSERS,
    lambda viewer, asked, cursor: reads.page(viewer, Asked(**asked), cursor=cursor),
)
# What an agent may tell beside its outcome, in the order of the page.
TOLD = ("task_input", "response_text", "situation", "covariates", "actions_taken", "tool_calls", "session_metadata")


@for_people
def outcomes(request: HttpRequest) -> HttpResponse:
    """Show a page of outcomes, newest first."""
    return lists.shown(request, OUTCOMES)


@for_people
def outcome(request: HttpRequest, outcome_id: int) -> HttpResponse:
    """Show one outcome: its steps, what each moved, and what it left alone and why."""
    story = reads.story(viewer_of(request), outcome_id) if outcome_id < 2**63 else None
    if story is None:
        raise NotFound("There is no such outcome.")
    context = {"story": story, "outcome": story.outcome, "told": told(story.outcome)}
    return render_page(request, "outcomes/outcome.html", context=context)


def told(outcome: Outcome) -> list[tuple[str, str]]:
    """Return what the agent told beside the outcome, as (name, JSON text); what it left out is left out."""
    given = ((name, getattr(outcome, name)) for name in TOLD)
    return [(name, json.dumps(value, ensure_ascii=False)) for name, value in given if value]

"""Outcomes: how tasks ended, and what that did to the entries they relied on."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone

from memories.rules import names
from memories.ui.people import viewer_of
from outcomes import reads
from outcomes.models import Outcome
from outcomes.reads import TYPE_GROUPS, Asked
from senselab import addresses, wording
from senselab.addresses import Problem, one_of, text
from senselab.cursors import BadCursor
from senselab.errors import NotFound
from senselab.ui import for_people, render_page

LABELS = {"type": "type", "ref": "reference", "agent": "agent", "path": "entity"}
LONGEST_REF = 1_024
PARSERS: addresses.Parsers = {
    "type": lambda given: {"types": TYPE_GROUPS[one_of(TYPE_GROUPS, given.values)[-1]]},
    "ref": lambda given: {"ref": text(given.last, LONGEST_REF)},
    "agent": lambda given: {"agent_id": names.clean_name(given.last, pointer="")},
    "path": lambda given: {"path": names.clean_path(given.last, pointer="")},
}
FIELDS = {"type": "types", "ref": "ref", "agent": "agent_id", "path": "path"}
# What an agent may tell beside its outcome, in the order of the page.
TOLD = ("task_input", "response_text", "situation", "covariates", "actions_taken", "tool_calls", "session_metadata")


@for_people
def outcomes(request: HttpRequest) -> HttpResponse:
    """Show a page of outcomes, newest first."""
    query = request.GET
    asked, problems = addresses.parse(query, PARSERS, LABELS, timezone.now())
    chips = [addresses.chip(query, name, LABELS[name], words(name, query)) for name in LABELS if FIELDS[name] in asked]
    context: dict[str, Any] = {"chips": chips, "problems": problems, "types": TYPE_GROUPS, "given": query}
    if not problems:
        try:
            page = reads.page(viewer_of(request), Asked(**asked), cursor=query.get("cursor", ""))
            context |= {"page": page, "next_url": addresses.page_after(query, page.next)}
            context |= {"first_url": addresses.without(query) if "cursor" in query else ""}
        except BadCursor as error:
            problems.append(Problem("page", f"{error.detail} Start again at the first page."))
    return render_page(request, "outcomes/outcomes.html", context=context, status=400 if problems else 200)


def words(name: str, query: QueryDict) -> str:
    value = str(query[name]).strip()
    return wording.label(value).lower() if name == "type" else f"{value}…" if name == "ref" else value


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

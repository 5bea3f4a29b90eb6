"""What the lists of outcomes and of traces share: filters in the address, chips, problems, and the next page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone

from memories.rules import names
from memories.ui.people import viewer_of
from memories.viewers import Viewer
from outcomes.reads import TYPE_GROUPS
from senselab import addresses, wording
from senselab.addresses import Problem, one_of, text
from senselab.cursors import BadCursor
from senselab.ui import render_page

LONGEST_REF = 1_024
PARSERS: addresses.Parsers = {
    "type": lambda given: {"types": TYPE_GROUPS[one_of(TYPE_GROUPS, given.values)[-1]]},
    "ref": lambda given: {"ref": text(given.last, LONGEST_REF)},
    "agent": lambda given: {"agent_id": names.clean_name(given.last, pointer="")},
}


@dataclass(frozen=True, slots=True)
class Filtered:
    """A list: its template, what its filters are called and mean, and the page (viewer, what is asked, cursor)."""

    template: str
    labels: Mapping[str, str]
    fields: Mapping[str, str]
    parsers: addresses.Parsers
    page: Callable[[Viewer, dict[str, Any], str], Any]


def shown(request: HttpRequest, of: Filtered) -> HttpResponse:
    """Show a page of a list, or what of its address cannot be."""
    query = request.GET
    asked, problems = addresses.parse(query, of.parsers, of.labels, timezone.now())
    chips = [
        addresses.chip(query, name, label, words(name, query))
        for name, label in of.labels.items()
        if of.fields[name] in asked
    ]
    context: dict[str, Any] = {"chips": chips, "problems": problems, "types": TYPE_GROUPS, "given": query}
    if not problems:
        try:
            page = of.page(viewer_of(request), asked, query.get("cursor", ""))
            context |= {"page": page, "next_url": addresses.page_after(query, page.next)}
            context |= {"first_url": addresses.without(query) if "cursor" in query else ""}
        except BadCursor as error:
            problems.append(Problem("page", f"{error.detail} Start again at the first page."))
    return render_page(request, of.template, context=context, status=400 if problems else 200)


def words(name: str, query: QueryDict) -> str:
    value = str(query[name]).strip()
    return wording.label(value).lower() if name == "type" else f"{value}…" if name == "ref" else value

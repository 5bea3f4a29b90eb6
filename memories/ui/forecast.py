"""The page of what is to come: how many entries go under review, are archived, expire, leave their tier; and which."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from memories.ageing import forecasts
from memories.ageing.forecasts import HORIZONS, KINDS
from memories.ui import filters
from memories.ui.people import viewer_of
from senselab import addresses
from senselab.addresses import Problem, Unfit
from senselab.cursors import BadCursor
from senselab.ui import for_people, render_page

LONGEST = 365
HEADINGS = {
    "review": "Go under review",
    "archive": "Are archived",
    "expire": "Expire",
    "fall": "Leave their tier",
}


def days_of(text: str) -> int:
    """:raises Unfit: it is no number of days that is foreseen."""
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= LONGEST):
        raise Unfit(f"A number of days from 1 to {LONGEST} is meant.")
    return int(text)


PARSERS: addresses.Parsers = {
    "kind": lambda given: {"kind": addresses.one_of(KINDS, given.values)[-1]},
    "days": lambda given: {"days": days_of(given.last)},
    "branch": filters.PARSERS["branch"],
}


@require_safe
@for_people
def forecast(request: HttpRequest) -> HttpResponse:
    """Show how many entries meet what within 7, 30 and 90 days, and a page of which; htmx gets only that page."""
    viewer, now, query = viewer_of(request), timezone.now(), request.GET
    asked, problems = addresses.parse(query, PARSERS, {}, now)
    kind, days, branch = asked.get("kind", "review"), asked.get("days", 30), asked.get("branch", "main")
    context: dict[str, Any] = {"kind": kind, "days": days, "kinds": HEADINGS, "heading": HEADINGS[kind]}
    context |= {"horizons": HORIZONS, "problems": problems, "now": now}
    try:
        page = forecasts.coming(viewer, now, kind, days, branch, cursor=query.get("cursor", ""))
        context |= {"page": page, "next_url": addresses.page_after(query, page.next)}
        context |= {"first_url": addresses.without(query) if "cursor" in query else ""}
    except BadCursor as error:
        problems.append(Problem("page", f"{error.detail} Start again at the first page."))
    if not request.htmx:  # type: ignore[attr-defined]
        context |= {"table": table(forecasts.horizons(viewer, now, branch))}
    status = 400 if problems else 200
    return render_page(
        request, "memories/forecast.html", part="memories/_forecast_entries.html", context=context, status=status
    )


def table(found: list[forecasts.Horizon]) -> list[dict[str, Any]]:
    """Return a row for each kind, with a count for each horizon."""
    tones = {"review": "warn", "archive": "mute", "expire": "bad", "fall": "accent"}
    return [
        {
            "kind": kind,
            "heading": heading,
            "tone": tones[kind],
            "counts": [(one.days, getattr(one, kind)) for one in found],
        }
        for kind, heading in HEADINGS.items()
    ]

"""The audit trail as a page and as a file."""

import ipaddress
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone

from senselab import addresses, sheets
from senselab.accounts import audit, trail
from senselab.accounts.audit import who_of
from senselab.accounts.trail import Asked
from senselab.addresses import Problem, Unfit, one_of, text
from senselab.cursors import BadCursor
from senselab.ui import for_admins, render_page

LABELS = {
    "action": "what",
    "actor": "by",
    "target": "on",
    "address": "from",
    "since": "since",
    "until": "until",
}


def address(given: str) -> str:
    """:raises Unfit: it is no address."""
    try:
        return str(ipaddress.ip_address(given.strip()))
    except ValueError as error:
        raise Unfit("An IP address is meant, such as 192.0.2.7.") from error


PARSERS: addresses.Parsers = {
    "action": lambda given: {"action": one_of(audit.ACTIONS, given.values)[-1]},
    "actor": lambda given: {"actor": text(given.last, 256)},
    "target": lambda given: {"target": text(given.last, 256)},
    "address": lambda given: {"address": address(given.last)},
    "since": lambda given: {"since": addresses.day(given.last)},
    "until": lambda given: {"until": addresses.day_after(given.last)},
}


@for_admins
def audit_trail(request: HttpRequest) -> HttpResponse:
    """Show a page of the trail, newest first, or hand out all that a filter selects as CSV."""
    query = request.GET
    asked, problems = addresses.parse(query, PARSERS, LABELS, timezone.now())
    chips = [addresses.chip(query, name, LABELS[name], chip_words(name, query)) for name in LABELS if name in asked]
    context: dict[str, Any] = {"chips": chips, "problems": problems, "actions": audit.ACTIONS, "given": query}
    account = request.person_account  # type: ignore[attr-defined]
    if not problems and query.get("format") == "csv":
        answer = sheets.download("audit.csv", trail.lines(account.pk, Asked(**asked)), account_id=account.pk)
        told = {name: str(value) for name, value in asked.items()}
        audit.record(account.pk, "exported", by=who_of(request), at=timezone.now(), target="audit trail", after=told)
        return answer
    if not problems:
        try:
            page = trail.page(account.pk, Asked(**asked), cursor=query.get("cursor", ""))
            context |= {"records": page.records, "next_url": addresses.page_after(query, page.next)}
            context |= {"first_url": addresses.without(query) if "cursor" in query else ""}
            here = addresses.without(query)
            context["csv_url"] = f"{here}{'' if here.endswith('?') else '&'}format=csv"
        except BadCursor as error:
            problems.append(Problem("page", f"{error.detail} Start again at the first page."))
    return render_page(request, "settings/audit.html", context=context, status=400 if problems else 200)


def chip_words(name: str, query: QueryDict) -> str:
    value = str(query[name]).strip()
    return audit.ACTIONS[value].lower() if name == "action" else value

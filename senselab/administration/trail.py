"""The audit trail over the API."""

from datetime import datetime

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import identity
from memories.api.entries import whole
from memories.rules.refusals import Refused
from senselab import api
from senselab.accounts import audit, trail
from senselab.accounts.origins import clean
from senselab.accounts.trail import Asked
from senselab.administration import docs


class Trail(APIView):
    """What happened to the account besides what was learned in it."""

    scopes = {"GET": "admin"}

    @docs.trail
    def get(self, request: Request) -> HttpResponse:
        """List audit records, newest first; `next` goes on where this page ends."""
        query = request.query_params
        limit = whole(query.get("limit", ""), "/limit", 1, 1_000) or trail.PAGE
        page = trail.page(request.user.account_id, asked_of(request), cursor=query.get("cursor", ""), limit=limit)
        records = [trail.told(shown.record) for shown in page.records]
        return api.answer({"records": records, "next": page.next or None})


def asked_of(request: Request) -> Asked:
    """:raises Refused: a filter cannot be."""
    query = request.query_params
    action, address = query.get("action", ""), query.get("address", "")
    if action and action not in audit.ACTIONS:
        raise Refused("/action", f"An action is one of {', '.join(audit.ACTIONS)}.")
    if address and clean(address) is None:
        raise Refused("/address", "An IP address is expected here.")
    return Asked(
        action,
        text(query.get("actor", ""), "/actor"),
        text(query.get("target", ""), "/target"),
        clean(address) or "",
        moment(query.get("since", "")),
        moment(query.get("until", "")),
    )


def text(given: str, pointer: str) -> str:
    """:raises Refused: it is too long or holds NUL."""
    if len(given) > audit.LONGEST or "\0" in given:
        raise Refused(pointer, f"At most {audit.LONGEST} characters, and no NUL among them.")
    return given


def moment(given: str) -> datetime | None:
    return identity.since_of(given) if given else None

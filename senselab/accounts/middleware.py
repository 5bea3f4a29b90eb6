"""What every request carries: an id, and for people the account they look at and their role in it."""

import re
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from senselab.accounts.models import Membership

Handler = Callable[[HttpRequest], HttpResponse]


def request_id(get_response: Handler) -> Handler:
    """Give each request an id, the caller's own when it is a plain one, and send it back."""

    def handle(request: HttpRequest) -> HttpResponse:
        asked = request.META.get("HTTP_X_REQUEST_ID", "")
        request.request_id = asked if re.fullmatch(r"[\w.-]{1,64}", asked, re.ASCII) else uuid.uuid4().hex  # type: ignore[attr-defined]
        response = get_response(request)
        response["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        return response

    return handle


def tell_the_rate(get_response: Handler) -> Handler:
    """Say in the answer to a call with a key how many calls a minute it has and how many are left (contract.md 2.1)."""

    def handle(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        limit, left = getattr(request, "rate", (None, None))
        if limit is not None:
            response["X-RateLimit-Limit"], response["X-RateLimit-Remaining"] = str(limit), str(left)
            response["X-RateLimit-Window"] = "60"
        return response

    return handle


def membership_of(request: HttpRequest) -> Membership | None:
    """Return the person's membership in the account they chose last, else in their first one."""
    mine = Membership.objects.filter(person_id=request.user.pk or 0).select_related("account").order_by("account__slug")
    chosen = request.session.get("account")
    request.memberships = found = list(mine)  # type: ignore[attr-defined]
    return next((m for m in found if m.account.slug == chosen), found[0] if found else None)


def people_have_an_account(get_response: Handler) -> Handler:
    """Set `person_account` and `role`: what a person looks at, and what they may do there."""

    def handle(request: HttpRequest) -> HttpResponse:
        # Agents bring a key instead, so their calls pay for no session.
        person = not request.path.startswith("/api/") and request.user.is_authenticated
        membership = membership_of(request) if person else None
        request.person_account = membership.account if membership else None  # type: ignore[attr-defined]
        request.role = membership.role if membership else ""  # type: ignore[attr-defined]
        return get_response(request)

    return handle

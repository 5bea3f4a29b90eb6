"""What every request carries: an id, and for people the account they look at and their role in it."""

import re
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from senselab import logs
from senselab.accounts import audit, factors
from senselab.accounts.audit import Who
from senselab.accounts.models import Membership
from senselab.accounts.origins import address_of

Handler = Callable[[HttpRequest], HttpResponse]


def request_id(get_response: Handler) -> Handler:
    """Give each request an id, the caller's own when it is a plain one, and send it back."""

    def handle(request: HttpRequest) -> HttpResponse:
        asked = request.META.get("HTTP_X_REQUEST_ID", "")
        request.request_id = asked if re.fullmatch(r"[\w.-]{1,64}", asked, re.ASCII) else uuid.uuid4().hex  # type: ignore[attr-defined]
        # Lines of the log that this request writes carry it too.
        token = logs.request_id.set(request.request_id)  # type: ignore[attr-defined]
        try:
            response = get_response(request)
        finally:
            logs.request_id.reset(token)
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


# Where somebody without the second factor that their account asks for may go: to add one, to another account, out.
OPEN = ("/settings/you/security/", "/account/", "/logout/", "/login/", "/static/")


def second_factors_where_required(get_response: Handler) -> Handler:
    """Lead people who look at an account that requires a second factor, and have none, to where they add one."""

    def handle(request: HttpRequest) -> HttpResponse:
        account = getattr(request, "person_account", None)
        if account is None or not account.second_factor_required or request.path.startswith(OPEN):
            return get_response(request)
        if factors.has(request.user.pk or 0):
            return get_response(request)
        if request.htmx:  # type: ignore[attr-defined]
            return HttpResponse(status=204, headers={"HX-Redirect": reverse("security")})
        return redirect("security")

    return handle


def note_refusals(get_response: Handler) -> Handler:
    """Tell the audit trail what was refused (401, 403) to a key or a person that is known."""

    def handle(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code in {401, 403}:
            note_refusal(request, response.status_code)
        return response

    return handle


def note_refusal(request: HttpRequest, status: int) -> None:
    caller = getattr(request, "caller", None)
    refused = getattr(request, "refused_key", None)
    account = getattr(request, "person_account", None)
    address, request_id = address_of(request), getattr(request, "request_id", "")
    if caller is not None:
        account_id, by = caller.account_id, Who("key", caller.key_name, address, request_id)
    elif refused is not None:
        account_id, by = refused[0], Who("key", refused[1], address, request_id)
    elif account is not None:
        account_id, by = account.pk, Who("person", request.user.get_username(), address, request_id)
    else:
        return
    # The route, not the address: an address may hold what nobody should read in a trail.
    route = request.resolver_match.route if request.resolver_match else ""
    target = f"{request.method} /{route}"
    audit.refusals.note(account_id, by, status=status, target=target, now=timezone.now())

"""Signing in and out, as Django and axes tell of it, written to the trail of each account the person belongs to."""

from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest
from django.utils import timezone

from senselab.accounts import audit, people
from senselab.accounts.audit import Who
from senselab.accounts.models import Membership, Person
from senselab.accounts.origins import address_of


def tell(action: str, username: str, request: HttpRequest | None, after: dict[str, Any] | None = None) -> None:
    """Write to the trail of every account of a person; of a name nobody has, no account is told."""
    found = Membership.objects.filter(person_id__in=_person(username)).values_list("account_id", flat=True)
    address = address_of(request) if request is not None else None
    by = Who("person", username, address, getattr(request, "request_id", ""))
    for account_id in found:
        audit.record(account_id, action, by=by, at=timezone.now(), after=after)


def _person(username: str) -> list[int]:
    return list(Person.objects.filter(username=username).values_list("pk", flat=True))


def signed_in(*, request: HttpRequest, user: Any, **_: Any) -> None:
    proved_by = getattr(request, "proved_by", "")
    tell("sign_in", user.get_username(), request, {"by": proved_by} if proved_by else None)
    if not request.session.session_key:
        request.session.save()
    browser = request.META.get("HTTP_USER_AGENT", "")
    key = str(request.session.session_key)
    people.begin(user, key, address=address_of(request), browser=browser, now=timezone.now())


def signed_out(*, request: HttpRequest, user: Any, **_: Any) -> None:
    if user is not None:
        tell("sign_out", user.get_username(), request)


def failed(*, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    tell("sign_in_failed", str(credentials.get("username") or "")[:150], request)


def locked_out(*, request: HttpRequest | None, username: str, **_: Any) -> None:
    tell("lockout", str(username or "")[:150], request)


def listen() -> None:
    user_logged_in.connect(signed_in, dispatch_uid="audit")
    user_logged_out.connect(signed_out, dispatch_uid="audit")
    user_login_failed.connect(failed, dispatch_uid="audit")
    user_locked_out.connect(locked_out, dispatch_uid="audit")

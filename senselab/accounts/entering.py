"""Coming in: from a proof of who one is to a session, over the second factor of whoever has one."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from axes.handlers.proxy import AxesProxyHandler
from axes.helpers import get_credentials
from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import constant_time_compare

from senselab.accounts import factors, sign_ins
from senselab.accounts.models import Person

BACKEND = "django.contrib.auth.backends.ModelBackend"
WAITING = "second_factor"
# How long somebody may look for their phone after the password.
LASTS = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Somebody who proved one thing and has another to prove; `next_url` is where they wanted to go."""

    person: Person
    by: str
    next_url: str


def enter(request: HttpRequest, person: Person, *, by: str, next_url: str, now: datetime) -> HttpResponse:
    """Begin a person's session, or lead them to their second factor first."""
    if not factors.has(person.pk):
        return begin(request, person, by=by, next_url=next_url)
    request.session.cycle_key()
    bound = person.get_session_auth_hash()
    told = {"person": person.pk, "bound": bound, "by": by, "next": next_url, "at": now.timestamp()}
    request.session[WAITING] = told
    return redirect("second_factor")


def begin(request: HttpRequest, person: Person, *, by: str, next_url: str) -> HttpResponse:
    """Begin a person's session; `by` says what they proved themselves with."""
    request.session.pop(WAITING, None)
    request.proved_by = by  # type: ignore[attr-defined]
    login(request, person, backend=BACKEND)
    return redirect(next_url or settings.LOGIN_REDIRECT_URL)


def waiting(request: HttpRequest, now: datetime) -> Waiting | None:
    """Return who is about to prove a second factor; None when nobody is, it took too long, or the password changed."""
    told = request.session.get(WAITING)
    if not told or now.timestamp() - told["at"] > LASTS.total_seconds():
        return None
    person = Person.objects.filter(pk=told["person"], is_active=True).first()
    if person is None or not constant_time_compare(told["bound"], person.get_session_auth_hash()):
        return None
    return Waiting(person, told["by"], told["next"])


def is_shut(request: HttpRequest, person: Person) -> bool:
    """Tell whether the door is shut to a name from this address; the answer of axes follows by itself."""
    shut = not AxesProxyHandler.is_allowed(request, get_credentials(person.username))
    if shut:
        request.axes_locked_out = True  # type: ignore[attr-defined]
        request.session.pop(WAITING, None)
    return shut


def failed(request: HttpRequest, person: Person, action: str = "factor_failed") -> None:
    """Count a wrong code, passkey or password, all of them together, and write it to the trail."""
    sign_ins.tell(action, person.username, request)
    AxesProxyHandler.user_login_failed(sender=__name__, credentials=get_credentials(person.username), request=request)

"""The door for people: the password, a passkey, and the second factor after the password."""

import json
from typing import Any

from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from senselab.accounts import entering, factors, openid, passkeys
from senselab.accounts.entering import Waiting

WRONG_PASSKEY = "That passkey does not fit. Try again, or log in with your password."


class LogIn(LoginView):
    """Ask for the password; whoever has a second factor is asked for it next."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True

    def form_valid(self, form: Any) -> HttpResponse:
        person, now = form.get_user(), timezone.now()
        return entering.enter(self.request, person, by="password", next_url=self.get_success_url(), now=now)


def safe(request: HttpRequest, wanted: str) -> str:
    """Return where somebody wanted to go if that is here, else ''."""
    return wanted if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure()) else ""


@never_cache
def oidc(request: HttpRequest) -> HttpResponse:
    """Lead to the provider of OpenID Connect."""
    return openid.begin(request, safe(request, request.GET.get("next", "")))


@never_cache
def oidc_callback(request: HttpRequest) -> HttpResponse:
    """Receive who comes back from the provider."""
    return openid.come_back(request)


class LogOut(LogoutView):
    """Log out by POST; the next page is the log-in page."""


@sensitive_post_parameters("code", "credential")
@never_cache
def second_factor(request: HttpRequest) -> HttpResponse:
    """Ask for a code or a passkey of who gave the right password."""
    waiting = entering.waiting(request, timezone.now())
    if waiting is None:
        return redirect("login")
    if request.method == "POST":
        return _proved(request, waiting)
    return _ask(request, waiting)


def _proved(request: HttpRequest, waiting: Waiting) -> HttpResponse:
    person, form, now = waiting.person, request.POST, timezone.now()
    if entering.is_shut(request, person):
        return HttpResponse(status=429)
    if "credential" in form:
        by = "passkey" if passkeys.proof_of(form["credential"], person=person, now=now).holds else ""
    else:
        by = factors.proves(person, form.get("code", ""), now)
    if by:
        return entering.begin(request, person, by=f"{waiting.by}, {by}", next_url=waiting.next_url)
    entering.failed(request, person)
    return _ask(request, waiting, "That passkey does not fit." if "credential" in form else factors.WRONG)


def _ask(request: HttpRequest, waiting: Waiting, problem: str = "") -> HttpResponse:
    found = factors.of(waiting.person)
    context = {"found": found, "problem": problem, "person": waiting.person}
    if found.passkeys:
        context["options"] = json.dumps(passkeys.sign_in_options(waiting.person))
    return render(request, "accounts/second_factor.html", context, status=422 if problem else 200)


@sensitive_post_parameters("credential")
@never_cache
def passkey(request: HttpRequest) -> HttpResponse:
    """Hand out what a browser needs to ask for any passkey, and let in whom its answer proves."""
    if request.method != "POST":
        return JsonResponse(passkeys.sign_in_options())
    return _let_in(request)


@require_POST
def _let_in(request: HttpRequest) -> HttpResponse:
    form, now = request.POST, timezone.now()
    proof = passkeys.proof_of(form.get("credential", ""), now=now)
    person = proof.person
    if person is not None and entering.is_shut(request, person):
        return HttpResponse(status=429)
    if person is not None and person.is_active and proof.holds and proof.alone:
        return entering.begin(request, person, by="passkey", next_url=safe(request, form.get("next", "")))
    if person is not None:
        entering.failed(request, person)
    return render(request, "accounts/login.html", {"problem": WRONG_PASSKEY, "next": form.get("next", "")}, status=422)

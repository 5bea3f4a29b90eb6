"""Settings: one's own second factors. What changes them asks for the password again."""

import json
from datetime import timedelta
from typing import Any

from allauth.mfa.totp.internal.auth import generate_totp_secret
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.hashers import check_password
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_POST

from senselab.accounts import entering, factors, identities, openid, passkeys, people
from senselab.accounts.audit import who_of
from senselab.accounts.models import Person
from senselab.errors import Conflict, Invalid, Refusal
from senselab.ui import for_people, render_page

SECRET = "new_app"
# Somebody without a password proves themselves by having signed in a moment ago.
FRESH = timedelta(minutes=10)


def person_of(request: HttpRequest) -> Person:
    return request.user  # type: ignore[return-value]


@for_people
def security(request: HttpRequest) -> HttpResponse:
    """Show one's second factors, and what one can do about them."""
    return show(request)


def show(request: HttpRequest, *, codes: list[str] | None = None, refusal: Refusal | None = None) -> HttpResponse:
    person, now = person_of(request), timezone.now()
    context: dict[str, Any] = {"found": factors.of(person), "codes": codes, "refusal": refusal}
    if settings.OIDC is not None:
        context["identity"] = identities.of(person, settings.OIDC.issuer)
        context["may_link"] = openid.may_link(request, now)
    return render_page(request, "settings/security.html", context=context, status=refusal.status if refusal else 200)


@sensitive_variables()
def confirm(request: HttpRequest) -> None:
    """Ask again who this is; a wrong password counts like one at the door.

    :raises Invalid: the password is wrong.
    :raises Conflict: there is none, and the sign-in is not fresh.
    """
    person, now = person_of(request), timezone.now()
    if not person.has_usable_password():
        here = request.session.session_key or ""
        if not people.signed_in_since(person, here, now - FRESH):
            raise Conflict("Log out and in again first: this changes how you log in.")
        return
    # Not by `authenticate`: it would renew an old hash, and with it end this session.
    if entering.is_shut(request, person) or not check_password(request.POST.get("password", ""), person.password):
        entering.failed(request, person, "sign_in_failed")
        raise Invalid("That is not your password. Nothing was changed.", "/password")


def done(request: HttpRequest, codes: list[str], said: str) -> HttpResponse:
    """Show recovery codes, this once, when there are new ones; else the page with what was done."""
    if codes:
        return show(request, codes=codes)
    messages.success(request, said)
    return redirect("security")


@sensitive_post_parameters()
@for_people
def app(request: HttpRequest) -> HttpResponse:
    """Hand a secret to an app by a picture, and keep it once a code proves that it arrived."""
    if request.method != "POST" or SECRET not in request.session:
        request.session[SECRET] = generate_totp_secret()
        return show_app(request)
    try:
        confirm(request)
        by, now, code = who_of(request), timezone.now(), request.POST.get("code", "")
        codes = factors.add_app(person_of(request), request.session[SECRET], code, by=by, now=now)
    except Refusal as refusal:
        return show_app(request, refusal)
    del request.session[SECRET]
    return done(request, codes, "The app is added: you are asked for its code when you log in.")


def show_app(request: HttpRequest, refusal: Refusal | None = None) -> HttpResponse:
    secret = request.session[SECRET]
    spaced = " ".join(secret[place : place + 4] for place in range(0, len(secret), 4))
    context = {"picture": factors.picture(person_of(request), secret), "secret": spaced, "refusal": refusal}
    return render_page(request, "settings/add_app.html", context=context, status=refusal.status if refusal else 200)


@sensitive_post_parameters()
@for_people
def passkey(request: HttpRequest) -> HttpResponse:
    """Let the browser make a passkey, and keep it."""
    if request.method != "POST":
        return show_passkey(request)
    try:
        confirm(request)
        form, by, now = request.POST, who_of(request), timezone.now()
        codes = passkeys.add(person_of(request), form.get("name", ""), form.get("credential", ""), by=by, now=now)
    except Refusal as refusal:
        return show_passkey(request, refusal)
    return done(request, codes, "The passkey is added: it logs you in by itself, or after the password.")


def show_passkey(request: HttpRequest, refusal: Refusal | None = None) -> HttpResponse:
    context: dict[str, Any] = {"options": json.dumps(passkeys.options(person_of(request))), "refusal": refusal}
    context["name"] = request.POST.get("name", "")
    return render_page(request, "settings/add_passkey.html", context=context, status=refusal.status if refusal else 200)


@sensitive_post_parameters()
@require_POST
@for_people
def recovery_codes(request: HttpRequest) -> HttpResponse:
    """Make other recovery codes, shown on this page and nowhere else."""
    try:
        confirm(request)
        codes = factors.new_codes(person_of(request), by=who_of(request), now=timezone.now())
    except Refusal as refusal:
        return show(request, refusal=refusal)
    return show(request, codes=codes)


@sensitive_post_parameters()
@for_people
def identity(request: HttpRequest) -> HttpResponse:
    """Let somebody who proves again who they are go to the provider, to be known by it from then on.

    The way there is a link of the next page: browsers hold what a form leads to against form-action.
    """
    if settings.OIDC is None:
        raise Http404
    if request.method != "POST":
        return openid.begin_linking(request) if openid.may_link(request, timezone.now()) else redirect("security")
    try:
        confirm(request)
    except Refusal as refusal:
        return show(request, refusal=refusal)
    openid.allow_linking(request, timezone.now())
    return redirect("security")


@sensitive_post_parameters()
@require_POST
@for_people
def unlink_identity(request: HttpRequest) -> HttpResponse:
    """Take the identity away by which the provider lets one in."""
    if settings.OIDC is None:
        raise Http404
    person, now = person_of(request), timezone.now()
    has_other_way = person.has_usable_password() or bool(factors.of(person).passkeys)
    try:
        confirm(request)
        issuer = settings.OIDC.issuer
        identities.unlink_own(person, issuer, has_other_way=has_other_way, by=who_of(request), now=now)
    except Refusal as refusal:
        return show(request, refusal=refusal)
    messages.success(request, f"You are unlinked: {settings.OIDC.name} does not let you in any more.")
    return redirect("security")


@sensitive_post_parameters()
@require_POST
@for_people
def remove(request: HttpRequest, factor_id: int) -> HttpResponse:
    """Take a factor away."""
    try:
        confirm(request)
        left = factors.remove(person_of(request), factor_id, by=who_of(request), now=timezone.now())
    except Refusal as refusal:
        return show(request, refusal=refusal)
    messages.success(request, "It is removed." if left else "It is removed: your password alone lets you in now.")
    return redirect("security")

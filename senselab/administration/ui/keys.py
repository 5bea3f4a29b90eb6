"""Settings: the keys of an account."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from memories.rules import names
from senselab import addresses
from senselab.accounts import globs, services
from senselab.accounts.audit import who_of
from senselab.accounts.globs import Glob
from senselab.accounts.models import ApiKey, Scope
from senselab.accounts.services import MadeKey
from senselab.errors import Invalid, Refusal
from senselab.ui import for_admins, render_page

SCOPES = {
    Scope.READ: "Read entries, history, searches, figures",
    Scope.WRITE: "Write entries, report outcomes, give feedback",
    Scope.REVIEW: "Decide, roll back, undo what others did",
    Scope.ADMIN: "All of it, keys and the audit trail too",
}
OVERLAPS = {"0": "at once", "1": "in an hour", "24": "in a day", "168": "in a week"}


@for_admins
def keys(request: HttpRequest) -> HttpResponse:
    """Show the keys of the account, and make one."""
    if request.method != "POST":
        return show(request)
    account = request.person_account  # type: ignore[attr-defined]
    try:
        made = services.make_key(account, by=who_of(request), now=timezone.now(), **asked(request.POST))
    except Refusal as refusal:
        return show(request, refusal=refusal)
    return show(request, made=made)


def asked(form: QueryDict) -> dict[str, Any]:
    """Return what a form asks a key to be.

    :raises Refusal: something in it cannot be.
    """
    rate = form.get("rate", "").strip() or "6000"
    if not rate.isascii() or not rate.isdigit() or len(rate) > 10:
        raise Invalid("Calls a minute are a whole number.", "/rate")
    agent = form.get("agent_id", "").strip()
    return {
        "name": names.clean_name(form.get("name", "").strip(), pointer="/name"),
        "agent_id": names.clean_name(agent) if agent else "",
        "scopes": tuple(form.getlist("scope")),
        "globs": globs.clean(globs_of(form.get("globs", ""))),
        "rate_per_minute": int(rate),
        "expires_at": day_in(form.get("expires", "")),
    }


def globs_of(text: str) -> list[Glob]:
    """Return one glob for each line: a pattern, perhaps with what it permits before it (read:shop/**)."""
    found = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        permission, colon, pattern = line.partition(":")
        known = bool(colon) and permission in globs.PERMISSIONS
        found.append(Glob(pattern.strip(), permission) if known else Glob(line))
    return found


def day_in(text: str) -> datetime | None:
    """:raises Invalid: it is no day, or one that is over."""
    if not text:
        return None
    try:
        at = addresses.day_after(text)
    except addresses.Unfit as error:
        raise Invalid(str(error), "/expires") from error
    if at <= timezone.now():
        raise Invalid("A key ends in the future.", "/expires")
    return at


def show(request: HttpRequest, *, made: MadeKey | None = None, refusal: Refusal | None = None) -> HttpResponse:
    account, now = request.person_account, timezone.now()  # type: ignore[attr-defined]
    found = services.keys_of(account.pk)
    context = {
        "keys": [(key, state(key, now)) for key in found if key.revoked_at is None],
        "ended": [(key, state(key, now)) for key in found if key.revoked_at is not None][:50],
        "scopes": SCOPES,
        "chosen": request.POST.getlist("scope") or ["read", "write"],
        "overlaps": OVERLAPS,
        "made": made,
        "refusal": refusal,
        "given": request.POST if refusal else QueryDict(),
    }
    return render_page(request, "settings/keys.html", context=context, status=refusal.status if refusal else 200)


def state(key: ApiKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "expired"
    return "rotating" if key.old_until is not None and key.old_until > now else "active"


@require_POST
@for_admins
def rotate_key(request: HttpRequest, key_id: int) -> HttpResponse:
    """Give a key a new text, shown once on this page; the old one ends when the form says."""
    hours = request.POST.get("overlap", "24")
    if hours not in OVERLAPS:
        raise Invalid("The old text ends at one of the moments named.", "/overlap")
    account = request.person_account  # type: ignore[attr-defined]
    overlap = timedelta(hours=int(hours))
    made = services.rotate_key(account.pk, key_id, now=timezone.now(), overlap=overlap, by=who_of(request))
    return show(request, made=made)


@require_POST
@for_admins
def revoke_key(request: HttpRequest, key_id: int) -> HttpResponse:
    """End a key at once."""
    account = request.person_account  # type: ignore[attr-defined]
    key = services.revoke_key(account.pk, key_id, now=timezone.now(), by=who_of(request))
    messages.success(request, f"{key.name} is revoked: the next call with it is refused.")
    return redirect("keys")

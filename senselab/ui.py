"""What the pages for people share: a whole page or only its part, and what the shell around every page shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache

from senselab.accounts.models import Account, Membership, Role
from senselab.errors import Forbidden, Refusal

DEMO = "demo"
View = Callable[..., HttpResponse]
# Who may change things; viewers look.
DECIDING = frozenset({Role.REVIEWER.value, Role.ADMIN.value})


def for_people(view: View) -> View:
    """Let in who is logged in and has a role in an account; a refusal of the domain becomes a page that says so."""

    @never_cache
    @wraps(view)
    def handle(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            # Script sees where htmx was led and takes the window there.
            return redirect_to_login(request.get_full_path())
        if request.person_account is None:  # type: ignore[attr-defined]
            return render(request, "accounts/no_account.html", status=403)
        try:
            return view(request, *args, **kwargs)
        except Refusal as refusal:
            return refused(request, refusal)

    return handle


def for_reviewers(view: View) -> View:
    """Let in reviewers and admins; everybody else gets 403, whatever buttons they saw."""

    @wraps(view)
    def handle(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.role not in DECIDING:  # type: ignore[attr-defined]
            raise Forbidden(
                "Your role in this account is viewer: you may look, not change. An admin can give you another."
            )
        return view(request, *args, **kwargs)

    return for_people(handle)


def for_admins(view: View) -> View:
    """Let in admins; everybody else gets 403, whatever buttons they saw."""

    @wraps(view)
    def handle(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.role != Role.ADMIN:  # type: ignore[attr-defined]
            raise Forbidden("That is for admins of this account. An admin can make you one.")
        return view(request, *args, **kwargs)

    return for_people(handle)


def refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """Return the page of a refusal: what was refused and why, under the status it has on the API; to htmx, a toast."""
    before = urlsplit(request.META.get("HTTP_REFERER", ""))
    here = url_has_allowed_host_and_scheme(before.geturl(), {request.get_host()}) and before.path != request.path
    context = {"refusal": refusal, "back": f"{before.path}?{before.query}" if here else ""}
    is_part = bool(request.htmx)  # type: ignore[attr-defined]
    answer = render(request, "_refused.html" if is_part else "refused.html", context, status=refusal.status)
    if is_part:
        answer["HX-Retarget"], answer["HX-Reswap"] = "#toasts", "beforeend"
    if refusal.retry is not None:
        answer["Retry-After"] = str(refusal.retry)
    return answer


def render_page(
    request: HttpRequest,
    template: str,
    *,
    part: str | None = None,
    context: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the whole page, or only `part` of it when htmx asked for a part of the page it already shows."""
    wants_part = part is not None and bool(request.htmx) and not request.htmx.history_restore_request  # type: ignore[attr-defined]
    response = render(request, part if wants_part and part else template, context, status=status)
    # One address serves both, so no cache may mistake one for the other.
    patch_vary_headers(response, ["HX-Request"])
    return response


@dataclass(frozen=True, slots=True)
class Place:
    """A page of the main navigation: its url name, word, icon, and the key that follows `g`."""

    name: str
    word: str
    icon: str
    key: str
    small: bool = True  # stands in the bottom bar of a phone as well
    belongs: tuple[str, ...] = ()  # url names of the pages below it


SETTINGS = (
    *("policy", "data", "own", "security", "add_app", "add_passkey", "recovery_codes", "remove_factor", "identity"),
    *("keys", "rotate_key", "revoke_key", "people", "invite", "reset_link", "audit"),
    *("change_role", "remove_person", "reset_factors", "know_email", "withdraw_invitation", "require_factors"),
)
PLACES = (
    Place("overview", "Overview", "layout-dashboard", "o", belongs=("course",)),
    Place(
        "entries",
        "Entries",
        "library",
        "e",
        belongs=("entry", "compare", "rollback", "new_entry", "edit_entry", "connections", "erase_entry"),
    ),
    Place("review", "Review", "inbox", "r", belongs=("evidence", "contested", "wrong", "bulk", "bulk_run")),
    Place("outcomes", "Outcomes", "activity", "t", belongs=("outcome",)),
    Place("recall", "Recall", "search", "q", small=False),
    Place("change_sets", "Changes", "history", "c", belongs=("change_set", "undo")),
    Place("traces", "Traces", "route", "p", small=False, belongs=("trace",)),
    Place("agents", "Agents", "bot", "a", small=False, belongs=("agent", "erase_agent")),
    Place("tiers", "Tiers", "flame", "i", small=False, belongs=("borders", "forecast")),
    Place("jobs", "Jobs", "list-checks", "j", small=False),
    Place("settings", "Settings", "settings", "s", small=False, belongs=SETTINGS),
)


@dataclass(frozen=True, slots=True)
class NavItem:
    """One link of the navigation; `count` is a number of waiting items, or None when nobody counted."""

    word: str
    icon: str
    key: str
    url: str
    small: bool
    is_current: bool
    count: int | None


@dataclass(frozen=True, slots=True)
class Shell:
    """What stands around every page of somebody who is logged in."""

    account: Account
    role: str
    person: str
    branch: str
    nav: list[NavItem]
    accounts: list[Membership]
    may_write: bool

    @property
    def has_demo(self) -> bool:
        """Tell whether there is a demo account this person could switch to."""
        return any(membership.account.slug == DEMO != self.account.slug for membership in self.accounts)


def provider(request: HttpRequest) -> dict[str, Any]:
    """Return the name of the provider of OpenID Connect, '' for none: a context processor."""
    del request
    return {"oidc_name": settings.OIDC.name if settings.OIDC else ""}


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the shell, {} for a visitor: a context processor."""
    account = getattr(request, "person_account", None)
    if account is None or not request.user.is_authenticated:
        return {}
    role = getattr(request, "role", "")
    return {
        "shell": Shell(
            account=account,
            role=role,
            person=request.user.display_name,
            branch=request.GET.get("branch") or "main",
            nav=navigation(request),
            accounts=getattr(request, "memberships", []),
            may_write=role in DECIDING,
        )
    }


def navigation(request: HttpRequest) -> list[NavItem]:
    """Return a link for every place that has a page in this installation."""
    here = request.resolver_match.url_name if request.resolver_match else ""
    counts: dict[str, Callable[[], int | None]] = getattr(request, "nav_counts", {})
    items = []
    for place in PLACES:
        try:
            url = reverse(place.name)
        except NoReverseMatch:
            continue
        count = counts[place.name]() if place.name in counts else None
        is_current = here == place.name or here in place.belongs
        items.append(NavItem(place.word, place.icon, place.key, url, place.small, is_current, count))
    return items

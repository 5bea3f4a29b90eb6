"""Settings: who belongs to an account, and the way in."""

from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from senselab.accounts import entering, factors, identities
from senselab.accounts import people as services
from senselab.accounts.audit import Who, who_of
from senselab.accounts.models import Role
from senselab.accounts.origins import address_of
from senselab.errors import Conflict, Forbidden, Invalid, NotFound, Refusal
from senselab.ui import View, for_admins, render_page

ROLES = {
    Role.VIEWER: "looks at everything",
    Role.REVIEWER: "decides, edits, rolls back",
    Role.ADMIN: "keys, people, policy as well",
}


@for_admins
def people(request: HttpRequest) -> HttpResponse:
    """Show who belongs to the account, and which invitations are open."""
    return show(request)


def show(request: HttpRequest, *, link: str = "", link_for: str = "", refusal: Refusal | None = None) -> HttpResponse:
    account = request.person_account  # type: ignore[attr-defined]
    members = services.members(account)
    context = {
        "members": members,
        "invitations": services.invitations(account, timezone.now()),
        "roles": ROLES,
        "with_factor": factors.owners(members),
        "link": request.build_absolute_uri(link) if link else "",
        "link_for": link_for,
        "refusal": refusal,
    }
    status = refusal.status if refusal else 200
    return render_page(request, "settings/people.html", context=context, status=status)


def refused_in_place(view: View) -> View:
    """Say on the page of people why something was not done."""

    @wraps(view)
    def handle(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except (Conflict, Forbidden, Invalid) as refusal:
            return show(request, refusal=refusal)

    return handle


@require_POST
@for_admins
@refused_in_place
def invite(request: HttpRequest) -> HttpResponse:
    """Make an invitation; its link is shown on this page and nowhere else."""
    account, form = request.person_account, request.POST  # type: ignore[attr-defined]
    note = form.get("note", "")
    token = services.invite(account, form.get("role", ""), note=note, by=who_of(request), now=timezone.now())
    return show(request, link=reverse("invitation", args=[token]), link_for="invitation")


@require_POST
@for_admins
@refused_in_place
def withdraw_invitation(request: HttpRequest, invitation_id: int) -> HttpResponse:
    services.withdraw(request.person_account, invitation_id, by=who_of(request), now=timezone.now())  # type: ignore[attr-defined]
    messages.success(request, "The invitation is withdrawn.")
    return redirect("people")


@require_POST
@for_admins
@refused_in_place
def change_role(request: HttpRequest, membership_id: int) -> HttpResponse:
    account, role = request.person_account, request.POST.get("role", "")  # type: ignore[attr-defined]
    one = services.change_role(account, membership_id, role, by=who_of(request), now=timezone.now())
    if one.person == request.user and one.role != Role.ADMIN:
        messages.success(request, f"You are {one.role} in this account now.")
        return redirect("overview")
    messages.success(request, f"{one.person.display_name} is {one.role} now.")
    return redirect("people")


@require_POST
@for_admins
@refused_in_place
def remove_person(request: HttpRequest, membership_id: int) -> HttpResponse:
    one = services.take_role(request.person_account, membership_id, by=who_of(request), now=timezone.now())  # type: ignore[attr-defined]
    if one.person == request.user:
        messages.success(request, f"You do not belong to {one.account.name} any more.")
        return redirect("overview")
    messages.success(request, f"{one.person.display_name} does not belong to this account any more.")
    return redirect("people")


@require_POST
@for_admins
@refused_in_place
def reset_link(request: HttpRequest, membership_id: int) -> HttpResponse:
    """Make a link by which a person sets another password once; it is shown on this page and nowhere else."""
    who, token = services.password_link(
        request.person_account,  # type: ignore[attr-defined]
        membership_id,
        by_person=request.user,  # type: ignore[arg-type]
        by=who_of(request),
        now=timezone.now(),
    )
    return show(request, link=reverse("new_password", args=[who, token]), link_for="password")


@require_POST
@for_admins
@refused_in_place
def reset_factors(request: HttpRequest, membership_id: int) -> HttpResponse:
    """Take away the second factors of a person who lost them."""
    by, now = who_of(request), timezone.now()
    account, person = request.person_account, request.user  # type: ignore[attr-defined]
    one = factors.reset(account, membership_id, by_person=person, by=by, now=now)  # type: ignore[arg-type]
    messages.success(
        request, f"{one.person.display_name} logs in without a second factor, and is signed out everywhere."
    )
    return redirect("people")


@require_POST
@for_admins
@refused_in_place
def know_email(request: HttpRequest, membership_id: int) -> HttpResponse:
    """Write down by which e-mail a person is known when they first come by OpenID Connect."""
    account, email, by, now = request.person_account, request.POST.get("email", ""), who_of(request), timezone.now()  # type: ignore[attr-defined]
    one = identities.know(account, membership_id, email, by_person=request.user, by=by, now=now)  # type: ignore[arg-type]
    messages.success(request, f"{one.person.display_name} is known by that address now.")
    return redirect("people")


@require_POST
@for_admins
@refused_in_place
def require_factors(request: HttpRequest) -> HttpResponse:
    """Ask everybody in the account for a second factor, or stop to."""
    required = request.POST.get("required") == "yes"
    factors.require(request.person_account, required, by=who_of(request), now=timezone.now())  # type: ignore[attr-defined]
    said = "Everybody here needs a second factor now." if required else "A second factor is up to each person now."
    messages.success(request, said)
    return redirect("people")


@sensitive_post_parameters("password")
@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation: as who is logged in, or as somebody new."""
    now = timezone.now()
    try:
        found = services.invitation_of(token, now)
    except NotFound as refusal:
        return render(request, "settings/invitation.html", {"refusal": refusal}, status=404)
    if request.method != "POST":
        return render(request, "settings/invitation.html", {"found": found})
    form = request.POST
    try:
        person = request.user
        if not request.user.is_authenticated:
            person = services.new_person(form.get("username", ""), form.get("password", ""), name=form.get("name", ""))
        by = Who("person", person.get_username(), address_of(request), request.request_id)  # type: ignore[attr-defined]
        member = services.accept(token, person, by=by, now=now)  # type: ignore[arg-type]
    except Refusal as refusal:
        told = {"found": found, "refusal": refusal, "given": form}
        return render(request, "settings/invitation.html", told, status=refusal.status)
    if not request.user.is_authenticated:
        login(request, person, backend=entering.BACKEND)  # type: ignore[arg-type]
    request.session["account"] = member.account.slug
    return redirect("overview")

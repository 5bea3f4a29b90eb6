"""Settings: one's own account, its password and its sessions."""

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from senselab.accounts import people
from senselab.accounts.audit import Who, who_of
from senselab.accounts.models import Person
from senselab.accounts.origins import address_of
from senselab.ui import for_people, render_page


@sensitive_post_parameters()
@for_people
def own(request: HttpRequest) -> HttpResponse:
    """Show who one is here, what one may do, and where one is signed in; change the password."""
    person: Person = request.user  # type: ignore[assignment]
    form = PasswordChangeForm(person, request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.save()
        # Whoever knew the old password is out; this session goes on.
        people.end_all(person, but=request.session.session_key or "")
        update_session_auth_hash(request, person)
        people.begin_again(request.session.session_key or "", person, request_address(request), timezone.now())
        people.tell_accounts(person, "password_changed", by=who_of(request), now=timezone.now())
        messages.success(request, "The password is changed, and you are signed out everywhere else.")
        return redirect("own")
    context = {"form": form, "sign_ins": people.sign_ins(person, timezone.now())}
    context["here"] = request.session.session_key
    return render_page(request, "settings/own.html", context=context, status=400 if form.errors else 200)


def request_address(request: HttpRequest) -> tuple[str | None, str]:
    return address_of(request), request.META.get("HTTP_USER_AGENT", "")


@require_POST
@for_people
def sign_out_everywhere(request: HttpRequest) -> HttpResponse:
    """End every other session of this person at once."""
    person: Person = request.user  # type: ignore[assignment]
    people.end_all(person, but=request.session.session_key or "")
    update_session_auth_hash(request, person)
    people.begin_again(request.session.session_key or "", person, request_address(request), timezone.now())
    people.tell_accounts(person, "signed_out_everywhere", by=who_of(request), now=timezone.now())
    messages.success(request, "You are signed out everywhere else.")
    return redirect("own")


@require_POST
@for_people
def end_sign_in(request: HttpRequest, sign_in_id: int) -> HttpResponse:
    """End one session of this person."""
    people.end(request.user, sign_in_id)  # type: ignore[arg-type]
    messages.success(request, "That session is ended.")
    return redirect("own")


class NewPassword(PasswordResetConfirmView):
    """Set another password by a link that works once."""

    template_name = "settings/new_password.html"
    token_generator = people.password_tokens
    success_url = reverse_lazy("login")

    def form_valid(self, form):  # type: ignore[no-untyped-def]
        answer = super().form_valid(form)
        person: Person = self.user  # type: ignore[assignment]
        people.end_all(person)
        by = Who("person", person.username, address_of(self.request), self.request.request_id)  # type: ignore[attr-defined]
        people.tell_accounts(person, "password_reset", by=by, now=timezone.now())
        messages.success(self.request, "The password is set. Log in with it.")
        return answer

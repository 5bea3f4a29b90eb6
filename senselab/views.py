"""The home page, and which account it shows."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from memories.ui.people import viewer_of
from senselab import overview as figures
from senselab.errors import NotFound
from senselab.ui import for_people, render_page


@for_people
def overview(request: HttpRequest) -> HttpResponse:
    """Show what needs a person and how the account does; before the first write, how to make it.

    The page of an empty account asks again every few seconds: 204 leaves it as it is.
    """
    shown = figures.of(viewer_of(request), timezone.now())
    if shown.is_empty and request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(status=204)
    context = {"overview": shown, "origin": request.build_absolute_uri("/").rstrip("/")}
    return render_page(request, "overview.html", part="_overview.html", context=context)


@require_safe
@for_people
def course(request: HttpRequest) -> HttpResponse:
    """Show how the last days went; htmx gets the parts for the home page."""
    context = {"overview": figures.course(viewer_of(request), timezone.now())}
    return render_page(request, "course.html", part="_course.html", context=context)


@require_POST
@for_people
def switch_account(request: HttpRequest) -> HttpResponse:
    """Look at another account from now on.

    :raises NotFound: the person has no role in it; whether it exists is not told.
    """
    chosen = request.POST.get("account", "")
    if chosen not in {membership.account.slug for membership in request.memberships}:  # type: ignore[attr-defined]
        raise NotFound("There is no such account, or you have no role in it.")
    request.session["account"] = chosen
    return redirect("overview")

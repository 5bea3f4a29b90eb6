"""What is not there, or went wrong: problem details for agents, a page for people."""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from senselab import api, failures


@csrf_exempt
def no_route(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Answer for a route the API does not have; nothing redirects there, as the public client cannot follow."""
    del rest
    return api.problem(404, "Not found", f"There is no {request.method} {request.path}.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for a fault, without asking anything that might be what failed; what passes by itself is 503."""
    error = sys.exc_info()[1]
    found = failures.passing(error)
    if found is not None:
        return failures.answer(request, found, error)
    if request.path.startswith("/api/"):
        return api.problem(500, "Server error", "Something failed here; the log of the server says what.")
    return render(request, "500.html", status=500)

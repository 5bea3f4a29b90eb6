"""What is not there, or went wrong: problem details for agents, a page for people."""

import sys
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from senselab import api, failures

# What a browser may be told without a page: in words of the house, with the way on.
BARE = {
    400: (
        "That request made no sense",
        "Something in the address or in the form could not be read. Nothing was changed.",
    ),
    405: ("That address takes forms only", "It does something, so it is sent by a button and has no page of its own."),
    413: ("That was too large", "Send less at once. Nothing was changed."),
    429: ("Too many tries", "Wait a while, then try again. Nobody else is affected."),
}
# What programs ask answers them in their own way.
PROGRAMS = ("/api/", "/mcp", "/metrics", "/health", "/readyz", "/static/")


def dress_bare_answers(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Give an answer without a word, as 405 is, a page: a middleware."""

    def handle(request: HttpRequest) -> HttpResponse:
        answer = get_response(request)
        words = BARE.get(answer.status_code)
        if words is None or answer.streaming or answer.content or request.path.startswith(PROGRAMS):
            return answer
        context = dict(zip(("title", "text"), words, strict=True), code=answer.status_code)
        page = render(request, "bare.html", context, status=answer.status_code)
        for name in ("Allow", "Retry-After"):
            if name in answer:
                page[name] = answer[name]
        return page

    return handle


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

"""The way of agents' calls: past what only pages need (sessions, forms, files, log-ins), straight to the view.

A key comes with each call, so there is no session to load and nothing a browser would send by itself. What every
answer carries stays: an id, the rate, counts, headers of security. It buys a third of a read's time.
"""

from collections.abc import Callable
from typing import Any

from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware

from senselab.accounts.middleware import note_refusals

Handler = Callable[[HttpRequest], HttpResponse]
API = "/api/v1/"
# Nothing of an answer of the API is ever to be shown as a page.
POLICY = "default-src 'none'; frame-ancestors 'none'"
LAYERS: tuple[Callable[[Handler], Any], ...] = (
    SecurityMiddleware,
    CommonMiddleware,
    XFrameOptionsMiddleware,
    note_refusals,
)


class Views(BaseHandler):
    """Calls the view of a request, with nothing of MIDDLEWARE around it."""

    def __init__(self) -> None:
        for kind in ("_view_middleware", "_template_response_middleware", "_exception_middleware"):
            setattr(self, kind, [])

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)  # type: ignore[attr-defined]


def short_way(get_response: Handler) -> Handler:
    """Let calls of the API take the short way, and everything else the long one."""
    short: Any = convert_exception_to_response(Views())
    for layer in reversed(LAYERS):
        short = convert_exception_to_response(layer(short))

    def handle(request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(API):
            return get_response(request)
        response: HttpResponse = short(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response

    return handle

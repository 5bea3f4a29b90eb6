"""The way of agents' calls: past what only pages need (sessions, forms, files, log-ins), straight to the view.

A key comes with each call, so there is no session to load and nothing a browser would send by itself. What every
answer carries stays: an id, the rate, counts, headers of security. Nor does a call need the rest of what Django and
its REST framework do around a view: there is one way to come in, one to answer, and no page to resolve. It halves
the time of a read.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.core.exceptions import MiddlewareNotUsed, PermissionDenied
from django.core.handlers.exception import convert_exception_to_response
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware
from django.urls import ResolverMatch, URLPattern, URLResolver, get_resolver
from django.views import View
from rest_framework.exceptions import APIException, AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from senselab import bodies, failures, measuring, pipeline, replicas
from senselab.accounts.keys import Caller, Changed, HasScope, KeyAuthentication, key_text, known
from senselab.accounts.middleware import note_refusals, request_id, tell_the_rate
from senselab.errors import Refusal

Handler = Callable[[HttpRequest], HttpResponse]
API = "/api/v1/"
# Nothing of an answer of the API is ever to be shown as a page.
HEADERS = {"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "X-Frame-Options": "DENY"}
authentication = KeyAuthentication()


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of address of the API, and the view behind it."""

    pattern: URLPattern
    begins: str
    view: type[APIView]
    match: ResolverMatch


def short_way(get_response: Handler) -> Handler:
    """Let calls of the API take the short way, and everything else the long one."""
    inner: Any = convert_exception_to_response(called)
    short: Any = convert_exception_to_response(hardened(inner))
    for layer in (note_refusals, tell_the_rate, request_id, bodies.read_to_the_end, failures.once_more,
                  replicas.send_reads, measuring.measure):  # fmt: skip
        with suppress(MiddlewareNotUsed):
            short = layer(short)

    def handle(request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(API):
            return get_response(request)
        found, method = route_of(request.path_info), (request.method or "").lower()
        # A view has more attributes than it has methods that may be called from outside.
        if found is None or method not in View.http_method_names or not hasattr(found[0].view, method):
            return with_headers(get_response(request))
        route, values = found
        request.resolver_match = route.match
        request.call = route.view, values  # type: ignore[attr-defined]
        return short(request)

    return handle


def called(request: HttpRequest) -> HttpResponse:
    """Return the answer of a view to whoever has a key with a scope for it.

    A key that was seen before is asked for anew together with the view's first read; should it have changed meanwhile,
    all there is to do again is that read.
    """
    with suppress(Changed):
        if (seen := known_key(request)) is not None:
            caller, passenger = seen
            with pipeline.carrying(passenger):
                return viewed(request, caller)
    return viewed(request, None)


def known_key(request: HttpRequest) -> tuple[Caller, pipeline.Passenger] | None:
    """Return whom the key of a call stood for last, and what asks whether that is still so; None where not known."""
    with suppress(AuthenticationFailed):
        return known.travelling(key_text(request))
    return None


def viewed(request: HttpRequest, caller: Caller | None) -> HttpResponse:
    """Do what the framework does around a view: who asks, whether they may, and what a refusal says."""
    kind, values = request.call  # type: ignore[attr-defined]
    view: Any = kind()
    view.request = asked = Request(request, authenticators=[authentication])
    view.headers, view.args, view.kwargs, view.format_kwarg = {}, (), values, None
    try:
        asked.user = authentication.admit(asked, caller) if caller else authentication.authenticate(asked)[0]
        # Whoever asks who it was that let them in must not ask for the key again.
        asked._authenticator = authentication
        allowed = HasScope()
        if not allowed.has_permission(asked, view):
            view.permission_denied(asked, message=allowed.message)
        response = getattr(view, asked.method.lower())(asked, **values)
    except (Refusal, APIException, Http404, PermissionDenied) as error:
        response = view.handle_exception(error)
    if isinstance(response, Response):
        asked.accepted_renderer, asked.accepted_media_type = view.perform_content_negotiation(asked, force=True)
        response = view.finalize_response(asked, response)
        response.render()
    return response


def hardened(get_response: Handler) -> Handler:
    """Refuse a host that is not ours, and put what Django's middleware for security would say into each answer."""
    security = SecurityMiddleware(get_response)

    def handle(request: HttpRequest) -> HttpResponse:
        request.get_host()
        response = get_response(request)
        with_headers(response)
        if not response.streaming:
            response.headers.setdefault("Content-Length", str(len(response.content)))
        return security.process_response(request, response)

    return handle


def with_headers(response: HttpResponse) -> HttpResponse:
    for name, text in HEADERS.items():
        response.headers[name] = text
    return response


def route_of(path: str) -> tuple[Route, dict[str, Any]] | None:
    """Return where an address of the API leads and what it names; None where nothing usual is."""
    for route in routes().get(path[len(API) :].partition("/")[0], ()):
        found = route.pattern.pattern.match(path[len(route.begins) :])
        if found is not None:
            return route, found[2]
    return None


@cache
def routes() -> dict[str, list[Route]]:
    """Return the kinds of addresses whose views are called as all are, by their first part, in the order of trying.

    Where one of a part is called otherwise, all of that part go the long way.
    """
    found: dict[str, list[Route]] = {}
    unusual = set()
    for before, pattern in patterns(get_resolver(), "/"):
        address = before + str(pattern.pattern)
        if not address.startswith(API):
            continue
        first = address.removeprefix(API).partition("/")[0]
        view = getattr(pattern.callback, "cls", None)
        if view is None or not is_usual(view):
            unusual.add(first)
            continue
        match = ResolverMatch(pattern.callback, (), {}, route=address[1:])
        found.setdefault(first, []).append(Route(pattern, before, view, match))
    return {first: listed for first, listed in found.items() if first not in unusual}


def patterns(resolver: URLResolver, before: str) -> Iterator[tuple[str, URLPattern]]:
    """Give every pattern below a resolver with what stands before it, in the order they are tried."""
    for one in resolver.url_patterns:
        if isinstance(one, URLPattern):
            yield before, one
        else:
            yield from patterns(one, before + str(one.pattern))


def is_usual(view: type[APIView]) -> bool:
    """Tell whether a view asks for a key with a scope, and for nothing else."""
    return (
        view.dispatch is APIView.dispatch
        and view.initial is APIView.initial
        and view.authentication_classes == [KeyAuthentication]
        and view.permission_classes == [HasScope]
        and not view.throttle_classes
    )

"""Counts requests by route and status and how long they took, across the processes of one machine."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter, Histogram

Handler = Callable[[HttpRequest], HttpResponse]
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

REQUESTS = Counter("senselab_http_requests", "Requests by route and status.", ["method", "route", "status"])
DURATIONS = Histogram("senselab_http_request_seconds", "How long requests took.", ["route"], buckets=SECONDS)
REFUSED = Counter("senselab_http_refused", "Calls of the API sent away at the door, as too many were under way.")


def measure(get_response: Handler) -> Handler:
    """Count each request; a route is the pattern of its address, so that there are few of them."""

    def handle(request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = get_response(request)
        match = request.resolver_match
        route = f"/{match.route}" if match else "none"
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(method, route, response.status_code).inc()
        DURATIONS.labels(route).observe(time.perf_counter() - began)
        return response

    return handle

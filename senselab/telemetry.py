"""What leaves the house for Sentry and OpenTelemetry, where somebody asked: which route failed, or took how long.

Off unless SENTRY_DSN or OTEL_EXPORTER_OTLP_ENDPOINT is set; both need what requirements-observability.txt lists.
Nothing that is sent quotes a value, a name or a key: what may be told is picked here, the rest is dropped.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

from senselab import logs
from senselab.version import VERSION

Handler = Callable[[HttpRequest], HttpResponse]
NEEDED = "pip install -r requirements-observability.txt first"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# Of an event of Sentry's these are told as they are; they are made by its own client.
PLAIN = ("event_id", "timestamp", "level", "platform", "release", "environment", "sdk", "logger")
FRAME = ("filename", "function", "module", "lineno", "in_app")


def begin_sentry(dsn: str) -> None:
    """Send faults to Sentry from now on, unless there is no DSN.

    :raises ImproperlyConfigured: its client is not installed.
    """
    if not dsn:
        return
    try:
        import sentry_sdk
        from sentry_sdk.integrations.logging import LoggingIntegration
    except ImportError as error:
        raise ImproperlyConfigured(f"SENTRY_DSN is set, and sentry-sdk is missing: {NEEDED}") from error
    sentry_sdk.init(
        dsn=dsn,
        release=f"senselab@{VERSION}",
        environment=settings.SENTRY_ENVIRONMENT,
        # Its own integrations read requests, statements and local variables; faults reach it by the log alone.
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[LoggingIntegration(level=None, event_level=logging.ERROR)],
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        server_name="",
        before_send=picked,
    )


def picked(event: Any, hint: Any) -> Any:
    """Return of an event what may leave: where a fault was raised and on which route, and no words of it.

    What an exception says may quote a value, so that only its kind is told.
    """
    told = {name: event[name] for name in PLAIN if name in event}
    record = hint.get("log_record")
    request = getattr(record, "request", None)
    match = getattr(request, "resolver_match", None)
    if match is not None:
        told["transaction"] = f"{_method(request)} /{match.route}"
    asked = getattr(request, "request_id", "") or logs.request_id.get()
    told["tags"] = {"request_id": logs.cleaned(asked)} if asked else {}
    raised = (event.get("exception") or {}).get("values", [])
    if raised:
        told["exception"] = {"values": [_kind_and_place(one) for one in raised]}
    elif record is not None:
        told["logentry"] = {"message": f"{record.name} {record.levelname.lower()} at {record.module}:{record.lineno}"}
    return told


def _kind_and_place(raised: Any) -> dict[str, Any]:
    frames = (raised.get("stacktrace") or {}).get("frames", [])
    places = [{name: frame[name] for name in FRAME if name in frame} for frame in frames]
    return {"type": raised.get("type"), "module": raised.get("module"), "stacktrace": {"frames": places}}


def _method(request: Any) -> str:
    return request.method if request.method in METHODS else "other"


def trace(get_response: Handler) -> Handler:
    """Tell how long each request took, by route, as a span of OpenTelemetry that goes on from the caller's.

    :raises MiddlewareNotUsed: nobody asked for it.
    """
    if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        raise MiddlewareNotUsed
    tracer, span_kind, context_of = tracing()

    def handle(request: HttpRequest) -> HttpResponse:
        carried = {"traceparent": request.headers.get("Traceparent", "")}
        with tracer.start_as_current_span(
            _method(request), context=context_of(carried), kind=span_kind, record_exception=False
        ) as span:
            response = get_response(request)
            match = request.resolver_match
            route = f"/{match.route}" if match else "none"
            span.update_name(f"{_method(request)} {route}")
            span.set_attribute("http.request.method", _method(request))
            span.set_attribute("http.route", route)
            span.set_attribute("http.response.status_code", response.status_code)
            span.set_attribute("senselab.request_id", logs.cleaned(getattr(request, "request_id", "")))
        return response

    return handle


def tracing() -> tuple[Any, Any, Callable[[dict[str, str]], Any]]:
    """Return a tracer that sends to OTEL_EXPORTER_OTLP_ENDPOINT, the kind of its spans, and what reads a caller's.

    The provider is ours alone: a global one would also send what libraries, such as that of /mcp, note of values.

    :raises ImproperlyConfigured: the exporter is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    except ImportError as error:
        said = "OTEL_EXPORTER_OTLP_ENDPOINT is set, and the exporter is missing"
        raise ImproperlyConfigured(f"{said}: {NEEDED}") from error
    provider = TracerProvider(resource=Resource.create({"service.name": "senselab", "service.version": VERSION}))
    address = settings.OTEL_EXPORTER_OTLP_ENDPOINT.rstrip("/") + "/v1/traces"
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address)))
    return provider.get_tracer("senselab", VERSION), SpanKind.SERVER, TraceContextTextMapPropagator().extract

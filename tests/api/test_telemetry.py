"""What is sent to Sentry and OpenTelemetry, by a receiver on this machine: routes and kinds, no value, no key."""

import gzip
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
import sentry_sdk
from django.core.exceptions import MiddlewareNotUsed
from django.db import connection
from django.test import Client, RequestFactory
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from memories.services import writing
from senselab import telemetry

SECRET = "swordfish"


class Receiver:
    """Takes whatever is posted to it and keeps it."""

    def __init__(self) -> None:
        self.came: list[tuple[str, bytes]] = []
        self.more = threading.Condition()
        receiver = self

        class Taking(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                with receiver.more:
                    receiver.came.append((self.path, body))
                    receiver.more.notify_all()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"")

            def log_message(self, *words: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Taking)
        self.address = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def first(self) -> tuple[str, bytes]:
        with self.more:
            assert self.more.wait_for(lambda: self.came, 20), "nothing came"
            return self.came[0]

    @property
    def everything(self) -> bytes:
        return b"".join(body for _, body in self.came)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def sentry(receiver: Receiver) -> Iterator[Receiver]:
    telemetry.begin_sentry(f"http://public@{receiver.address}/1")
    yield receiver
    sentry_sdk.get_client().close(timeout=0)
    sentry_sdk.init(default_integrations=False, auto_enabling_integrations=False)


def write(key: str) -> Any:
    body = {"entity_path": "shop", "key": "retry", "value": f"the code is {SECRET}", "agent_id": "agent/ada"}
    client = Client(headers={"Authorization": f"Bearer {key}"}, raise_request_exception=False)
    return client.post(f"/api/v1/entries?token={SECRET}", json.dumps(body), content_type="application/json")


def test_a_fault_is_told_by_route_kind_and_place_alone(sentry, account, api_key, monkeypatch):
    def broken(account_id, draft, **more):
        local = draft
        raise ValueError(f"{local} cannot be {SECRET}")

    monkeypatch.setattr(writing, "write", broken)
    assert write(api_key).status_code == 500
    sentry_sdk.flush(20)
    path, body = sentry.first()
    assert path == "/api/1/envelope/"
    event = json.loads(body.splitlines()[2])
    assert event["transaction"] == "POST /api/v1/entries"
    assert event["exception"]["values"][-1]["type"] == "ValueError"
    assert event["exception"]["values"][-1]["stacktrace"]["frames"][-1]["function"] == "broken"
    assert event["release"].startswith("senselab@")
    assert SECRET.encode() not in sentry.everything
    assert api_key.encode() not in sentry.everything
    assert b"agent/ada" not in sentry.everything


def test_a_line_of_the_log_is_told_by_its_place_alone(sentry, account):
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s", [SECRET])
    logging.getLogger("somewhere").info("%s came by", SECRET)
    logging.getLogger("somewhere").error("%s went wrong with " + SECRET, SECRET, extra={"value": SECRET})
    sentry_sdk.flush(20)
    event = json.loads(sentry.first()[1].splitlines()[2])
    assert event["logentry"]["message"].startswith("somewhere error at test_telemetry:")
    assert SECRET.encode() not in sentry.everything
    assert len(sentry.came) == 1


def test_without_a_dsn_nothing_begins(monkeypatch):
    begun: list[Any] = []
    monkeypatch.setattr(sentry_sdk, "init", lambda **options: begun.append(options))
    telemetry.begin_sentry("")
    assert begun == []


@pytest.fixture
def traced(settings, receiver: Receiver) -> Receiver:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = f"http://{receiver.address}/"
    return receiver


def spans(receiver: Receiver) -> list[Any]:
    path, body = receiver.first()
    assert path == "/v1/traces"
    told = ExportTraceServiceRequest.FromString(body)
    return [span for one in told.resource_spans for scope in one.scope_spans for span in scope.spans]


def test_a_request_is_told_by_route_and_status_and_goes_on_from_the_callers_trace(
    traced, account, api_key, monkeypatch
):
    made: list[Any] = []
    tracing = telemetry.tracing
    monkeypatch.setattr(telemetry, "tracing", lambda: made.append(tracing()) or made[0])
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    client = Client(headers={"Authorization": f"Bearer {api_key}", "Traceparent": f"00-{trace_id}-b7ad6b7169203331-01"})
    assert client.get("/api/v1/entries", {"entity_path": SECRET}).status_code == 200
    assert client.get(f"/api/v1/nowhere/{SECRET}").status_code == 404
    ((tracer, _, _),) = made
    tracer.span_processor.force_flush()
    first, second = spans(traced)
    assert first.name == "GET /api/v1/entries"
    assert first.trace_id.hex() == trace_id
    told = {one.key: one.value for one in first.attributes}
    assert set(told) == {"http.request.method", "http.route", "http.response.status_code", "senselab.request_id"}
    assert told["http.response.status_code"].int_value == 200
    assert {one.key: one.value for one in second.attributes}["http.response.status_code"].int_value == 404
    assert SECRET.encode() not in traced.everything
    assert api_key.encode() not in traced.everything


def test_without_an_endpoint_no_request_is_traced(settings):
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = ""
    with pytest.raises(MiddlewareNotUsed):
        telemetry.trace(lambda request: RequestFactory().get("/"))  # type: ignore[arg-type,return-value]

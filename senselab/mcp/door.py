"""/mcp in a web process: stateless JSON, whose tools ask the API of the same process.

The protocol's app is asynchronous. Its lifespan is entered once in each process, on a loop of its own: without that it
answers 200 with an error text. Its packages are large; they are loaded beside the start, which does not wait for them.
"""

import asyncio
import io
import threading
from collections.abc import Callable, Iterable, Mapping
from math import ceil
from typing import Any, cast
from urllib.parse import urlencode, urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import msgspec
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import DatabaseError, InterfaceError, connection
from django.http.request import split_domain_port, validate_host
from django.utils import timezone
from rest_framework.exceptions import AuthenticationFailed, Throttled

from senselab import failures
from senselab.accounts import audit, keys
from senselab.accounts.audit import Who
from senselab.accounts.origins import address_of
from senselab.mcp.calling import Answered, Ask, asked
from senselab.version import VERSION

PATH = "/mcp"
READY = 10  # seconds for the lifespan to be entered
PASSED_ON = ("authorization", "x-amfs-api-key", "x-api-key", "x-amfs-agent-id", "x-amfs-session", "host")
REASONS = {
    400: "400 Bad Request",
    401: "401 Unauthorized",
    405: "405 Method Not Allowed",
    429: "429 Too Many Requests",
    503: "503 Service Unavailable",
}
Refused = tuple[int, str, int | None]  # a status, a sentence, and perhaps after how many seconds to ask again


class InProcess:
    """Asks the API by calling the application, as its server would."""

    def __init__(self, application: WSGIApplication, headers: Mapping[str, str]) -> None:
        self.application = application
        self.headers = headers

    def __call__(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None) -> Answered:
        sent = msgspec.json.encode(body) if body is not None else b""
        environ: WSGIEnvironment = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": f"/api/v1/{path}",
            "QUERY_STRING": urlencode(asked(query)),
            "SERVER_NAME": "localhost",
            "SERVER_PORT": str(settings.PORT),
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": self.headers.get("x-senselab-from", ""),
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(sent)),
            "wsgi.input": io.BytesIO(sent),
            "wsgi.url_scheme": "https" if settings.BEHIND_TLS else "http",
            **{
                f"HTTP_{name.upper().replace('-', '_')}": self.headers[name]
                for name in PASSED_ON
                if name in self.headers
            },
        }
        if settings.BEHIND_TLS:
            environ["HTTP_X_FORWARDED_PROTO"] = "https"
        return answered(self.application, environ)


def answered(application: WSGIApplication, environ: WSGIEnvironment) -> Answered:
    """Return what an application answers, whole."""
    status: list[int] = []

    def start(line: str, headers: list[tuple[str, str]], error: Any = None) -> Callable[[bytes], object]:
        del headers, error
        status.append(int(line[:3]))
        return lambda data: None

    parts = application(environ, start)
    try:
        body = b"".join(parts)
    finally:
        if hasattr(parts, "close"):
            parts.close()
    return Answered(status[0], body)


class Protocol:
    """The protocol's app of this process, started with its first call."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application
        self.lock = threading.Lock()
        self.app: WSGIApplication | None = None

    def asker(self, context: Any) -> Ask:
        return InProcess(self.application, context.headers or {})

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        app = self.ready()
        # The wrapper says status and headers only once it is read from, which is too late for the server.
        parts = app(environ, start_response)
        try:
            return [b"".join(parts)]
        finally:
            if hasattr(parts, "close"):
                parts.close()

    def ready(self) -> WSGIApplication:
        """Return the app, started by whoever comes first."""
        with self.lock:
            self.app = self.app or self.start()
            return self.app

    def start(self) -> WSGIApplication:
        from a2wsgi import ASGIMiddleware
        from mcp.server.transport_security import TransportSecuritySettings

        from senselab.mcp import tools

        made = tools.server(self.asker, VERSION)
        # Hosts and origins were checked at the door, against ALLOWED_HOSTS.
        checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        app = made.streamable_http_app(
            json_response=True, stateless_http=True, streamable_http_path=PATH, transport_security=checked
        )
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, name="mcp", daemon=True).start()
        entered = threading.Event()
        asyncio.run_coroutine_threadsafe(live(app, entered), loop)
        entered.wait(READY)
        wrapped: Any = ASGIMiddleware(cast(Any, app), loop=loop)
        return cast(WSGIApplication, wrapped)


async def live(app: Any, entered: threading.Event) -> None:
    """Hold the app's lifespan for as long as the process lives."""
    async with app.router.lifespan_context(app):
        entered.set()
        await asyncio.Event().wait()


def door(application: WSGIApplication) -> WSGIApplication:
    """Return an application that serves /mcp itself and leaves everything else to another."""
    protocol = Protocol(application)
    threading.Thread(target=protocol.ready, name="mcp loads", daemon=True).start()

    def handle(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO", "").rstrip("/") != PATH:
            return application(environ, start_response)
        if refusal := refused(environ):
            return refuse(start_response, *refusal)
        return protocol({**environ, "PATH_INFO": PATH, **identity(environ)}, start_response)

    return handle


def refused(environ: WSGIEnvironment) -> Refused | None:
    """Return with what a call is refused at the door, None of one that may come in."""
    if environ.get("REQUEST_METHOD") != "POST":
        return 405, "This server is stateless: POST alone.", None
    hosts = [
        environ.get("HTTP_HOST", ""),
        urlsplit(environ.get("HTTP_ORIGIN", "")).netloc or environ.get("HTTP_HOST", ""),
    ]
    if not all(validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS) for host in hosts):
        return 400, "This host is not among ALLOWED_HOSTS.", None
    # Django's own care for connections begins with its requests, and this is none.
    failures.let_go_if_closed()
    try:
        return unknown(environ)
    except (DatabaseError, InterfaceError) as error:
        found = failures.passing(error)
        if found is None:
            raise
        connection.close_if_unusable_or_obsolete()
        return 503, found.words, found.retry_after


def unknown(environ: WSGIEnvironment) -> Refused | None:
    """Note who calls and count the call; return the refusal of a key that is none, or beyond its calls a minute."""
    request = WSGIRequest(environ)
    try:
        caller = environ["senselab.caller"] = keys.find(key_of(environ), request)
        keys.uses.note(caller.key_id, caller.account_id, address_of(request))
        keys.rates.take(caller)
    except AuthenticationFailed as error:
        if known := getattr(request, "refused_key", None):
            by = Who("key", known[1], address_of(request))
            audit.refusals.note(known[0], by, status=401, target=f"POST {PATH}", now=timezone.now())
        return 401, str(error.detail), None
    except Throttled as error:
        return 429, str(error.detail), max(1, ceil(error.wait or 0))
    return None


def key_of(environ: WSGIEnvironment) -> str:
    own = environ.get("HTTP_X_AMFS_API_KEY") or environ.get("HTTP_X_API_KEY")
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    return str(own or (token if scheme.lower() == "bearer" else "")).strip()


def identity(environ: WSGIEnvironment) -> dict[str, str]:
    """Return from where a call comes, and for whom it speaks where it names nobody: the key's name, so that it reads
    what it wrote."""
    caller = environ["senselab.caller"]
    address = {"HTTP_X_SENSELAB_FROM": environ.get("REMOTE_ADDR", "")}
    if environ.get("HTTP_X_AMFS_AGENT_ID") or caller.agent_id or not caller.key_name.isascii():
        return address
    return address | {"HTTP_X_AMFS_AGENT_ID": caller.key_name}


def refuse(start_response: StartResponse, status: int, detail: str, retry_after: int | None) -> Iterable[bytes]:
    headers = [("Content-Type", "application/problem+json")]
    if retry_after is not None:
        headers.append(("Retry-After", str(retry_after)))
    if status == 401:
        headers.append(("WWW-Authenticate", 'Bearer realm="senselab"'))
    if status == 405:
        headers.append(("Allow", "POST"))
    body = msgspec.json.encode({"title": REASONS[status][4:], "status": status, "detail": detail})
    start_response(REASONS[status], [*headers, ("Content-Length", str(len(body)))])
    return [body]

"""What the API shares: how bodies come in, how answers and refusals go out, and how a repeated call is recognised."""

import hashlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from django.db import connection, transaction
from django.http import HttpResponse
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.views import exception_handler as drf_handler

from senselab.accounts.keys import Caller
from senselab.errors import Conflict, Invalid, Place, Refusal, TooLarge

PROBLEM = "application/problem+json"
BODY_BYTES = 8 * 1024 * 1024
T = TypeVar("T", bound=msgspec.Struct)


def answer(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """Return JSON as bytes that are ready: moments as ISO-8601 with Z, no key reordered."""
    data = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return HttpResponse(data, status=status, content_type="application/json", headers=headers or {})


def problem(
    status: int, title: str, detail: str, *, places: tuple[Place, ...] = (), retry: int | None = None, **extra: Any
) -> HttpResponse:
    """Return problem details (RFC 9457) that also carry `detail`, which the public client reads.

    `retry` is after how many seconds it is worth asking again.
    """
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **extra}
    if places:
        body["errors"] = [{"pointer": place.pointer, "detail": place.detail} for place in places]
    headers = {} if retry is None else {"Retry-After": str(retry)}
    return HttpResponse(msgspec.json.encode(body), status=status, content_type=PROBLEM, headers=headers)


def problem_response(error: Exception, context: dict[str, Any]) -> HttpResponse | Response | None:
    """Turn a refusal into its answer; anything that is not a refusal is a fault and goes on up."""
    if isinstance(error, Refusal):
        return problem(error.status, error.title, error.detail, places=error.places, retry=error.retry, **error.extra)
    if isinstance(error, exceptions.APIException):
        response = drf_handler(error, context)
        made = problem(error.status_code, HTTPStatus(error.status_code).phrase, str(error.detail))
        for name, value in response.headers.items() if response else ():
            if name in {"WWW-Authenticate", "Retry-After"}:
                made[name] = value
        if isinstance(error, exceptions.Throttled) and error.wait is not None:
            # The public client reads a number here and nothing else (contract.md 2.1).
            made["Retry-After"] = str(max(1, int(error.wait + 0.999)))
        return made
    return drf_handler(error, context)


def body_of(request: Request, shape: type[T]) -> T:
    """Return the body as a struct.

    :raises Invalid: it is no JSON, or not of that shape; the pointer names the place.
    :raises TooLarge: it is longer than 8 MiB.
    """
    raw = raw_body(request)
    try:
        return msgspec.json.decode(raw or b"{}", type=shape)
    except msgspec.ValidationError as error:
        text = str(error)
        said, _, where = text.partition(" - at `$")
        raise Invalid(said, pointer_of(where.rstrip("`"))) from error
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Invalid(f"The body is not JSON: {error}") from error


def raw_body(request: Request) -> bytes:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > BODY_BYTES:
        raise TooLarge(f"A body is at most {BODY_BYTES} bytes long; this one has {length}.")
    raw: bytes = request._request.body
    return raw


def pointer_of(path: str) -> str:
    """Return the JSON pointer for a msgspec path such as ``.attempts[0].outcome_type``."""
    return path.replace("[...]", "/*").replace("[", "/").replace("]", "").replace(".", "/")


def expected_version(request: Request) -> int | None:
    """Return the version in If-Match; 0 for `If-None-Match: *`, None without either.

    :raises Invalid: it is neither a version nor a star.
    """
    if request.META.get("HTTP_IF_NONE_MATCH", "").strip() == "*":
        return 0
    tag = request.META.get("HTTP_IF_MATCH", "").strip().removeprefix("W/").strip('"')
    if tag in {"", "*"}:
        return None
    if not tag.isascii() or not tag.isdigit() or len(tag) > 9:
        raise Invalid('If-Match takes the version in quotes, as the ETag gave it: "7".')
    return int(tag)


def etag(version: int) -> dict[str, str]:
    return {"ETag": f'"{version}"'}


KEPT = """
    SELECT body_sha256, status, headers, body FROM accounts_keptanswer
     WHERE account_id = %s AND key_id = %s AND route = %s AND idempotency_key = %s
"""
KEEP = """
    INSERT INTO accounts_keptanswer (account_id, key_id, route, idempotency_key, body_sha256, status, headers, body)
    VALUES (%s, %s, %s, %s, %s, %s, %s::jsonb, %s)
"""
KEPT_HEADERS = ("ETag", "X-Change-Set", "Content-Type")


def once(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer a POST that carries an Idempotency-Key once, and repeat that answer for 24 hours.

    Without the header it costs nothing. Only 2xx answers are kept; another body under the same key is 422, two in
    flight at once are one answer and one 409.
    """

    def method(self: APIView, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        key = request.META.get("HTTP_IDEMPOTENCY_KEY", "")
        if not key:
            return view(self, request, *args, **kwargs)
        if len(key) > 255:
            raise Invalid("An Idempotency-Key is at most 255 characters long.")
        with transaction.atomic():
            return _once(view, self, request, key, *args, **kwargs)

    return method


def _once(
    view: Callable[..., HttpResponse], self: APIView, request: Request, key: str, *args: Any, **kwargs: Any
) -> HttpResponse:
    caller: Caller = request.user
    place = [caller.account_id, caller.key_id, request.path, key]
    sha256 = hashlib.sha256(raw_body(request)).digest()
    lock = int.from_bytes(hashlib.sha256(repr(place).encode()).digest()[:8], "big", signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [lock])
        if not cursor.fetchone()[0]:
            raise Conflict("A call with this Idempotency-Key is under way.")
        cursor.execute(KEPT, place)
        kept = cursor.fetchone()
        if kept is not None:
            return _repeat(kept, sha256)
        response = view(self, request, *args, **kwargs)
        if 200 <= response.status_code < 300:
            headers = {name: response[name] for name in KEPT_HEADERS if name in response}
            kept_headers = msgspec.json.encode(headers).decode()
            cursor.execute(KEEP, [*place, sha256, response.status_code, kept_headers, bytes(response.content)])
        return response


def _repeat(kept: tuple[Any, ...], sha256: bytes) -> HttpResponse:
    body_sha256, status, headers, body = kept
    if bytes(body_sha256) != sha256:
        raise Refusal("This Idempotency-Key was used with another body.")
    told = msgspec.json.decode(headers) if isinstance(headers, str) else headers
    return HttpResponse(bytes(body), status=status, headers={**told, "Idempotency-Replayed": "true"})

"""What passes by itself: a database that is away, full, read-only or busy. It is said as 503, with when to ask again.

A call whose transaction the database undid whole is made once more here; any other failure goes out, as nobody knows
whether it was stored.
"""

import logging
import re
import select
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psycopg
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from senselab import api

log = logging.getLogger(__name__)
Handler = Callable[[HttpRequest], HttpResponse]


@dataclass(frozen=True, slots=True)
class Passing:
    """A failure that passes: what it is in words, after how many seconds to ask again, and whether all was undone."""

    words: str
    retry_after: int
    undone: bool = False


AWAY = Passing("The database is away for a moment. What you sent may or may not have been stored.", 2)
# By SQLSTATE, the longest prefix wins; '' is what comes without one: the connection broke.
KNOWN = {
    "": AWAY,
    "08": AWAY,
    "57P": AWAY,
    "57014": Passing("That took too long and was stopped; nothing was stored.", 5),
    "25006": Passing("The database takes no writes for now; reading goes on. Nothing was stored.", 30),
    "53": Passing("The database is short of something it needs. Nothing was stored.", 10),
    "53100": Passing("The disk of the database is full. Nothing was stored.", 60),
    "53300": Passing("The database has no connection to spare. Nothing was stored.", 2),
    "40P01": Passing("Two calls waited for each other. Nothing was stored.", 1, undone=True),
    "40001": Passing("Somebody else changed the same at that moment. Nothing was stored.", 1, undone=True),
    "55P03": Passing("Something else holds what this needs. Nothing was stored.", 2),
    "58": Passing("The database cannot use its files. Nothing was stored.", 30),
}
# Who is not let in hears why, without a code.
NO_PLACE = r"too many clients already|too many connections for|remaining connection slots are reserved"


def causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def passing(error: BaseException | None) -> Passing | None:
    """Return what passes by itself behind an error; None where it is a fault of ours, or no error of the database."""
    for cause in causes(error):
        if not isinstance(cause, DatabaseError | InterfaceError):
            continue
        state = getattr(cause.__cause__, "sqlstate", None) or getattr(cause, "sqlstate", None) or ""
        if not state and not is_broken(cause):
            return None
        if not state and re.search(NO_PLACE, str(cause)):
            return KNOWN["53300"]
        fitting = [prefix for prefix in KNOWN if prefix and state.startswith(prefix)]
        return KNOWN[max(fitting, key=len)] if fitting else (AWAY if not state else None)
    return None


def is_broken(error: BaseException) -> bool:
    """Tell whether an error without a code says that there is no connection."""
    return type(error).__name__ in {"OperationalError", "InterfaceError"}


def answer(request: HttpRequest, found: Passing, error: BaseException | None) -> HttpResponse:
    """Return the 503 of a failure that passes, for agents or for people."""
    said = " ".join(str(error).split())[:300]
    log.warning("%s %s: %s (%s)", request.method, request.path, found.words, said)
    response = refusal(request, found.words, found.retry_after)
    response.passing = found  # type: ignore[attr-defined]
    return response


def refusal(request: HttpRequest, words: str, retry_after: int) -> HttpResponse:
    if request.path.startswith("/api/"):
        response = api.problem(503, "Not now", words)
    else:
        response = render(request, "503.html", {"words": words}, status=503)
    # The public client reads a number here and nothing else (contract.md 2.1).
    response["Retry-After"] = str(retry_after)
    response["Cache-Control"] = "no-store"
    return response


def once_more(get_response: Handler) -> Handler:
    """Begin each request on a connection that is there, and make it once more where that cannot store twice."""

    def handle(request: HttpRequest) -> HttpResponse:
        let_go_if_closed()
        response = get_response(request)
        found: Passing | None = getattr(response, "passing", None)
        if found is None:
            return response
        connection.close_if_unusable_or_obsolete()
        return get_response(request) if repeats(request, found) else response

    return handle


def repeats(request: HttpRequest, found: Passing) -> bool:
    """Tell whether a request may be made again by ourselves: it only reads, or all it did was undone.

    A call about many entries does them in parts: what its first parts stored was not undone.
    """
    if request.method in {"GET", "HEAD"}:
        return found.undone or found is AWAY
    return found.undone and request.path.startswith("/api/") and "/review/" not in request.path


def let_go_if_closed() -> None:
    """Close this thread's connection when the server ended it meanwhile; costs no round trip.

    On a connection between two requests nothing arrives but the server's farewell.
    """
    held = connection.connection
    if held is None or connection.in_atomic_block:
        return
    poll = select.poll()
    try:
        poll.register(held.fileno(), select.POLLIN)
        gone = bool(poll.poll(0))
    except (OSError, ValueError, psycopg.OperationalError):
        gone = True
    if gone:
        connection.close()

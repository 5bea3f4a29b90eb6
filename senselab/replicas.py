"""A hot standby of the database for what only reads: pages and searches, as long as it knows what the asker wrote.

For the time of such a request the standby's connection stands in the place of this thread's own, so that nothing below
knows of it. What the standby cannot do, or does not know yet, the primary answers.
"""

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import DatabaseError, InterfaceError, connections
from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter

log = logging.getLogger(__name__)
Handler = Callable[[HttpRequest], HttpResponse]

PRIMARY, STANDBY = "default", "standby"
SEARCHES = frozenset({"/api/v1/search"})
# Who watches wants to know of the primary, and static files need no database.
ELSEWHERE = ("/api/", "/mcp", "/static/", "/health", "/readyz", "/metrics")
# Looking at these writes what a proof is asked with, or begins a session.
WRITING = ("/login/", "/settings/you/security/")
# How far into its log the primary was when this person last wrote; the standby answers them once it has come so far.
COOKIE = "written"
# A standby further behind than this, in bytes of the log, answers nobody.
BEHIND = 16 * 1024 * 1024
# Seconds for which a server that did not answer is left alone: a standby, and a primary by those who only read.
REST, SHORT_REST = 5.0, 1.0

ANSWERED = Counter("senselab_standby_answers", "Reads that could go to the standby, by who answered.", ["by"])
# Where nobody waits for the disk, what was committed may not have reached it yet.
COMMITTED = """
    SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
           ELSE pg_current_wal_flush_lsn() END::text
"""
# On a server that is no standby the first is null, and nothing goes there.
KNOWS = """
    SELECT pg_last_wal_replay_lsn() >= %(needed)s::pg_lsn
       AND pg_wal_lsn_diff(%(now)s::pg_lsn, pg_last_wal_replay_lsn()) <= %(behind)s
"""


class Rest:
    """Until when a server is left alone, in this process."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.ends = seconds, 0.0

    def begin(self) -> None:
        self.ends = time.monotonic() + self.seconds

    @property
    def is_on(self) -> bool:
        return time.monotonic() < self.ends


rest, without_primary = Rest(REST), Rest(SHORT_REST)


def send_reads(get_response: Handler) -> Handler:
    """Let the standby answer what only reads, and note in a cookie up to where it must know what a person wrote.

    :raises MiddlewareNotUsed: there is no standby.
    """
    if STANDBY not in settings.DATABASES:
        raise MiddlewareNotUsed

    def handle(request: HttpRequest) -> HttpResponse:
        if not only_reads(request):
            return noted(request, get_response(request))
        response = from_standby(request, get_response)
        ANSWERED.labels("primary" if response is None else "standby").inc()
        return get_response(request) if response is None else response

    return handle


def only_reads(request: HttpRequest) -> bool:
    if request.path in SEARCHES:
        return True
    return request.method in {"GET", "HEAD"} and not request.path.startswith((*ELSEWHERE, *WRITING))


def from_standby(request: HttpRequest, get_response: Handler) -> HttpResponse | None:
    """Return the standby's answer; None where it is away, behind, or cannot answer what wants to write."""
    if rest.is_on or not knows_enough(request):
        return None
    with instead(connections[STANDBY]):
        response = get_response(request)
    if response.status_code >= 500:
        # Nothing was stored: whatever it is, the primary may say it, or do better.
        connections[STANDBY].close_if_unusable_or_obsolete()
        return None
    response["X-Answered-By"] = STANDBY
    return response


def knows_enough(request: HttpRequest) -> bool:
    """Tell whether the standby answers, is not far behind, and has come to where this asker must find it."""
    # Without a primary, reading goes on with what the standby knows, and not each reader waits to hear that it is away.
    now = None if without_primary.is_on else asked(PRIMARY, COMMITTED, {})
    if now is None and not without_primary.is_on:
        without_primary.begin()
    written = request.COOKIES.get(COOKIE, "")
    needed = written if re.fullmatch(r"[0-9A-F]{1,8}/[0-9A-F]{1,8}", written) else "0/0"
    if request.path in SEARCHES:
        # An agent brings no cookie and finds what it wrote all the same: the standby must know all there is.
        needed = now or needed
    found = asked(STANDBY, KNOWS, {"needed": needed, "now": now or "0/0", "behind": BEHIND})
    if found is None:
        rest.begin()
    return bool(found)


def asked(alias: str, sql: str, values: dict[str, Any]) -> Any:
    """Return the one value that a server answers, or None when it does not answer."""
    held = connections[alias]
    try:
        with held.cursor() as cursor:
            cursor.execute(sql, values)
            (value,) = cursor.fetchone()
            return value or ""
    except (DatabaseError, InterfaceError) as error:
        log.warning("the %s database does not answer: %s", "primary" if alias == PRIMARY else alias, error)
        held.close()
        return None


@contextmanager
def instead(standby: Any) -> Iterator[None]:
    """Let a connection stand in the place of this thread's own."""
    primary = connections[PRIMARY]
    connections[PRIMARY] = standby
    try:
        yield
    finally:
        connections[PRIMARY] = primary


def noted(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Let a person's browser remember how far the primary was after they wrote."""
    writes = request.method not in {"GET", "HEAD", "OPTIONS"} or request.path.startswith(WRITING)
    if writes and not request.path.startswith(ELSEWHERE):
        position = asked(PRIMARY, COMMITTED, {})
        if position:
            secure = settings.SESSION_COOKIE_SECURE
            response.set_cookie(COOKIE, position, httponly=True, samesite="Lax", secure=secure)
    return response

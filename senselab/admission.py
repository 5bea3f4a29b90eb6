"""Who is let in while there is too much to do: a few API calls at work in a process, a few waiting, the rest told so.

The server in front queues without saying so; here an agent hears within half a second that it should come back,
and pages for people always find a thread.
"""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

WAIT_SECONDS = 0.5
# For so many seconds after somebody was sent away others wait a tenth of that: places are taken anyway, and who gets
# one should not be late as well.
PRESSED_SECONDS, PRESSED_SHARE = 1.0, 0.1
WAITING = 12
AGENTS = ("/api/", "/mcp")
# What asks whether we live must hear it, whatever the load.
ALWAYS = ("/api/v1/health", "/api/schema", "/api/docs")
App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
BUSY = msgspec.json.encode(
    {
        "type": "about:blank",
        "title": "Too busy",
        "status": 503,
        "detail": "More calls are under way than this server works on at once; come back in a moment.",
    }
)
HEADERS = [
    ("Content-Type", "application/problem+json"),
    ("Content-Length", str(len(BUSY))),
    ("Retry-After", "1"),
    ("Cache-Control", "no-store"),
]
# Whatever body there is was not read.
UNREAD = [*HEADERS, ("Connection", "close")]


class Gate:
    """Lets so many in at once and so many wait for a moment; `refused` hears of those it sends away."""

    def __init__(
        self,
        places: int,
        *,
        waiting: int = WAITING,
        seconds: float = WAIT_SECONDS,
        refused: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._free, self._seconds, self._refused = places, seconds, refused
        self._waiting, self._most = 0, waiting
        self._clock, self._sent_away = clock, float("-inf")
        self._turn = threading.Condition()

    def enter(self) -> bool:
        """Take a place, after a moment's wait if need be; False when there is none."""
        with self._turn:
            taken = self._free > 0 or self._wait()
            self._free -= taken
        if not taken:
            self._sent_away = self._clock()
            self._refused()
        return taken

    @property
    def patience(self) -> float:
        """For how many seconds a call waits here."""
        pressed = self._clock() - self._sent_away < PRESSED_SECONDS
        return self._seconds * PRESSED_SHARE if pressed else self._seconds

    def _wait(self) -> bool:
        if self._waiting >= self._most:
            return False
        self._waiting += 1
        try:
            return self._turn.wait_for(lambda: self._free > 0, self.patience)
        finally:
            self._waiting -= 1

    def leave(self) -> None:
        with self._turn:
            self._free += 1
            self._turn.notify()


def admitting(app: App, gate: Gate) -> App:
    """Return the application with the gate before its API; pages, static files and health pass it by."""

    def admitted(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = str(environ["PATH_INFO"])
        if not path.startswith(AGENTS) or path.startswith(ALWAYS):
            return app(environ, start_response)
        if not gate.enter():
            has_body = environ.get("REQUEST_METHOD") not in {"GET", "HEAD"}
            start_response("503 Service Unavailable", UNREAD if has_body else HEADERS)
            return [BUSY]
        try:
            # What streams goes on without a place: it waits more than it works, and streams are counted by themselves.
            return app(environ, start_response)
        finally:
            gate.leave()

    return admitted

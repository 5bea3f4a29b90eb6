"""Who is let in while there is too much to do: a few API calls at work in a process, a few waiting, the rest told so.

The server in front queues without saying so; here an agent hears within a quarter of a second that it should come back,
and pages for people always find a thread.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

WAIT_SECONDS = 0.25
WAITING = 8
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
    # Whatever body there is was not read.
    ("Connection", "close"),
]


class Gate:
    """Lets so many in at once and so many wait for a moment; `refused` hears of those it sends away."""

    def __init__(
        self,
        places: int,
        *,
        waiting: int = WAITING,
        seconds: float = WAIT_SECONDS,
        refused: Callable[[], object] = lambda: None,
    ) -> None:
        self._free, self._seconds, self._refused = places, seconds, refused
        self._waiting, self._most = 0, waiting
        self._turn = threading.Condition()

    def enter(self) -> bool:
        """Take a place, after a moment's wait if need be; False when there is none."""
        with self._turn:
            taken = self._free > 0 or self._wait()
            self._free -= taken
        if not taken:
            self._refused()
        return taken

    def _wait(self) -> bool:
        if self._waiting >= self._most:
            return False
        self._waiting += 1
        try:
            return self._turn.wait_for(lambda: self._free > 0, self._seconds)
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
            start_response("503 Service Unavailable", HEADERS)
            return [BUSY]
        try:
            # What streams goes on without a place: it waits more than it works, and streams are counted by themselves.
            return app(environ, start_response)
        finally:
            gate.leave()

    return admitted

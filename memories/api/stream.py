"""GET /stream: what is written, as it is written, as server-sent events.

A stream holds a thread for as long as it lasts, and no connection to the database: all streams of a process ask through
one thread of their own.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec
from django.conf import settings
from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import streaming
from memories.api import identity, stream_docs, wire
from memories.rules import names
from memories.rules.refusals import Refused
from memories.streaming import Place, Written
from memories.viewers import Viewer
from senselab.accounts import keys
from senselab.accounts.keys import Caller
from senselab.holding import Places

T = TypeVar("T")
PAUSE, BEAT = 1.0, 10.0  # seconds between two looks, and between two beats, at which the key is looked at again
LONGEST = 900.0  # seconds a stream lasts
EVERYTHING = "*"
places = Places("streams", settings.STREAMS, settings.STREAMS_PER_KEY)
asking = ThreadPoolExecutor(1, thread_name_prefix="streams")
never = threading.Event()


def asked(question: Callable[[], T]) -> T:
    """Ask the database in the thread that asks for all streams."""
    return asking.submit(_ask, question).result()


def _ask(question: Callable[[], T]) -> T:
    connection.close_if_unusable_or_obsolete()
    return question()


class Stream(APIView):
    """What is written, as it is written."""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Take whatever a client accepts: an EventSource asks for text/event-stream."""
        del force
        return super().perform_content_negotiation(request, force=True)

    @stream_docs.stream
    def get(self, request: Request) -> HttpResponse | StreamingHttpResponse:
        """Stream writes that the caller may see; Last-Event-ID goes on where a stream ended, without loss."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        query = request.query_params
        path = query.get("entity_path", EVERYTHING)
        branch = names.clean_name(query.get("branch") or "main", pointer="/branch")
        place = place_of(request.META.get("HTTP_LAST_EVENT_ID", "") or query.get("last_event_id", ""))
        told = Telling(request.user, viewer, branch, None if path == EVERYTHING else names.clean_path(path))
        held = places.hold(told.frames(place), request.user.key_id)
        # Whoever asked for this held a connection; a stream may last for hours.
        if not connection.in_atomic_block:
            connection.close()
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(held, content_type="text/event-stream", headers=headers)


def place_of(text: str) -> Place | None:
    """Return the place a stream goes on from, None without one.

    :raises Refused: it is none of ours.
    """
    if not text:
        return None
    found = re.fullmatch(r"(\d{1,18})-(\d{1,18})", text)
    if found is None:
        raise Refused("/Last-Event-ID", f"{text[:100]!r} is no id of an event of this stream.", 400)
    return Place(int(found[1]), int(found[2]))


class Telling:
    """One stream: who reads, and what they asked for."""

    def __init__(self, caller: Caller, viewer: Viewer, branch: str, path: str | None) -> None:
        self.caller, self.viewer, self.branch, self.path = caller, viewer, branch, path

    def frames(self, place: Place | None) -> Iterator[bytes]:
        """Yield frames until the reader has gone or the key is worth nothing any more."""
        place = place or asked(streaming.here)
        # An id without data: a reader who is cut off before the first event knows where to go on as well.
        yield f"retry: 2000\nid: {place}\n\n".encode()
        began = spoken = time.monotonic()
        # A reader that is there goes on by the last id; the place of one that has gone unnoticed is free again.
        while time.monotonic() - began < LONGEST:
            found = self.next(place)
            for written in found:
                yield self.frame(written)
                place, spoken = written.place, time.monotonic()
            if len(found) < streaming.BATCH:
                never.wait(PAUSE)
                # A comment with nothing in it: only by speaking does the server learn that nobody listens any more.
                yield b":\n\n"
            if time.monotonic() - spoken >= BEAT:
                if not asked(lambda: keys.is_valid(self.caller)):
                    return
                yield b": beat\n\n"
                spoken = time.monotonic()

    def next(self, place: Place) -> list[Written]:
        return asked(lambda: streaming.since(self.viewer, place, branch=self.branch, path=self.path))

    def frame(self, written: Written) -> bytes:
        told = wire.entry(written.row, timezone.now(), self.viewer.policy)
        data = msgspec.json.encode(told | {"agent_id": written.row.agent_id})
        return f"event: write\nid: {written.place}\ndata: ".encode() + data.replace(b"\n", b"\ndata: ") + b"\n\n"

"""An open loop: calls are sent at their moments, whether those before were answered or not, as many agents would.

A closed loop slows down with the server it measures; this one does not. How long a call took counts from the moment it
was due, so that what waited in the client is told as well.
"""

import asyncio
import multiprocessing
import time
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.load.connection import Connection
from tests.load.measure import Target
from tests.load.operations import OPERATIONS, Client

PROCESSES = 2
PATIENCE = 15.0
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one call: when it was due (seconds from the beginning), how long it took, and what it said.

    Status 0 says that nobody answered. `again` is Retry-After as it came.
    """

    due: float
    seconds: float
    status: int
    again: str = ""


class Told(Connection):
    """A connection that keeps what it would have sent."""

    raw = b""

    def _call(self, raw: bytes) -> tuple[int, bytes]:
        self.raw = raw
        return 200, b""


@dataclass
class Sender:
    """One process's share of the load."""

    target: Target
    began: float
    free: list[Streams] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    async def send(self, due: float, raw: bytes) -> None:
        status, again = 0, ""
        try:
            async with asyncio.timeout(PATIENCE):
                status, again = await self.call(raw)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            status = 0
        self.answers.append(Answer(due, time.time() - self.began - due, status, again))

    async def call(self, raw: bytes) -> tuple[int, str]:
        while self.free:
            streams = self.free.pop()
            # The server may have closed a connection that lay idle: then nothing comes back, and another one is taken.
            try:
                return await self.answered(streams, raw)
            except (ConnectionError, asyncio.IncompleteReadError) as error:
                streams[1].close()
                if getattr(error, "partial", b""):
                    raise
        place = Connection(self.target.url, "")
        return await self.answered(await asyncio.open_connection(place.host, place.port), raw)

    async def answered(self, streams: Streams, raw: bytes) -> tuple[int, str]:
        reader, writer = streams
        writer.write(raw)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        if "content-length" in fields:
            await reader.readexactly(int(fields["content-length"]))
        else:
            await reader.readuntil(b"0\r\n\r\n")
        if fields.get("connection") == "close":
            writer.close()
        else:
            self.free.append(streams)
        return int(head.split(" ", 2)[1]), fields.get("retry-after", "")

    async def offer(self, calls: list[tuple[float, bytes]]) -> None:
        """Send each call at its moment."""
        waiting = set()
        for due, raw in calls:
            if (ahead := self.began + due - time.time()) > 0:
                await asyncio.sleep(ahead)
            task = asyncio.create_task(self.send(due, raw))
            waiting.add(task)
            task.add_done_callback(waiting.discard)
        while waiting:
            await asyncio.wait(waiting)


def prepared(target: Target, operation: str, per_second: float, seconds: float, seed: int) -> list[tuple[float, bytes]]:
    """Return calls and when they are due, at moments that know nothing of each other; made beforehand."""
    told, chance, due = Told(target.url, target.key), Random(seed), 0.0
    client, calls = Client(told, target.size, seed), []
    while (due := due + chance.expovariate(per_second)) < seconds:
        OPERATIONS[operation](client)
        calls.append((due, told.raw))
    return calls


def sender(target: Target, calls: list[tuple[float, bytes]], start: Any, out: Any) -> None:
    start.wait()
    one = Sender(target, time.time() + 0.1)
    asyncio.run(one.offer(calls))
    out.put(one.answers)


def offered(target: Target, operation: str, per_second: float, seconds: float) -> list[Answer]:
    """Offer so many calls a second for so long, and return every answer in the order they were due."""
    fork = multiprocessing.get_context("fork")
    out, start = fork.Queue(), fork.Barrier(PROCESSES)
    shares = [prepared(target, operation, per_second / PROCESSES, seconds, 9000 + n) for n in range(PROCESSES)]
    processes = [fork.Process(target=sender, args=(target, calls, start, out)) for calls in shares]
    for process in processes:
        process.start()
    answers = [answer for _ in processes for answer in out.get()]
    for process in processes:
        process.join()
    return sorted(answers, key=lambda answer: answer.due)

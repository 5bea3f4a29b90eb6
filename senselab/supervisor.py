"""Runs the parts of SenseLab side by side: one readable log, restarts with growing pauses, an orderly end."""

import contextlib
import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from honcho.colour import get_colours
from honcho.printer import Message, Printer

from senselab import postgres
from senselab.engine import DatabaseUnavailable
from senselab.keeper import Orders, keep

TICK = 0.5  # seconds between two looks at the parts
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds before a part that ended is started again
STEADY = 60.0  # seconds after which a part counts as well again
# Without a parent there is no time for courtesy: everything is gone within five seconds.
STOP = [(signal.SIGTERM, 3.0)]
PATIENCE = 10.0  # seconds for a request or a job to finish on an orderly stop


class Part(Protocol):
    """Something that is started, looked at, started again and stopped."""

    name: str
    last: bool  # stops when the others have stopped

    def start(self) -> None: ...
    def alive(self) -> bool: ...
    def ending(self) -> str: ...
    def source(self) -> int | None: ...
    def lines(self) -> Iterator[str]: ...
    def stop(self) -> None: ...


class Program:
    """A program of ours under a keeper, which takes it and its children down with us."""

    last = False

    def __init__(self, name: str, command: Sequence[str], *, env: dict[str, str], cwd: Path) -> None:
        self.name = name
        self.command = command
        self.env = env
        self.cwd = cwd
        self.rest = b""

    def start(self) -> None:
        reading, self.lifeline = os.pipe()
        self.output, out = os.pipe()
        os.set_blocking(self.output, False)
        orders = Orders(lifeline=reading, stop=STOP, patience=PATIENCE)
        self.keeper = keep(self.command, orders, env=self.env, cwd=self.cwd, out=out)
        os.close(reading)
        os.close(out)

    def alive(self) -> bool:
        return self.keeper.poll() is None

    def ending(self) -> str:
        code = self.keeper.wait()
        os.close(self.lifeline)
        os.close(self.output)
        killed = signal.Signals(code - 128).name if code - 128 in set(signal.Signals) else ""
        return f"was ended by {killed}" if killed else f"ended with exit code {code}"

    def source(self) -> int | None:
        return self.output if self.alive() else None

    def lines(self) -> Iterator[str]:
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.output, 65536):
                *whole, self.rest = (self.rest + chunk).split(b"\n")
                yield from (line.decode(errors="replace") for line in whole)
            if self.rest:
                yield self.rest.decode(errors="replace")
            self.rest = b""

    def stop(self) -> None:
        """Ask the keeper, which insists when the program takes its time."""
        self.keeper.terminate()


class Database:
    """The embedded server, whose own log is followed."""

    name = "db"
    last = True

    def __init__(self, data: Path) -> None:
        self.data = data

    def start(self) -> None:
        """Start the server.

        :raises DatabaseUnavailable: it cannot be had.
        """
        log = postgres.log_of(self.data)
        read = log.stat().st_size if log.exists() else 0
        self.server = postgres.use(self.data)
        self.log = log.open(errors="replace")
        if log.stat().st_size >= read:
            self.log.seek(read)

    def alive(self) -> bool:
        return self.server.alive()

    def ending(self) -> str:
        self.server.let_go()
        self.log.close()
        return "ended"

    def source(self) -> int | None:
        return None

    def lines(self) -> Iterator[str]:
        while line := self.log.readline():
            yield re.sub(r"^\d{4}-\d\d-\d\d [\d:]{8} UTC ", "", line.rstrip())

    def stop(self) -> None:
        self.server.close()


class Supervisor:
    """Keeps parts running until it is asked to stop."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.printer = Printer(sys.stdout, time_format="%Y-%m-%d %H:%M:%S", width=len("worker"))
        self.colours = get_colours()
        self.colour: dict[str, str] = {}
        self.since: dict[str, float] = {}
        self.pause: dict[str, float] = {}
        self.due: dict[str, float] = {}

    def say(self, name: str, text: str) -> None:
        if name not in self.colour:
            self.colour[name] = next(self.colours)
        now = datetime.now().astimezone()
        self.printer.write(Message(type="line", data=text or " ", time=now, name=name, colour=self.colour[name]))

    def start(self, part: Part) -> None:
        """Start a part and look after it from now on."""
        part.start()
        self.since[part.name] = time.monotonic()
        if part not in self.parts:
            self.parts.append(part)

    def show(self, part: Part) -> None:
        for line in part.lines():
            self.say(part.name, line)

    def look_after(self, part: Part, now: float) -> None:
        """Pass on what a part says, and start it again, after a pause, when it ended."""
        name = part.name
        if name in self.due:
            if now >= self.due[name]:
                self.try_again(part)
            return
        alive = part.alive()
        self.show(part)
        if not alive:
            self.wait_before(part, part.ending(), now)

    def wait_before(self, part: Part, what: str, now: float) -> None:
        steady = now - self.since[part.name] >= STEADY
        pause = FIRST_PAUSE if steady else self.pause.get(part.name, FIRST_PAUSE)
        self.pause[part.name] = min(2 * pause, LONGEST_PAUSE)
        self.due[part.name] = now + pause
        self.say(part.name, f"This part {what}; it is started again in {pause:.0f} s.")

    def try_again(self, part: Part) -> None:
        del self.due[part.name]
        try:
            self.start(part)
        except DatabaseUnavailable as error:
            self.wait_before(part, f"could not be started ({error})", time.monotonic())

    def run(self, parent: int | None) -> None:
        """Look after the parts until interrupted, or until that parent process has gone."""
        while parent in {None, os.getppid()}:
            sources = [source for part in self.parts if part.name not in self.due and (source := part.source())]
            select.select(sources, [], [], TICK)
            now = time.monotonic()
            for part in self.parts:
                self.look_after(part, now)

    def stop(self) -> None:
        """Stop the programs side by side, then the database."""
        running = [part for part in self.parts if part.name not in self.due]
        for last in (False, True):
            together = [part for part in running if part.last is last]
            for part in together:
                part.stop()
            while any(part.alive() for part in together):
                select.select([], [], [], TICK / 10)
                for part in together:
                    self.show(part)
        for part in running:
            self.show(part)
            part.ending()

"""The embedded PostgreSQL: initialised, started, shared between processes, and stopped when the last of them has gone.

A process that wants the server opens the named pipe `lifeline` for writing; the server's keeper reads it and stops the
server at end of file, so that neither a clean exit nor `kill -9` leaves one behind. Starting and stopping hold `lock`.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from senselab import engine
from senselab.cluster import Place, configure, initialise, last_line, make_private, place_of, socket_folder
from senselab.engine import DatabaseUnavailable
from senselab.keeper import Orders, keep
from senselab.majors import succeed
from senselab.serving import STOP, address, alive, ready

LOG_BYTES = 10_000_000


def url(data: Path) -> str:
    """Return the address of the data folder's server, whether it runs or not."""
    return address(socket_folder(data))


@contextlib.contextmanager
def locked(place: Place) -> Iterator[None]:
    path = place.home / "lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        place.give(path)
        yield
    finally:
        os.close(fd)


def attach(place: Place) -> int | None:
    """Return a writing end of the lifeline when a keeper reads it."""
    try:
        return os.open(place.home / "lifeline", os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # ENXIO: nobody reads it; ENOENT: nobody ever did
        return None


def start(place: Place, *, durable: bool) -> tuple[int, subprocess.Popen[bytes]]:
    """Start the server under a keeper and return the writing end of its lifeline, and the keeper."""
    succeed(place, durable=durable)
    binaries = engine.find(place.home, place.cluster, place.as_owner())
    if not place.cluster.exists():
        initialise(place, binaries)
    make_private(place.sockets, place.uid, place.gid)
    path = place.home / "lifeline"
    if not path.exists():
        os.mkfifo(path, 0o600)
        place.give(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writing = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    if place.log.exists() and place.log.stat().st_size > LOG_BYTES:
        place.log.replace(place.log.with_suffix(".1"))
    orders = Orders(
        lifeline=reading,
        stop=STOP,
        lock=str(place.home / "lock"),
        user=(place.uid, place.gid) if os.geteuid() == 0 else None,
    )
    with place.log.open("ab") as log:
        place.give(place.log)
        command = [str(binaries / "postgres"), *configure(place, durable=durable)]
        keeper = keep(command, orders, env=engine.environment(), cwd=Path("/"), out=log.fileno())
    os.close(reading)
    return writing, keeper


def stop_orphan(place: Place) -> bool:
    """Stop a server whose keeper was killed (nobody reads its lifeline any more); False when there is none."""
    try:
        with psycopg.connect(address(place.sockets, "postgres"), autocommit=True):
            os.kill(int((place.cluster / "postmaster.pid").read_text().split()[0]), signal.SIGINT)
    except (psycopg.OperationalError, FileNotFoundError, ProcessLookupError):
        return False
    return True


def nobody_holds(place: Place) -> bool:
    """Say whether no process holds the lifeline (bytes that nobody read yet do not count)."""
    reading = os.open(place.home / "lifeline", os.O_RDONLY | os.O_NONBLOCK)
    try:
        while os.read(reading, 4096):
            pass
    except BlockingIOError:
        return False
    finally:
        os.close(reading)
    return True


class Server:
    """A process's hold on the server: it runs at least until `close` or the end of the process."""

    def __init__(self, place: Place, lifeline: int, keeper: subprocess.Popen[bytes] | None) -> None:
        self.place = place
        self.lifeline = lifeline
        self.keeper = keeper
        # A forked child would hold the lifeline beyond the end of its parent.
        os.register_at_fork(after_in_child=self.let_go)

    def let_go(self) -> None:
        if self.lifeline >= 0:
            os.close(self.lifeline)
            self.lifeline = -1

    def alive(self) -> bool:
        return self.lifeline >= 0 and alive(self.lifeline)

    def close(self) -> None:
        """Let go of the server; when nobody else holds it, return after it has stopped."""
        with (
            contextlib.suppress(psycopg.Error),
            psycopg.connect(address(self.place.sockets), autocommit=True) as connection,
        ):
            connection.execute("CHECKPOINT")  # Leaves little to write for the shutdown, which is given seconds.
        with locked(self.place):
            self.let_go()
            last = nobody_holds(self.place)
        running = self.place.cluster / "postmaster.pid"
        deadline = time.monotonic() + sum(seconds for _, seconds in STOP) + 1
        while last and running.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        if last and self.keeper:
            self.keeper.wait()


def log_of(data: Path) -> Path:
    """Return the file that the data folder's server writes its log to."""
    return place_of(data).log


# Half a second each: with much to write a server takes its time to end.
TRIES = 120


def use(data: Path, *, durable: bool = True) -> Server:
    """Return a hold on the data folder's server, started when it does not run yet (one that is not durable: for tests).

    :raises DatabaseUnavailable: it cannot be had.
    """
    try:
        place = place_of(data)
        with locked(place):
            for _ in range(TRIES):
                lifeline, keeper = attach(place), None
                if lifeline is None:
                    lifeline, keeper = start(place, durable=durable)
                if ready(place, lifeline):
                    return Server(place, lifeline, keeper)
                os.close(lifeline)
                # Another server may hold the data: it still stops, or its keeper was killed.
                if keeper and not stop_orphan(place) and "postmaster.pid" not in why(place):
                    break
                time.sleep(0.5)
    except OSError as error:
        raise DatabaseUnavailable(
            f"The data folder {data} cannot be used: {error.strerror} ({error.filename})."
        ) from error
    raise DatabaseUnavailable(f"PostgreSQL does not start: {why(place)} (more in {place.log}).")


def why(place: Place) -> str:
    return last_line(place.log.read_text(errors="replace")[-4096:])

"""One small process between a parent and a child it started: when the parent dies, the child and its children go too.

Run as a script, outside the virtual environment if need be, so it imports the standard library only.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

TICK = 0.2  # seconds between two looks at the child


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a keeper needs to know.

    `lifeline` is the reading end of a pipe whose writers want the child to live; `stop` are pairs of signal and
    seconds to wait before the next one (SIGKILL to the whole group comes last); `patience` replaces the first pair's
    seconds when the keeper was asked by SIGTERM; `lock` is a file to hold while stopping; `user` is a pair of uid and
    gid to become.
    """

    lifeline: int
    stop: Sequence[tuple[int, float]]
    patience: float | None = None
    lock: str | None = None
    user: tuple[int, int] | None = None


def keep(
    command: Sequence[str], orders: Orders, *, env: dict[str, str], cwd: Path, out: int
) -> subprocess.Popen[bytes]:
    """Start a keeper and its child in sessions of their own, so that a terminal's Ctrl-C reaches neither."""
    keeper = [sys.executable, "-I", "-S", __file__, json.dumps(asdict(orders)), *command]
    return subprocess.Popen(
        keeper,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        env=env,
        cwd=cwd,
        pass_fds=[orders.lifeline],
        start_new_session=True,
    )


def dying_with(parent: int, signum: int) -> Callable[[], None] | None:
    """Return what makes a process on Linux get a signal when its parent dies, if only by `kill -9`."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)

    def arrange() -> None:
        libc.prctl(1, signum)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)

    return arrange


def abandoned(lifeline: int) -> bool:
    """Say whether nobody holds the writing end any more."""
    if not select.select([lifeline], [], [], TICK)[0]:
        return False
    try:
        return os.read(lifeline, 4096) == b""
    except BlockingIOError:
        return False


def stop(child: subprocess.Popen[bytes], steps: Sequence[tuple[int, float]]) -> None:
    for signum, seconds in steps:
        child.send_signal(signum)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(seconds)
            return


def watch(child: subprocess.Popen[bytes], orders: Orders, asked: list[int]) -> None:
    """Return when the child has ended, by itself or because it was no longer wanted."""
    while child.poll() is None:
        if asked:
            first, *rest = orders.stop
            return stop(child, [(first[0], orders.patience or first[1]), *rest])
        if abandoned(orders.lifeline):
            if orders.lock:
                # Held until this process ends: whoever wants the child next must not start it while it still stops.
                fd = os.open(orders.lock, os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(fd, fcntl.LOCK_EX)
                if not abandoned(orders.lifeline):
                    os.close(fd)  # Somebody came back while we waited.
                    continue
            return stop(child, orders.stop)
    return None


def main(orders: Orders, command: Sequence[str]) -> int:
    """Run the command until it ends or nobody wants it; return its exit code (128 + signal when one ended it)."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda signum, _frame: asked.append(signum))
    os.set_blocking(orders.lifeline, False)
    uid, gid = orders.user or (None, None)
    child = subprocess.Popen(
        command,
        user=uid,
        group=gid,
        extra_groups=None if orders.user is None else [],
        start_new_session=True,
        # Runs after the change of user, which would have cleared what it sets; this process has no threads.
        preexec_fn=dying_with(os.getpid(), orders.stop[0][0]),  # noqa: PLW1509
    )
    try:
        watch(child, orders, asked)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    sys.exit(main(Orders(**json.loads(sys.argv[1])), sys.argv[2:]))

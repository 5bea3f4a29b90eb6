"""Servers that a benchmark starts: run until the end of a block, ready when they answer."""

import contextlib
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: Sequence[str], env: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server in a process group of its own, and end all of it."""
    with log.open("ab") as out:
        process = subprocess.Popen(command, env=dict(env), stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when a server answers.

    :raises RuntimeError: it ended, or did not answer in time.
    """
    for _ in range(PATIENCE * 5):
        with contextlib.suppress(urllib.error.URLError, OSError), urllib.request.urlopen(url, timeout=5):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
            break
    raise RuntimeError(f"nothing answers at {url}; more in {log}")

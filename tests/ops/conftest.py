"""Real processes: SenseLab started as a person starts it, in folders with a space and an umlaut in their names."""

import contextlib
import os
import pwd
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from senselab.cluster import socket_folder
from senselab.engine import running_as

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 60  # seconds until something that must happen counts as missing


@dataclass(frozen=True)
class Somebody:
    """A person who is not root, a Python they may run, and the environment in which it sees our packages."""

    uid: int
    program: str
    env: dict[str, str]


class Started:
    """A process, what it says, and all that descends from it."""

    def __init__(self, command: list[str], env: dict[str, str], user: dict[str, Any]) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            **user,
        )
        self.said: list[str] = []
        self.lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line.rstrip())
        self.lines.put(None)

    def wait_for(self, *texts: str, patience: float = PATIENCE) -> str:
        """Return the first line, from here on, that holds all the texts."""
        deadline = time.monotonic() + patience
        with contextlib.suppress(queue.Empty):
            while (line := self.lines.get(timeout=max(0.1, deadline - time.monotonic()))) is not None:
                self.said.append(line)
                if all(text in line for text in texts):
                    return line
        raise AssertionError(f"It did not say {texts}:\n" + "\n".join(self.said))

    def see(self, *texts: str) -> str:
        """Return the first line of all that holds the texts: the parts start side by side, in no order."""
        return next((line for line in self.said if all(text in line for text in texts)), "") or self.wait_for(*texts)

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def end(self, signum: int = signal.SIGINT) -> int:
        """Send a signal; return the exit code, with all that was said in `said`."""
        self.process.send_signal(signum)
        code = self.process.wait(PATIENCE)
        while (line := self.lines.get(timeout=PATIENCE)) is not None:
            self.said.append(line)
        return code


@pytest.fixture(scope="session")
def somebody() -> Somebody:
    """Ourselves, or a system account when we are root; ours may be a Python that only root can reach."""
    uid = os.geteuid() or pwd.getpwnam("daemon").pw_uid
    env = {"PYTHONPATH": str(Path(psutil.__file__).parent.parent), "PATH": os.environ["PATH"]}
    version = f"python3.{sys.version_info.minor}"
    for program in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        command = [program, "manage.py", "version"]
        with contextlib.suppress(OSError):
            if not subprocess.run(command, cwd=ROOT, env=env, check=False, **running_as(uid, uid)).returncode:
                return Somebody(uid, program, env)
    pytest.skip("no other account can read this checkout and a Python of this version")


def left_after(family: list[psutil.Process], seconds: float) -> list[str]:
    """Return what of a family is still there after so many seconds."""
    alive = psutil.wait_procs(family, timeout=seconds)[1]
    return [" ".join(process.cmdline()) for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def anywhere() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's own, with a path of more than a hundred bytes."""
    top = Path(tempfile.mkdtemp(prefix="senselab-test-", dir="/tmp"))
    top.chmod(0o755)
    folder = top / "Größe und Übung" / ("ein ziemlich langer Name " * 4).strip()
    folder.mkdir(parents=True)
    yield folder
    for data in [*folder.iterdir(), *folder.glob("*/data")]:
        shutil.rmtree(socket_folder(data), ignore_errors=True)
    shutil.rmtree(top)


@pytest.fixture(scope="session")
def static(anywhere: Path) -> Path:
    return anywhere / "static files"


Start = Callable[..., Started]
Refused = Callable[..., str]


@pytest.fixture
def environment(static: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "SENSELAB_PG_BIN") if name in os.environ}
    return kept | {"PORT": str(free_port()), "STATIC_ROOT": str(static), "DATABASE_URL": "", "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def start(environment: dict[str, str]) -> Iterator[Start]:
    """Start `manage.py up` for a data folder; whatever is left at the end of the test is killed."""
    running: list[Started] = []

    def start_up(data: Path, *, command: list[str] | None = None, somebody: Somebody | None = None) -> Started:
        whole = command or [somebody.program if somebody else sys.executable, "manage.py", "up"]
        env = environment | {"SENSELAB_DATA": str(data)} | (somebody.env if somebody else {})
        running.append(Started(whole, env, running_as(somebody.uid, somebody.uid) if somebody else {}))
        return running[-1]

    yield start_up
    for started in running:
        if started.process.poll() is None:
            family = started.family()
            started.process.kill()
            started.process.wait()
            psutil.wait_procs(family, timeout=10)


@pytest.fixture
def refused(environment: dict[str, str]) -> Refused:
    """Start `manage.py up` where it must refuse; return the one sentence it says on stderr."""

    def run(*, somebody: Somebody | None = None, **env: str) -> str:
        done = subprocess.run(
            [somebody.program if somebody else sys.executable, "manage.py", "up"],
            cwd=ROOT,
            env=environment | (somebody.env if somebody else {}) | env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            **(running_as(somebody.uid, somebody.uid) if somebody else {}),
        )
        assert done.returncode == 1, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        (sentence,) = done.stderr.strip().splitlines()
        assert sentence.endswith("."), sentence
        return sentence

    return run

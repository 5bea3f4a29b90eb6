"""Does in a clean folder what the image does, where no container engine is: `make clean-folder`.

Reads Dockerfile, .dockerignore and compose.yaml: copies what the image would hold, runs its RUN, its CMD as its user
(where root does this), its health check and the worker's, and stops it by its signal. Says what only an engine could
show. Exit code 1 when something does not work.
"""

import contextlib
import getpass
import json
import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
DEPLOY = TOP / "docs" / "deploy"
PATIENCE = 180
# Who stands in for the image's user, which only an engine makes: a system account that owns nothing.
STAND_IN = "daemon"
# Asked of the Python that was installed, as this one may know no YAML.
OF_WORKER = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))['services']['worker']))"


def say(words: str) -> None:
    print(words, flush=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def a_python() -> str:
    """Return a Python that the image's user may run; that of root may lie where nobody else gets.

    :raises RuntimeError: there is none.
    """
    for program in (sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            new = [program, "-c", "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))"]
            if not subprocess.run(new, cwd="/", check=False, capture_output=True, **as_user()).returncode:
                return program
    raise RuntimeError(f"no Python from 3.11 on, with ensurepip, that {STAND_IN} may run")


def as_user() -> dict[str, Any]:
    """Return how a program becomes the image's user; only root can let it."""
    who = pwd.getpwnam(STAND_IN)
    return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions and what each says, continued lines joined."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in lines]


def context() -> list[str]:
    """Return what the engine would be sent: all but * is refused by .dockerignore, these names are let in again."""
    lines = [line for line in (TOP / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[0] == "*", "the first line of .dockerignore has to leave everything out"
    return [line[1:] for line in lines if line.startswith("!")]


@dataclass
class Image:
    """What the Dockerfile makes, in a folder: `app`, `data` and a Python of its own."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    user: str = "root"
    stop: str = "SIGTERM"
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    @property
    def python(self) -> Path:
        return self.folder / "python" / "bin"

    def follow(self, word: str, said: str) -> None:
        """Do what one instruction says, as far as it can be done without an engine."""
        match word:
            case "FROM":
                found = a_python()
                say(f"Not shown here: the system of {said}; {found} of this machine stands in for it.")
                subprocess.run([found, "-m", "venv", self.folder / "python"], check=True)
            case "ENV":
                self.env |= dict(pair.split("=", 1) for pair in shlex.split(said))
            case "RUN" if said.startswith("useradd"):
                say(f"Not shown here: RUN {' '.join(said.split())}")
                (self.folder / "data").mkdir(mode=0o711)
                if os.geteuid() == 0:
                    shutil.chown(self.folder / "data", STAND_IN)
            case "RUN":
                say(f"RUN {said}")
                subprocess.run(said, shell=True, cwd=self.folder / "app", env=self.environment(), check=True)
            case "WORKDIR":
                (self.folder / "app").mkdir()
            case "COPY":
                self.copy(said.split(maxsplit=1)[0])
            case "USER":
                self.user = said
            case "STOPSIGNAL":
                self.stop = said
            case "HEALTHCHECK":
                self.health = json.loads(said.partition("CMD ")[2])
            case "CMD":
                self.command = json.loads(said)

    def copy(self, source: str) -> None:
        for name in context() if source == "." else [source]:
            here, there = TOP / name, self.folder / "app" / name
            there.parent.mkdir(exist_ok=True, parents=True)
            if here.is_dir():
                shutil.copytree(here, there, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
            else:
                shutil.copy(here, self.folder / "app" / (name if source == "." else here.name))

    def environment(self, **more: str) -> dict[str, str]:
        """Return the image's environment; its folders lie in ours."""
        own = {"PATH": f"{self.python}:{os.environ['PATH']}", "HOME": str(self.folder / "data"), "LANG": "C.UTF-8"}
        return own | self.env | {"SENSELAB_DATA": str(self.folder / "data"), "HOST": "127.0.0.1"} | more

    def run(self, port: int) -> None:
        """Start the image's command, ask its health and the worker's until both are well, and stop it."""
        if self.user == "root":
            raise RuntimeError("the image runs as root")
        env = self.environment(PORT=str(port))
        given = {"cwd": self.folder / "app", "env": env, **as_user()}
        standing_in = getpass.getuser() if os.geteuid() else STAND_IN
        say(f"CMD {shlex.join(self.command)} (as {self.user}, for whom {standing_in} stands in)")
        process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **given)
        said: list[bytes] = []
        listening = threading.Thread(target=lambda: said.extend(process.stdout or ()), daemon=True)
        listening.start()
        worker = [self.python / "python", "-c", OF_WORKER, DEPLOY / "compose.yaml"]
        told = json.loads(subprocess.run(worker, capture_output=True, check=True).stdout)
        try:
            for name, check in (("image", self.health), ("worker", told["healthcheck"]["test"][1:])):
                well(process, check, given)
                say(f"HEALTHCHECK of the {name}: well")
        except RuntimeError:
            sys.stdout.buffer.write(b"".join(said))
            raise
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(getattr(signal, self.stop))
            code = process.wait(60)
        if code:
            raise RuntimeError(f"stopped by {self.stop} it ended with {code}")
        say(f"STOPSIGNAL {self.stop}: it ended with 0")


def well(process: subprocess.Popen[bytes], check: list[str], given: dict[str, Any]) -> None:
    """:raises RuntimeError: a health check does not get well in time."""
    for _ in range(PATIENCE):
        if not subprocess.run(check, capture_output=True, check=False, **given).returncode:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
            break
    raise RuntimeError(f"{check} is not well")


def main() -> int:
    say("No container engine is used: what the image would run is run in a clean folder.")
    with tempfile.TemporaryDirectory(prefix="senselab-image-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        image = Image(Path(folder))
        try:
            for word, said in instructions():
                image.follow(word, said)
            image.run(free_port())
        except (RuntimeError, subprocess.CalledProcessError) as error:
            say(f"It does not work: {error}.")
            return 1
    say("All of it works. Not shown here: volumes, published ports, a root nobody writes to, and pgvector's own image.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Our side of the benchmark: the product as `make run` starts it, seeded through its API."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.load import dataset
from tests.load.connection import Connection
from tests.load.measure import Target
from tests.load.processes import free_port, running, wait_for

ROOT = Path(__file__).resolve().parents[2]
WRITERS = 4
# High enough to be never reached: calls are counted all the same.
RATE = "60000000"


def environment(data: Path, database: str) -> dict[str, str]:
    # As `make run` starts it: vectors are an extra, and a model at work beside the calls is another measurement.
    told = {"SENSELAB_DATA": str(data), "DATABASE_URL": database, "LOG_LEVEL": "WARNING", "EMBEDDING_MODEL": "off"}
    return {**os.environ, **told}


def manage(env: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip().splitlines()[-1]


@contextmanager
def ready(data: Path, database: str, size: int) -> Iterator[Target]:
    """Give the product with so many entries, written through its API when they are not there."""
    port, log = free_port(), data / "product.log"
    env = {**environment(data, database), "PORT": str(port)}
    url = f"http://127.0.0.1:{port}"
    with running([sys.executable, "manage.py", "up"], env, log) as process:
        wait_for(f"{url}/health", process, log)
        key = manage(env, "createkey", "bench", "--rate", RATE)
        target = Target("ours", url, key, size)
        seed(target)
        yield target


def seed(target: Target) -> None:
    """Write the entries that are missing at the end of the data set."""
    if is_there(Connection(target.url, target.key), target.size - 1, target.size):
        return
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=write_part, args=(target, at)) for at in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        if writer.exitcode:
            raise RuntimeError("the entries could not be written")


def is_there(connection: Connection, i: int, size: int) -> bool:
    _, body = connection.get(f"/api/v1/entries/{dataset.path(i, size)}/{dataset.key(i)}")
    return b'"not_found"' not in body


def write_part(target: Target, at: int) -> None:
    connection = Connection(target.url, target.key)
    for i in range(at, target.size, WRITERS):
        status, answer = connection.post("/api/v1/entries", dataset.body(i, target.size))
        if status not in (200, 201):
            raise RuntimeError(f"a write answered {status}: {answer[:200]!r}")

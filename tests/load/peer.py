"""The peer at its best: its published server on the embedded PostgreSQL, with its search indexes and vectors."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from tests.load.connection import Connection
from tests.load.measure import Target
from tests.load.processes import free_port, running, wait_for

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = Path(__file__).with_name("requirements-peer.txt")
KEY = "bench"
# Its optional vectors and full text (migration 002) are found at a start, so it is started again after them.
VECTORS = "CREATE EXTENSION IF NOT EXISTS vector; ALTER TABLE amfs_memory_entries ADD COLUMN embedding vector(384)"


def install(home: Path) -> Path:
    """Return the interpreter of the peer's virtualenv, made when it is not there."""
    python = home / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
    quiet = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "-r", str(REQUIREMENTS)]
    subprocess.run(quiet, check=True)
    return python


@contextmanager
def serving(python: Path, dsn: str, log: Path) -> Iterator[str]:
    """Run the peer with two processes, as many as ours has, and give its address."""
    port = free_port()
    env = {**os.environ, "AMFS_POSTGRES_DSN": dsn, "AMFS_API_KEYS": KEY}
    command = [str(python.with_name("amfs-http")), "--host", "127.0.0.1", "--port", str(port), "--workers", "2"]
    url = f"http://127.0.0.1:{port}"
    with running(command, env, log) as process:
        wait_for(f"{url}/health", process, log)
        yield url


def is_seeded(dsn: str, size: int) -> bool:
    with psycopg.connect(dsn) as connection:
        if not connection.execute("SELECT to_regclass('amfs_memory_entries')").fetchone()[0]:
            return False
        found = connection.execute("SELECT count(*) FROM amfs_memory_entries WHERE key LIKE 'note-%'").fetchone()
        return found[0] >= size


def seed(python: Path, dsn: str, size: int, log: Path) -> None:
    """Let the peer make its tables, copy the entries in with its own embedder's vectors, and index them its way."""
    with serving(python, dsn, log) as url:
        # It makes its tables with the first call that needs them.
        Connection(url, KEY).get("/api/v1/stats")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(VECTORS)
    halves = [subprocess.Popen(copying(python, dsn, size, at), cwd=ROOT) for at in range(2)]
    if any(half.wait() for half in halves):
        raise RuntimeError("the peer's entries could not be copied")
    found = [python, "-c", "import amfs_postgres, pathlib; print(pathlib.Path(amfs_postgres.__file__).parent)"]
    package = Path(subprocess.run(found, check=True, capture_output=True, text=True).stdout.strip())
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '1GB'")
        connection.execute((package / "migrations" / "002_search_indexes.sql").read_text())
        connection.execute("VACUUM ANALYZE amfs_memory_entries")


def copying(python: Path, dsn: str, size: int, at: int) -> list[str]:
    return [str(python), "-m", "tests.load.peer_copy", dsn, str(size), str(at), "2"]


@contextmanager
def database(server: str, name: str) -> Iterator[str]:
    """Give the address of a database of that name on an embedded server, made when it is not there."""
    with psycopg.connect(server, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield psycopg.conninfo.make_conninfo(server, dbname=name)


@contextmanager
def ready(home: Path, server: str, size: int) -> Iterator[Target]:
    """Give the peer with so many entries, seeded when they are not there."""
    home.mkdir(parents=True, exist_ok=True)
    python, log = install(home), home / "server.log"
    with database(server, f"peer_{size}") as dsn:
        if not is_seeded(dsn, size):
            seed(python, dsn, size, log)
        with serving(python, dsn, log) as url:
            yield Target("peer", url, KEY, size)

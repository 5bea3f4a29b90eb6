"""Databases of earlier releases come forward: everything verifies, and old and new code write into what they became."""

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.ops.conftest import ROOT

DUMPS = sorted(path for path in (Path(__file__).parent / "dumps").glob("*.sql.gz") if ".after." not in path.name)


@pytest.fixture(params=DUMPS, ids=lambda path: path.name.removesuffix(".sql.gz"))
def dumped(request: pytest.FixtureRequest, database_url: str) -> Iterator[tuple[Path, str]]:
    """A dump, and the address of a database that holds it."""
    name = f"test_senselab_{os.getpid()}_upgrade"
    with psycopg.connect(database_url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        address = make_conninfo(database_url, dbname=name)
        with psycopg.connect(address) as connection:
            connection.execute(gzip.decompress(request.param.read_bytes()).decode())
        yield request.param, address
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_a_database_of_an_earlier_release_comes_forward_whole(dumped: tuple[Path, str]) -> None:
    path, address = dumped
    after = path.with_name(path.name.replace(".sql.gz", ".after.sql.gz"))
    done = subprocess.run(
        [sys.executable, "-m", "tests.ops.upgraded", str(after)],
        cwd=ROOT,
        env=os.environ
        | {"DATABASE_URL": address, "ALLOWED_HOSTS": "testserver", "DJANGO_SETTINGS_MODULE": "senselab.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with psycopg.connect(address) as connection:
        rows = connection.execute(
            "SELECT e.key, e.version FROM memories_entry e WHERE e.key IN ('after', 'größe-3', 'new') ORDER BY 1"
        ).fetchall()
        invalid = connection.execute("SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid").fetchall()
    assert rows == [("after", 1), ("größe-3", 7), ("new", 1)]
    assert invalid == []


def test_there_is_a_dump_to_come_forward_from() -> None:
    assert DUMPS
    assert all(path.with_name(path.name.replace(".sql.gz", ".after.sql.gz")).exists() for path in DUMPS)

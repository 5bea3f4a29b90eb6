import json
import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import psycopg
import pytest

from senselab import postgres
from tests.ops.conftest import ROOT, Refused, Somebody, Start, Started, left_after


@pytest.fixture(scope="module")
def data(anywhere: Path) -> Path:
    return anywhere / "data"


def slugs(data: Path) -> set[str]:
    with psycopg.connect(postgres.url(data)) as connection:
        return {slug for (slug,) in connection.execute("SELECT slug FROM accounts_account")}


def get(started: Started, path: str) -> str:
    port = re.search(r"http://\S+:(\d+)", "\n".join(started.said))
    assert port
    with urllib.request.urlopen(f"http://127.0.0.1:{port[1]}{path}", timeout=20) as answer:
        return answer.read().decode()


def test_the_first_start_shows_person_password_and_key_and_ctrl_c_stops_all_of_it(data: Path, start: Start) -> None:
    up = start(data)
    for label in ("SenseLab   http://127.0.0.1:", "person     admin", "password   ", "API key    sl_"):
        up.wait_for(label)
    up.wait_for("worker |", "ready for work")
    up.see("web    | [INFO] Started worker-2")
    assert json.loads(get(up, "/health"))
    assert (data / "secret_key").stat().st_mode & 0o777 == 0o600
    family = up.family()
    assert up.end(signal.SIGINT) == 0
    assert left_after(family, 0.5) == []
    lasts = ("see ya", "has stopped", "db     | LOG:  database system is shut down")
    ends = [next(number for number, line in enumerate(up.said) if text in line) for text in lasts]
    assert ends[2] == max(ends)


def test_kill_9_of_the_parent_leaves_nothing_behind_and_no_row_is_lost(data: Path, start: Start) -> None:
    up = start(data)
    up.wait_for("worker |", "ready for work")
    up.see("web    | [INFO] Started worker-2")
    made = subprocess.run(
        [sys.executable, "manage.py", "createaccount", "kept"],
        cwd=ROOT,
        env=os.environ | {"SENSELAB_DATA": str(data), "DATABASE_URL": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == "kept\n"
    family = up.family()
    names = " ".join(" ".join(process.cmdline()) for process in family)
    assert all(part in names for part in ("postgres", "granian", "qcluster"))
    up.process.kill()
    assert left_after(family, 5) == []
    again = start(data)
    again.wait_for("worker |", "ready for work")
    assert slugs(data) == {"default", "kept"}
    assert not any("password" in line for line in again.said)
    assert again.end() == 0


def main_process(up: Started, program: str) -> psutil.Process:
    """Return the process that a keeper started for a program."""
    keepers = psutil.Process(up.process.pid).children()
    started = [child for keeper in keepers for child in keeper.children()]
    return next(process for process in started if program in " ".join(process.cmdline()))


def test_a_second_start_is_refused_and_parts_that_die_are_started_again(
    data: Path, start: Start, refused: Refused, environment: dict[str, str]
) -> None:
    up = start(data)
    up.wait_for("worker |", "ready for work")
    up.see("web    | [INFO] Started worker-2")
    assert f"PORT {environment['PORT']} is in use" in refused(SENSELAB_DATA=str(data))
    server = main_process(up, "postgres")
    assert server.uids().real != 0
    assert server.net_connections("inet") == []
    for name, program in (("web", "granian"), ("worker", "qcluster"), ("db", "postgres")):
        main_process(up, program).kill()
        up.wait_for(f"{name:6} | This part", "it is started again in 1 s.")
    up.wait_for("db     | LOG:  database system is ready to accept connections")
    up.wait_for("worker |", "ready for work")
    assert slugs(data)
    assert up.end() == 0


def test_it_stops_with_the_make_that_started_it(data: Path, start: Start) -> None:
    line = f"{shlex.quote(sys.executable)} manage.py up --stop-with-parent; exit $?"
    shell = start(data, command=["sh", "-c", line])
    shell.wait_for("worker |", "ready for work")
    family = shell.family()
    assert len(family) > 8
    shell.process.kill()
    assert left_after(family, 5) == []


def test_it_runs_for_a_person_who_is_not_root(anywhere: Path, start: Start, somebody: Somebody) -> None:
    data = anywhere / "Daten einer Person"
    data.mkdir()
    os.chown(data, somebody.uid, -1)
    up = start(data, somebody=somebody)
    up.wait_for("API key    sl_")
    up.wait_for("worker |", "ready for work")
    family = up.family()
    assert {process.uids().real for process in family} == {somebody.uid}
    assert slugs(data) == {"default"}
    assert up.end(signal.SIGTERM) == 0
    assert left_after(family, 0.5) == []

"""A disk that fills up under the database: writes hear 503, reads go on, and with room all is as it was."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import psycopg
import pytest
from django.conf import settings
from django.test import Client

from senselab import cluster, taking_room
from senselab.accounts import services as accounts
from tests.ops.conftest import ROOT

MB = 1024 * 1024


class Disk(Protocol):
    """What the claims are stored on: it can be filled, and have room again."""

    def fill(self) -> None: ...
    def make_room(self) -> None: ...


class Small(Disk):
    """A file system of so many MB in memory that the table of claims was moved to."""

    def __init__(self, folder: Path) -> None:
        self.filler = folder / "filler"

    def fill(self) -> None:
        # Two MB are left, so that it is the writes of the test that find the end.
        size = shutil.disk_usage(self.filler.parent).free - 2 * MB
        self.filler.write_bytes(b"x" * size)

    def make_room(self) -> None:
        self.filler.unlink()


class Pretended(Disk):
    """Where no file system can be mounted: the table itself says what a full disk says, and as suddenly."""

    def __init__(self, operator: psycopg.Connection) -> None:
        self.operator = operator

    def fill(self) -> None:
        self.operator.execute("""
            CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF random() < 0.5 THEN RETURN NEW; END IF;
                RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
            END $$
        """)
        self.operator.execute("CREATE TRIGGER full_disk BEFORE INSERT ON memories_claim EXECUTE FUNCTION no_room()")

    def make_room(self) -> None:
        self.operator.execute("DROP FUNCTION no_room CASCADE")


def mounted(folder: Path, size: int) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    return os.geteuid() == 0 and subprocess.run(command, check=False, capture_output=True).returncode == 0


@pytest.fixture
def disk(lasting: None, database_url: str, tmp_path: Path) -> Iterator[Disk]:
    """The claims of this run's database, on a small disk for the time of a test."""
    place = cluster.place_of(Path(settings.DATA_DIR))
    folder = Path("/tmp") / f"senselab-disk-{secrets.token_hex(4)}"
    folder.mkdir()
    with psycopg.connect(database_url, autocommit=True) as operator:
        row = operator.execute("SELECT pg_total_relation_size('memories_claim')").fetchone()
        if not mounted(folder, (row[0] if row else 0) + 64 * MB):
            folder.rmdir()
            yield Pretended(operator)
            return
        shutil.chown(folder, place.uid, place.gid)
        inside = folder / "tables"
        inside.mkdir(mode=0o700)
        shutil.chown(inside, place.uid, place.gid)
        try:
            operator.execute(f"CREATE TABLESPACE small LOCATION '{inside}'")
            operator.execute("ALTER TABLE memories_claim SET TABLESPACE small")
            yield Small(folder)
            operator.execute("ALTER TABLE memories_claim SET TABLESPACE pg_default")
            # What is dropped leaves a small file until the next checkpoint.
            operator.execute("CHECKPOINT")
            operator.execute("DROP TABLESPACE small")
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
            folder.rmdir()


def test_a_full_disk_is_said_and_nothing_acknowledged_is_lost(disk: Disk) -> None:
    account = accounts.create_account(f"full-{secrets.token_hex(6)}")
    key = accounts.create_key(account, name="key", rate_per_minute=1_000_000)
    bot = Client(headers={"Authorization": f"Bearer {key}"}, raise_request_exception=False)

    def write(number: int):
        value = secrets.token_hex(60_000)
        body = {"entity_path": "shop", "key": f"k{number}", "value": value, "agent_id": "agent/ada"}
        return bot.post("/api/v1/entries", json.dumps(body), content_type="application/json")

    def there() -> int:
        answer = bot.get("/api/v1/entries", {"entity_path": "shop"})
        assert answer.status_code == 200
        return len(answer.json()["entries"])

    assert write(0).status_code == 200
    disk.fill()
    acknowledged, refused = 1, []
    while len(refused) < 3 and acknowledged < 100:
        answer = write(acknowledged)
        if answer.status_code == 200:
            acknowledged += 1
        else:
            refused.append(answer)
    assert [(one.status_code, one["Retry-After"]) for one in refused] == [(503, "60")] * 3
    assert "The disk of the database is full. Nothing was stored." in refused[0].json()["detail"]
    assert there() == acknowledged

    disk.make_room()
    assert write(acknowledged).status_code == 200
    assert there() == acknowledged + 1


COUNTING = """
import os
from pathlib import Path
from senselab import taking_room
taking_room.take()
if os.environ["FULL"]:
    file = os.open(Path(os.environ[taking_room.FOLDER]) / "filler", os.O_CREAT | os.O_WRONLY)
    try:
        while os.write(file, bytes(4096)):
            pass
    except OSError:
        print("full")
from senselab import measuring
for number in range(200):
    measuring.DURATIONS.labels(f"/a/route/of/ours/{number}/").observe(0.1)
    for status in range(200, 205):
        measuring.REQUESTS.labels("GET", f"/a/route/of/ours/{number}/", status).inc()
print("counted")
"""


@pytest.fixture
def small() -> Iterator[tuple[Path, bool]]:
    """A folder, and whether it is a file system of its own of 8 MB."""
    folder = Path(tempfile.mkdtemp(prefix="senselab-figures-"))
    own = mounted(folder, 8 * MB)
    yield folder, own
    if own:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
    shutil.rmtree(folder)


def test_a_process_goes_on_counting_when_its_disk_is_full(small: tuple[Path, bool]) -> None:
    folder, own = small
    env = os.environ | {taking_room.FOLDER: str(folder), "FULL": "yes" if own else ""}
    done = subprocess.run(
        [sys.executable, "-c", COUNTING], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.split()) == (0, [*(["full"] if own else []), "counted"]), done.stderr
    files = list(folder.glob("*.db"))
    assert {file.name.split("_")[0] for file in files} == set(taking_room.KINDS)
    # It needed no more than it took, and there is no hole in it.
    assert {file.stat().st_size for file in files} == {taking_room.BYTES}
    assert min(file.stat().st_blocks * 512 for file in files) >= taking_room.BYTES


def test_without_room_for_figures_a_process_counts_for_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(taking_room.FOLDER, str(tmp_path / "nowhere"))
    taking_room.take()
    assert taking_room.FOLDER not in os.environ

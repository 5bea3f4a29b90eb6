"""Copies of the whole database on a real embedded server: made, proven, dropped by count and age, brought back."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from senselab import postgres
from senselab.survival import copies
from senselab.survival.copies import Copy, Note
from tests.ops.conftest import ROOT

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def data(anywhere: Path) -> Path:
    return anywhere / "backed up"


def manage(data: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    ours = os.environ | {"SENSELAB_DATA": str(data), "DATABASE_URL": ""} | env
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=ours, capture_output=True, text=True, check=False)


def slugs(data: Path) -> set[str]:
    with psycopg.connect(postgres.url(data)) as connection:
        return {slug for (slug,) in connection.execute("SELECT slug FROM accounts_account")}


def databases(data: Path) -> set[str]:
    with psycopg.connect(postgres.url(data)) as connection:
        return {name for (name,) in connection.execute("SELECT datname FROM pg_database WHERE NOT datistemplate")}


def test_a_copy_is_proven_and_one_command_brings_it_back(data: Path) -> None:
    held = postgres.use(data, durable=False)
    try:
        assert manage(data, "migrate", "--verbosity=0").returncode == 0
        manage(data, "createaccount", "before")
        made = manage(data, "backup")
        assert made.returncode == 0, made.stderr
        assert "proven, 0 entries, 0 versions" in made.stdout
        (copy,) = copies.listed(data / "backups")
        assert copy.path.stat().st_mode & 0o777 == 0o600
        manage(data, "createaccount", "after")
        # Somebody who is connected is sent away and finds the copy when they come back.
        busy = psycopg.connect(postgres.url(data))
        restored = manage(data, "restore")
        assert restored.returncode == 0, restored.stdout + restored.stderr
        with pytest.raises(psycopg.errors.AdminShutdown):
            busy.execute("SELECT 1")
        assert "is restored" in restored.stdout
        assert slugs(data) == {"before"}
        (kept,) = [name for name in databases(data) if "_before_" in name]
        assert kept in restored.stdout
        assert databases(data) == {"postgres", "senselab", kept}
        assert "is dropped" in manage(data, "restore", "--drop-replaced").stdout
        assert databases(data) == {"postgres", "senselab"}
        nothing_is_restored_from_a_damaged_copy(data, copy)
        what_the_worker_does_by_itself_is_proven_and_drops_the_older_one(data)
        a_copy_that_does_not_fit_is_named(data)
    finally:
        held.close()


def nothing_is_restored_from_a_damaged_copy(data: Path, copy: Copy) -> None:
    whole = copy.path.read_bytes()
    copy.path.write_bytes(whole[:-1] + b"x")
    refused = manage(data, "restore")
    assert refused.returncode == 1
    assert "is damaged" in refused.stderr
    assert "The database is as it was." in refused.stderr
    copy.path.write_bytes(whole)


def what_the_worker_does_by_itself_is_proven_and_drops_the_older_one(data: Path) -> None:
    """What the schedule calls, as the worker does, with one copy to keep."""
    code = "from senselab.survival import scheduled as s; from django.utils.module_loading import import_string as i;"
    code += "print(i(s.schedules()['backup'][0])())"
    done = manage(data, "shell", "-v0", "-c", code, BACKUP_HOURS="6", BACKUP_KEEP="1")
    assert done.returncode == 0, done.stderr
    (kept,) = copies.listed(data / "backups")
    assert kept.proven
    assert done.stdout.split()[-1] == kept.path.name


def a_copy_that_does_not_fit_is_named(data: Path) -> None:
    """A database whose history somebody altered gives a copy that is kept, and not called proven."""
    manage(data, "seed_demo", "--share=0.02")
    with psycopg.connect(postgres.url(data)) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("UPDATE memories_entryversion SET confidence = confidence / 2 WHERE number = 1")
    done = manage(data, "backup")
    assert done.returncode == 1
    assert "not all of it fits" in done.stderr
    newest, older = copies.listed(data / "backups")
    assert (newest.proven, older.proven) == (False, True)
    assert databases(data) == {"postgres", "senselab"}


@pytest.mark.parametrize("word", ["backup", "restore"])
def test_the_command_line_knows_both_by_name(word, tmp_path):
    ours = os.environ | {"SENSELAB_DATA": str(tmp_path), "DATABASE_URL": ""}
    command = [sys.executable, "-m", "senselab.cli", word, "--help"]
    done = subprocess.run(command, cwd=ROOT, env=ours, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"usage: manage.py {word}")


def kept_copies(folder: Path, *ages: int, proven: int | None = None) -> list[Copy]:
    for place, age in enumerate(ages):
        path = copies.path_for(folder, NOON - timedelta(days=age))
        path.write_bytes(b"x")
        proof = NOON if place == proven else None
        copies.write_note(path, Note(NOON - timedelta(days=age), 1, copies.digest(path), 180_000, proven_at=proof))
    return copies.listed(folder)


@pytest.mark.parametrize(
    ("ages", "proven", "keep", "days", "left"),
    [
        ((0, 1, 2, 3), 0, 2, 0, [0, 1]),
        ((0, 1, 40, 50), 0, 0, 30, [0, 1]),
        ((0, 1, 2, 3), 2, 1, 0, [0, 2]),
        ((40, 50), None, 0, 30, [40]),
        ((0, 1, 2), 0, 0, 0, [0, 1, 2]),
        ((), None, 1, 1, []),
    ],
)
def test_copies_go_by_count_and_age_but_never_the_last_nor_the_last_proven(tmp_path, ages, proven, keep, days, left):
    found = kept_copies(tmp_path, *ages, proven=proven)
    for copy in copies.spare(found, keep=keep, days=days, now=NOON):
        copies.drop(copy)
    assert [(NOON - copy.note.made_at).days for copy in copies.listed(tmp_path)] == left
    assert len(list(tmp_path.iterdir())) == 2 * len(left)


def test_what_an_interrupted_backup_left_is_no_copy_and_is_swept_away(tmp_path):
    (whole,) = kept_copies(tmp_path, 1)
    for name in ("senselab-20260301T120000Z.dump", "senselab-20260301T120000Z.part"):
        (tmp_path / name).write_bytes(b"half")
    assert [copy.path for copy in copies.listed(tmp_path)] == [whole.path]
    copies.sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {whole.path.name, copies.note_of(whole.path).name}
    assert json.loads(copies.note_of(whole.path).read_text())["proven_at"] is None

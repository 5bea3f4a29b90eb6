"""An import that was interrupted goes on where it was; until all is in, nobody sees anything of it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from memories.services import arriving, importing, staging
from memories.services.importing import BadFile
from memories.services.staging import Stage, UnderWay
from memories.transfer import tables
from tests.api.test_failures import other
from tests.db import acts
from tests.db.test_transfer import story as story  # noqa: PLC0414
from tests.db.test_transfer import written

SOURCE = "history.jsonl"


class Killed(BaseException):
    """Whatever ends a process in the middle."""


@pytest.fixture(autouse=True)
def in_small_batches(monkeypatch):
    monkeypatch.setattr(arriving, "ROWS", 2)


@pytest.fixture
def stored(monkeypatch):
    """How many lines were stored in each batch."""
    counts: list[int] = []
    store = importing.store

    def counting(cursor, arrival, kind, batch):
        counts.append(len(batch))
        store(cursor, arrival, kind, batch)

    monkeypatch.setattr(importing, "store", counting)
    return counts


def lines_of(file, *, until=None):
    for number, line in enumerate(file.splitlines(keepends=True)):
        if number == until:
            raise Killed
        yield line


def interrupted(account, file, *, until):
    with pytest.raises(Killed):
        importing.take_in(account, lines_of(file, until=until), source=SOURCE)


def stages():
    return acts.rows_of("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'arriving%%'")


@pytest.mark.parametrize("share", [0.2, 0.5, 0.95])
def test_what_was_interrupted_goes_on_and_is_the_same_in_the_end(story, other_account, stored, share):
    file = written(story)
    count = file.count(b"\n")
    interrupted(other_account, file, until=int(count * share))
    before = sum(stored)
    assert before > 1
    for table in tables.TABLES:
        assert acts.rows_of(f"SELECT count(*) FROM {table.db_table} WHERE account_id = %s", other_account.pk) == [(0,)]
    told = []
    assert importing.take_in(other_account, lines_of(file), tell=told.append, source=SOURCE) == count - 1
    # All lines but the first, which says what the others hold; none of them twice.
    assert sum(stored) == count - 2
    assert told == sorted(told)
    assert written(other_account) == file
    assert stages() == []


def test_it_can_be_interrupted_again_and_again(story, other_account, stored):
    file = written(story)
    for until in range(4, file.count(b"\n"), 7):
        interrupted(other_account, file, until=until)
    importing.take_in(other_account, lines_of(file), source=SOURCE)
    assert sum(stored) == file.count(b"\n") - 2
    assert written(other_account) == file


def test_an_import_of_something_else_begins_anew(story, other_account, stored):
    file = written(story)
    interrupted(other_account, file, until=20)
    before = sum(stored)
    importing.take_in(other_account, lines_of(file), source="another.jsonl")
    assert sum(stored) - before == file.count(b"\n") - 2
    assert written(other_account) == file


def test_a_file_that_changed_meanwhile_is_refused_and_what_came_is_forgotten(story, other_account):
    file = written(story)
    interrupted(other_account, file, until=30)
    changed = file.replace(b"agent/ada", b"agent/eve")
    with pytest.raises(BadFile, match="another one"):
        importing.take_in(other_account, lines_of(changed), source=SOURCE)
    assert stages() == []
    importing.take_in(other_account, lines_of(file), source=SOURCE)
    assert written(other_account) == file


def test_two_imports_into_one_account_are_not_under_way_at_once(story, other_account):
    key = Stage(other_account.slug, "").key
    with other() as operator:
        operator.execute("SELECT pg_advisory_lock(%s, %s)", [staging.LOCK, key])
        with pytest.raises(UnderWay):
            importing.take_in(other_account, lines_of(written(story)))


def test_what_nobody_went_on_with_for_a_week_is_dropped(story, other_account):
    interrupted(other_account, written(story), until=20)
    staging.drop_left(timezone.now() + timedelta(days=6))
    assert len(stages()) == 1
    staging.drop_left(timezone.now() + timedelta(days=8))
    assert stages() == []
    assert connection.in_atomic_block


def test_what_came_outlives_the_connection_it_came_on(lasting, story, other_account, stored):
    file = written(story)
    interrupted(other_account, file, until=30)
    connection.close()
    assert importing.take_in(other_account, lines_of(file), source=SOURCE) == file.count(b"\n") - 1
    assert sum(stored) == file.count(b"\n") - 2
    assert written(other_account) == file


def test_the_planner_hears_of_much_that_came(story, other_account, monkeypatch):
    monkeypatch.setattr(importing, "MANY", 1)
    file = written(story)
    importing.take_in(other_account, lines_of(file))
    assert written(other_account) == file
    found = "SELECT count(*) FROM pg_stats WHERE tablename = 'memories_entryversion' AND attname = 'number'"
    assert acts.rows_of(found) == [(1,)]

"""History is only ever added to; the database itself sees to that."""

import pytest
from django.db import IntegrityError, connection, transaction

from memories.models import Effect, EntryVersion
from outcomes.models import Outcome
from tests.db import acts
from tests.db.records import insert

HISTORY = (
    "memories_entryversion",
    "memories_effect",
    "memories_evidence",
    "memories_comment",
    "memories_policyversion",
    "outcomes_outcome",
)
TRIGGERS = """
    SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = %s AND tgenabled = 'O' ORDER BY 1
"""


@pytest.fixture
def story(db, account) -> int:
    """An account with a row in every table of history; returns its id."""
    stored = acts.put(account, confidence=0.7)
    acts.told(account, "DEP-1")
    act = {"entry_id": stored.entry_id, "change_set_id": stored.change_set_id}
    insert("memories_evidence", account.pk, delta=0, **act)
    insert("memories_comment", account.pk, **act)
    insert("memories_policyversion", account.pk)
    return account.pk


def run(sql: str, *parameters: object, dropping: int | None = None) -> int:
    """Run a statement, perhaps as the one that drops an account, and return how many rows it changed."""
    with transaction.atomic(), connection.cursor() as cursor:
        if dropping is not None:
            cursor.execute("SELECT set_config('senselab.dropping_account', %s, true)", [str(dropping)])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(sql, parameters)
        return cursor.rowcount


@pytest.mark.parametrize("table", HISTORY)
def test_no_row_of_history_can_be_changed(story, table):
    with pytest.raises(IntegrityError, match=f"append-only: UPDATE of {table} is refused"):
        run(f"UPDATE {table} SET account_id = account_id WHERE account_id = %s", story)


@pytest.mark.parametrize("table", HISTORY)
def test_no_row_of_history_can_be_deleted(story, table):
    with pytest.raises(IntegrityError, match=f"append-only: DELETE of {table} is refused"):
        run(f"DELETE FROM {table} WHERE account_id = %s", story)


@pytest.mark.parametrize("table", HISTORY)
def test_history_cannot_be_emptied(story, table):
    with pytest.raises(IntegrityError, match=f"append-only: TRUNCATE of {table} is refused"):
        run(f"TRUNCATE {table} CASCADE")


def test_a_table_that_refuses_changes_refuses_to_be_emptied_as_well(db):
    changes, emptying = (acts.rows_of(TRIGGERS, f"history_is_{name}") for name in ("append_only", "not_truncated"))
    assert [table for (table,) in changes] == sorted(HISTORY)
    assert emptying == changes


def test_the_models_cannot_get_around_it(story):
    for model in (EntryVersion, Effect, Outcome):
        rows = model.objects.filter(account_id=story)
        assert rows.count() == (2 if model is EntryVersion else 1)
        for change in (rows.delete, lambda rows=rows: rows.update(account_id=story)):
            with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
                change()


def test_dropping_an_account_takes_its_own_history_along_and_no_other(story, other_account):
    acts.put(other_account)
    delete = "DELETE FROM {} WHERE account_id = %s"
    assert run(delete.format("memories_effect"), story, dropping=story) == 1
    with pytest.raises(IntegrityError, match="append-only: DELETE"):
        run(delete.format("memories_entryversion"), other_account.pk, dropping=story)
    with pytest.raises(IntegrityError, match="append-only: UPDATE"):
        run("UPDATE memories_entryversion SET confidence = 1 WHERE account_id = %s", story, dropping=story)


def test_leave_to_drop_an_account_ends_with_its_transaction(lasting, account):
    acts.put(account)
    run("SELECT 1", dropping=account.pk)
    with pytest.raises(IntegrityError, match="append-only: DELETE"):
        run("DELETE FROM memories_entryversion WHERE account_id = %s", account.pk)

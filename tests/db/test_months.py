"""Readings, events and traces lie in partitions by month, which come ahead and go once no account keeps them."""

import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction

from memories.entry import history
from memories.jobs import retaining
from memories.models import Reading
from memories.rules.policy import DEFAULT
from outcomes.models import Event, Trace
from outcomes.services import tracing
from outcomes.services.tracing import Told
from senselab.months import divide
from tests.db import acts
from tests.db.acts import ADA, NOON
from tests.db.records import insert

TABLES = {"memories_reading": "keep_readings", "outcomes_event": "keep_events", "outcomes_trace": "keep_traces"}
COLUMNS = {"memories_reading": "month"}
PARTITIONS = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass ORDER BY 1"
SOON = datetime.now(UTC).replace(day=1) + timedelta(days=45)


def run(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def partitions(table):
    return [name.removeprefix(f"{table}_") for (name,) in acts.rows_of(PARTITIONS, table)]


def with_old_month(table, year=2019):
    """Give a table a partition of a month long ago, which lay in the one before the months."""
    run(f"ALTER TABLE {table} DETACH PARTITION {table}_before")
    bound = f"FOR VALUES FROM (''{year}-05-01'') TO (''{year}-06-01'')"
    run(f"SELECT memories_add_partition('{table}', '{table}_{year}_05', '{bound}')")
    return f"{year}_05"


def put_in(table, account, at):
    named = {"id": str(uuid4()), "outcome_ref": ""} if table == "outcomes_trace" else {}
    insert(table, account.pk, **{COLUMNS.get(table, "created_at"): at.isoformat()}, **named)
    run("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.mark.parametrize("table", TABLES)
def test_there_are_partitions_for_what_came_before_for_months_to_come_and_for_the_rest(db, table):
    found = partitions(table)
    assert {"before", "rest"} <= set(found)
    assert sum(bool(re.fullmatch(r"\d{4}_\d\d", name)) for name in found) >= 2


@pytest.mark.parametrize("model", [Reading, Event, Trace])
def test_every_partition_has_the_indexes_of_the_model(db, model):
    table = model._meta.db_table
    named = {name for (name,) in acts.rows_of("SELECT indexname FROM pg_indexes WHERE tablename = %s", table)}
    assert named == {f"{table}_pkey", *(index.name for index in model._meta.indexes)}
    wrong = (
        "SELECT indexrelid::regclass FROM pg_index WHERE indrelid = %s::regclass AND NOT (indisvalid AND indisready)"
    )
    assert acts.rows_of(wrong, table) == []


@pytest.mark.parametrize("table", TABLES)
def test_no_write_fails_whenever_it_says_it_was(account, table):
    for at in (datetime(1999, 1, 1, tzinfo=UTC), NOON, SOON, datetime(2222, 1, 1, tzinfo=UTC)):
        put_in(table, account, at)
    found = {name for (name,) in acts.rows_of(f"SELECT tableoid::regclass::text FROM {table} WHERE account_id = %s",
                                              account.pk)}  # fmt: skip
    assert found == {f"{table}_before", f"{table}_rest", f"{table}_{SOON:%Y_%m}"}


def test_the_months_to_come_are_made_ahead_and_once(db):
    name = f"outcomes_event_{SOON:%Y_%m}"
    run(f"DROP TABLE {name}")
    assert run("SELECT * FROM memories_make_months()") == [(name,)]
    assert run("SELECT * FROM memories_make_months()") == []


def test_a_month_that_began_in_the_rest_stays_there(account):
    run(f"DROP TABLE outcomes_event_{SOON:%Y_%m}")
    put_in("outcomes_event", account, SOON)
    assert run("SELECT * FROM memories_make_months()") == []
    assert Event.objects.filter(account_id=account.pk).count() == 1


@pytest.mark.parametrize("table", TABLES)
def test_a_month_that_no_account_keeps_is_dropped_with_all_it_holds(account, table):
    month = with_old_month(table)
    put_in(table, account, datetime(2019, 5, 7, tzinfo=UTC))
    assert retaining.turn_months() == 1
    assert month not in partitions(table)
    assert acts.rows_of(f"SELECT count(*) FROM {table} WHERE account_id = %s", account.pk) == [(0,)]


@pytest.mark.parametrize(("table", "field"), TABLES.items())
def test_a_month_that_one_account_keeps_is_not_dropped_until_its_rows_are_gone(account, other_account, table, field):
    month = with_old_month(table)
    put_in(table, account, datetime(2019, 5, 7, tzinfo=UTC))
    put_in(table, other_account, datetime(2019, 5, 7, tzinfo=UTC))
    for days in (0, 36_500):
        other_account.policy_values = {field: days}
        other_account.save()
        assert retaining.turn_months() == 0
    retaining.retain(account, NOON)
    assert month in partitions(table)
    other_account.policy_values = {field: 100}
    retaining.retain(other_account, NOON)
    assert retaining.turn_months() == 1
    assert month not in partitions(table)


def test_what_came_before_the_months_and_the_rest_are_never_dropped(db):
    assert retaining.turn_months() == 0
    assert all({"before", "rest"} <= set(partitions(table)) for table in TABLES)


def test_what_an_account_says_nothing_about_is_kept_as_long_as_the_policy_says(db, account):
    held = dict(run("SELECT parent, now() - kept_since FROM memories_divided()"))
    assert held == {table: timedelta(days=getattr(DEFAULT, field)) for table, field in TABLES.items()}


def test_whoever_owns_nothing_turns_months_by_the_owners_functions_alone(account):
    month = with_old_month("outcomes_event")
    run("CREATE ROLE months_only_writes")
    run("GRANT SELECT, INSERT ON outcomes_event, accounts_account TO months_only_writes")
    run("SET LOCAL ROLE months_only_writes")
    with pytest.raises(DatabaseError, match="must be owner"), transaction.atomic():
        run(f"DROP TABLE outcomes_event_{month}")
    with pytest.raises(DatabaseError, match=r"permission denied|must be owner"), transaction.atomic():
        run("SELECT memories_add_partition('outcomes_event', 'outcomes_event_mine', 'DEFAULT')")
    assert retaining.turn_months() == 1
    assert month not in partitions("outcomes_event")


def test_months_that_somebody_holds_wait_for_another_night(db, monkeypatch, caplog):
    with_old_month("outcomes_event")
    run("""CREATE OR REPLACE FUNCTION memories_drop_months() RETURNS SETOF text LANGUAGE plpgsql AS $$
           BEGIN RAISE EXCEPTION 'held' USING ERRCODE = 'lock_not_available'; END $$""")
    assert retaining.turn_months() == 0
    assert "another night" in caplog.text


def told(at, body=None):
    return Told(agent_id=ADA, session_id="s", outcome_ref="task", outcome_type="success", branch="main", body=body,
                entity_paths=["shop"], causal=[("shop/key", ADA)], tool_calls=0, errors=0, duration_ms=None,
                created_at=at)  # fmt: skip


def test_a_trace_told_again_in_another_month_is_the_one_there_was(account):
    first = tracing.keep(account.pk, told(NOON))
    assert tracing.keep(account.pk, told(SOON, body='{"said": 1}')) == first
    assert tracing.keep(account.pk, told(SOON, body='{"said": 2}')) == first
    kept = Trace.objects.get(account_id=account.pk)
    assert (kept.created_at, kept.body) == (NOON, '{"said": 1}')


@pytest.mark.parametrize("at", [NOON, SOON, datetime(2222, 1, 1, tzinfo=UTC)])
def test_each_partition_holds_a_trace_once(account, at):
    Trace.objects.create(account=account, agent_id=ADA, outcome_ref="task", created_at=at)
    with pytest.raises(DatabaseError, match="duplicate key"), transaction.atomic():
        Trace.objects.create(account=account, agent_id=ADA, outcome_ref="task", created_at=at + timedelta(seconds=1))


def test_who_asks_for_months_looks_into_their_partitions_alone(account):
    values = [account.pk, history.months(SOON, SOON), 1, 1, 2]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {history.READERS}", values)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert set(re.findall(r"memories_reading_(\w+?)(?:_pkey)? ", plan)) == {f"{SOON:%Y_%m}"}


PLAIN = """
    CREATE TABLE months_plain (account_id bigint NOT NULL REFERENCES accounts_account DEFERRABLE INITIALLY DEFERRED,
        id bigint GENERATED BY DEFAULT AS IDENTITY, word text NOT NULL, at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (account_id, id));
    CREATE INDEX months_plain_by_time ON months_plain (account_id, at DESC);
    CREATE UNIQUE INDEX months_plain_once ON months_plain (account_id, word) WHERE NOT word = '';
    GRANT SELECT ON months_plain TO PUBLIC;
"""


@pytest.fixture
def plain(lasting, account):
    """A table as it was before, with rows of long ago, of now and of the future."""
    run(PLAIN)
    try:
        for n, at in enumerate((NOON - timedelta(days=900), datetime.now(UTC), SOON + timedelta(days=90))):
            with connection.cursor() as cursor:
                cursor.execute("INSERT INTO months_plain (account_id, word, at) VALUES (%s, %s, %s)",
                               [account.pk, f"word {n}", at])  # fmt: skip
        yield account
    finally:
        run("DROP TABLE months_plain")


def test_a_table_with_rows_is_divided_under_its_name_and_goes_on_counting(plain):
    for _ in range(2):
        with connection.schema_editor(atomic=False) as editor:
            divide(editor, "months_plain", "at", ("account_id", "id", "at"), counted=True)
    with connection.cursor() as cursor:
        added = (
            "INSERT INTO months_plain (account_id, word, at) VALUES (%s, '', %s) RETURNING id, tableoid::regclass::text"
        )
        cursor.execute(added, [plain.pk, SOON])
        assert cursor.fetchone() == (4, "months_plain_before")
        cursor.execute(added, [plain.pk, SOON + timedelta(days=400)])
        assert cursor.fetchone() == (5, "months_plain_rest")
    assert run("SELECT count(*), has_table_privilege('public', 'months_plain', 'SELECT') FROM months_plain") == [
        (5, True)
    ]
    indexes = [name for (name,) in run("SELECT indexname FROM pg_indexes WHERE tablename = 'months_plain' ORDER BY 1")]
    assert indexes == ["months_plain_by_time", "months_plain_pkey"]
    assert (
        run("SELECT conname FROM pg_constraint WHERE conrelid = 'months_plain_before'::regclass AND contype = 'c'")
        == []
    )
    linked = "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text LIKE 'months_plain%'"
    assert run(linked) == [(3,)]

"""What passes by itself is 503 with seconds to wait, once more where that is safe, never a lie: real failures."""

import contextlib
import json
import secrets
import threading

import psycopg
import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client

from memories.services import writing
from senselab import failures
from senselab.accounts import services as accounts
from tests.db import acts

ENTRIES = "/api/v1/entries"


@pytest.fixture
def place(lasting):
    """An account of its own, committed, and a key for it."""
    account = accounts.create_account(f"fails-{secrets.token_hex(6)}")
    return account, accounts.create_key(account, name="key", rate_per_minute=1_000_000)


@pytest.fixture
def bot(place):
    client = Client(headers={"Authorization": f"Bearer {place[1]}"}, raise_request_exception=False)
    client.get("/health")
    return client


def write(client, key="retry", value=1):
    body = {"entity_path": "shop", "key": key, "value": value, "agent_id": "agent/ada"}
    return client.post(ENTRIES, json.dumps(body), content_type="application/json")


def other():
    """Another connection to the same database, as an operator has."""
    name = connection.settings_dict["NAME"]
    return psycopg.connect(settings.DATABASE_URL, dbname=name, autocommit=True)


def pid():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def stored(account, key="retry"):
    return acts.rows_of("SELECT version FROM memories_entry WHERE account_id = %s AND key = %s", account.pk, key)


def refused(answer, seconds):
    assert answer.status_code == 503, answer.content
    assert answer["Retry-After"] == str(seconds)
    assert answer["Content-Type"] == "application/problem+json"
    return answer.json()["detail"]


def test_a_connection_that_ended_between_two_calls_is_not_noticed(place, bot):
    assert write(bot).status_code == 200
    with other() as operator:
        operator.execute("SELECT pg_terminate_backend(%s, 5000)", [pid()])
    assert write(bot, value=2).status_code == 200
    assert stored(place[0]) == [(2,)]


def ended_within(operator, when):
    """End the connection a call is on, once, before its first statement that says `when`."""
    left = [1]

    def end(execute, sql, params, many, context):
        if when in str(sql) and left:
            left.clear()
            operator.execute(
                "SELECT pg_terminate_backend(%s, 5000)", [context["connection"].connection.info.backend_pid]
            )
        return execute(sql, params, many, context)

    return connection.execute_wrapper(end)


def test_a_read_whose_connection_ends_is_made_once_more(place, bot):
    write(bot)
    with other() as operator, ended_within(operator, "memories_entry"):
        answer = bot.get(ENTRIES, {"entity_path": "shop"})
    assert answer.status_code == 200
    assert len(answer.json()["entries"] if isinstance(answer.json(), dict) else answer.json()) == 1


def test_a_write_whose_connection_ends_says_that_nobody_knows(place, bot):
    with other() as operator, ended_within(operator, "INSERT INTO memories_entry"):
        words = refused(write(bot), 2)
    assert "may or may not" in words
    assert stored(place[0]) == []
    assert write(bot).status_code == 200


def test_a_database_that_takes_no_writes_is_read_all_the_same(place, bot):
    write(bot)
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        assert "takes no writes" in refused(write(bot, value=2), 30)
        assert bot.get(ENTRIES, {"entity_path": "shop"}).status_code == 200
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = off")
    assert stored(place[0]) == [(1,)]


def test_a_row_that_somebody_holds_too_long_is_said(place, bot):
    account, _ = place
    write(bot)
    told = {
        "outcome_ref": "t-1",
        "outcome_type": "success",
        "agent_id": "agent/ada",
        "causal_entry_keys": ["shop/retry"],
    }
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    try:
        with other() as operator, operator.transaction():
            operator.execute("SELECT 1 FROM memories_entry WHERE account_id = %s FOR UPDATE", [account.pk])
            answer = bot.post("/api/v1/outcomes", json.dumps(told), content_type="application/json")
            assert "holds what this needs" in refused(answer, 2)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = 0")
    assert stored(account) == [(1,)]


def test_a_statement_that_takes_too_long_is_stopped_and_said(place, bot):
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = '1ms'")

    def slow(execute, sql, params, many, context):
        if "memories_entry" in str(sql):
            return execute("SELECT pg_sleep(5)", None, False, context)
        return execute(sql, params, many, context)

    try:
        with connection.execute_wrapper(slow):
            assert "took too long" in refused(bot.get(ENTRIES, {"entity_path": "shop"}), 5)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")


class Deadlocked:
    """Runs into a real deadlock, with another connection, before the first statement that says `when`; `times` over."""

    def __init__(self, account, when, times):
        self.account, self.when, self.times = account, when, times
        self.met = 0

    def __call__(self, execute, sql, params, many, context):
        if self.when not in str(sql) or self.met >= self.times:
            return execute(sql, params, many, context)
        self.met += 1
        mine, theirs = 2 * self.met, 2 * self.met + 1
        ready = threading.Event()

        def cross():
            with other() as operator, operator.transaction():
                operator.execute("SET LOCAL deadlock_timeout = '60s'")
                operator.execute("SELECT pg_advisory_xact_lock(77, %s)", [theirs])
                ready.set()
                operator.execute("SELECT pg_advisory_xact_lock(77, %s)", [mine])

        thread = threading.Thread(target=cross)
        try:
            with transaction.atomic():
                context["cursor"].execute("SET LOCAL deadlock_timeout = '50ms'")
                context["cursor"].execute("SELECT pg_advisory_xact_lock(77, %s)", [mine])
                thread.start()
                ready.wait(10)
                context["cursor"].execute("SELECT pg_advisory_xact_lock(77, %s)", [theirs])
        finally:
            thread.join(20)
        raise AssertionError("no deadlock came about")


def test_a_write_that_met_a_deadlock_is_made_once_more(place, bot):
    met = Deadlocked(place[0], "INSERT INTO memories_entry", times=1)
    with connection.execute_wrapper(met):
        assert write(bot).status_code == 200
    assert met.met == 1
    assert stored(place[0]) == [(1,)]


def test_a_write_that_meets_deadlocks_twice_is_told_to_come_back(place, bot):
    met = Deadlocked(place[0], "INSERT INTO memories_entry", times=2)
    with connection.execute_wrapper(met):
        assert "waited for each other" in refused(write(bot), 1)
    assert stored(place[0]) == []


def outrun(account, when):
    """Let somebody change the account between two looks of a serializable transaction, once, before `when`."""
    left = [1]

    def race(execute, sql, params, many, context):
        if when in str(sql) and left:
            left.clear()
            change = "UPDATE accounts_account SET name = name WHERE id = %s"
            with transaction.atomic():
                context["cursor"].execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
                context["cursor"].execute("SELECT name FROM accounts_account WHERE id = %s", [account.pk])
                with other() as operator:
                    operator.execute(change, [account.pk])
                context["cursor"].execute(change, [account.pk])
            raise AssertionError("nobody was outrun")
        return execute(sql, params, many, context)

    return connection.execute_wrapper(race)


def test_a_write_that_could_not_be_serialized_is_made_once_more(place, bot):
    with outrun(place[0], "INSERT INTO memories_entry"):
        assert write(bot).status_code == 200
    assert stored(place[0]) == [(1,)]


def test_a_database_without_a_connection_to_spare_is_said(place, bot):
    assert write(bot).status_code == 200
    connection.close()
    taken = []
    with contextlib.ExitStack() as ends:
        ends.callback(lambda: [one.close() for one in taken])
        with contextlib.suppress(psycopg.OperationalError):
            taken.extend(other() for _ in range(1_000))
        assert "no connection to spare" in refused(write(bot, value=2), 2)
    assert write(bot, value=2).status_code == 200
    assert stored(place[0]) == [(2,)]


@pytest.mark.parametrize("path", ["/login/", "/"])
def test_people_get_a_page_that_says_so(place, path):
    def full(execute, sql, params, many, context):
        return execute("DO $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$", None, False, context)

    client = Client(raise_request_exception=False)
    account, _ = place
    person = accounts.create_person(f"p-{secrets.token_hex(4)}", password="correct horse battery")
    accounts.give_role(person, account, accounts.Role.VIEWER)
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    with connection.execute_wrapper(full):
        answer = client.get(path)
    assert answer.status_code == 503
    assert answer["Retry-After"] == "60"
    assert "disk of the database is full" in answer.content.decode()


def test_a_fault_of_ours_stays_a_fault(bot, monkeypatch):
    def broken(*args, **kwargs):
        raise ZeroDivisionError

    monkeypatch.setattr(writing, "write", broken)
    assert write(bot).status_code == 500


def test_errors_of_statements_are_no_passing_failures():
    def of(code):
        error = psycopg.errors.lookup(code)("no")
        try:
            with connection.wrap_database_errors:
                raise error
        except Exception as wrapped:  # noqa: BLE001
            return failures.passing(wrapped)

    assert of("23505") is None
    assert of("42601") is None
    assert of("22003") is None
    assert of("53300").retry_after == 2
    assert of("57P01") is failures.AWAY
    assert of("40001").undone
    assert not of("57014").undone

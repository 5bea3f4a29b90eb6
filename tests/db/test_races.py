"""Many at once: nothing is lost, nothing counts twice, and who comes second is told."""

import json
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from memories import jobs, recalls
from memories.entry import why
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from memories.rules.standing import Standing
from tests.db import acts
from tests.db.racing import PROCESSES, wait_for

pytestmark = pytest.mark.usefixtures("lasting")
ROUNDS = 50


@pytest.fixture
def holder(lasting: None, database_url: str) -> Iterator[psycopg.Connection]:
    """A connection of its own, with which a test holds others up."""
    with psycopg.connect(database_url) as connection:
        yield connection


def hold(holder: psycopg.Connection, account_id: int) -> None:
    """Lock every entry of an account until the holder ends its transaction."""
    holder.execute("SELECT 1 FROM memories_entry WHERE account_id = %s FOR UPDATE", [account_id])


def write_many(account_id: int, who: int, times: int) -> None:
    for number in range(times):
        acts.put(account_id, [who, number], by=f"agent/{who}")


def report_many(account_id: int, who: int, times: int) -> None:
    for number in range(times):
        kind = ("success", "failure", "minor_failure", "success")[number % 4]
        acts.told(account_id, f"{who}-{number}", kind, by=f"agent/{who}", causal_confidence=1 / (1 + number % 3))


def versions_of(account_id: int, entry_id: int) -> list[int]:
    sql = "SELECT number FROM memories_entryversion WHERE account_id = %s AND entry_id = %s ORDER BY number"
    return [number for (number,) in acts.rows_of(sql, account_id, entry_id)]


def replayed(account_id: int, entry_id: int) -> Standing:
    """Return where the effects alone lead from the first version, in the order of the versions they made."""
    story = why.story(acts.viewer(account_id, sees_all=True), entry_id)
    standing = story.steps[0].row.state.standing
    for step in story.steps[1:]:
        assert step.effect is not None
        applied = step.effect.replay(standing, DEFAULT)
        assert (applied.before, applied.weight, applied.after) == (
            step.effect.before,
            step.effect.weight,
            step.effect.after,
        )
        standing = applied.standing
    return standing


def test_eight_processes_write_one_key_and_no_version_is_lost(account, race):
    race.run(write_many, [(account.pk, who, ROUNDS) for who in range(PROCESSES)])

    row = acts.entry(account)
    assert row.version == PROCESSES * ROUNDS
    assert versions_of(account.pk, row.entry_id) == list(range(1, PROCESSES * ROUNDS + 1))
    said = acts.rows_of("SELECT value FROM memories_claim WHERE account_id = %s", account.pk)
    assert sorted(tuple(json.loads(value)) for (value,) in said) == [
        (who, number) for who in range(PROCESSES) for number in range(ROUNDS)
    ]
    current = "SELECT count(*) FROM memories_entry WHERE account_id = %s"
    assert acts.rows_of(current, account.pk) == [(1,)]


def test_eight_processes_report_outcomes_on_one_key_and_the_ledger_gives_the_confidence(account, race):
    stored = acts.put(account, confidence=0.7)

    race.run(report_many, [(account.pk, who, ROUNDS) for who in range(PROCESSES)])

    whole = PROCESSES * ROUNDS
    state = acts.entry(account).state
    kinds = [("success", "failure", "minor_failure", "success")[number % 4] for number in range(ROUNDS)]
    assert (state.outcome_count, state.success_count) == (whole, PROCESSES * kinds.count("success"))
    assert versions_of(account.pk, stored.entry_id) == list(range(1, whole + 2))
    assert replayed(account.pk, stored.entry_id) == state.standing


def test_of_two_rollbacks_at_once_one_is_done_and_one_is_told_that_somebody_was_first(account, race, holder):
    entry_id = acts.put(account, "old").entry_id
    acts.put(account, "new")
    hold(holder, account.pk)

    with race.started(roll_back, [(account.pk, entry_id)] * 2) as results:
        wait_for(holder, 2)
        holder.rollback()

    assert sorted(results) == ["StaleVersion", "done"]
    assert versions_of(account.pk, entry_id) == [1, 2, 3]


def roll_back(account_id: int, entry_id: int) -> str:
    acts.back(account_id, entry_id, to=1, expected=2)
    return "done"


def post(key: str, route: str, body: str, more: dict[str, str]) -> int:
    headers = {"X-AMFS-API-Key": key, **more}
    response = Client(SERVER_NAME="127.0.0.1").post(
        f"/api/v1/{route}", body, content_type="application/json", headers=headers
    )
    return response.status_code


def test_over_http_the_two_rollbacks_are_one_200_and_one_412(account, race, holder, review_key):
    acts.put(account, "old")
    acts.put(account, "new")
    hold(holder, account.pk)
    body = json.dumps({"entity_path": "shop", "key": "retry", "to_version": 1, "expected_version": 2})

    with race.started(post, [(review_key, "rollback", body, {})] * 2) as results:
        wait_for(holder, 2)
        holder.rollback()

    assert sorted(results) == [200, 412]


def test_of_two_writers_who_saw_the_same_version_the_second_is_refused(account, race, holder):
    acts.put(account, 1)
    hold(holder, account.pk)

    with race.started(write_over, [(account.pk, "a"), (account.pk, "b")]) as results:
        wait_for(holder, 2)
        holder.rollback()

    assert sorted(results) == ["2", "StaleVersion"]


def write_over(account_id: int, value: str) -> str:
    return str(acts.put(account_id, value, expected=1).version)


def test_first_writes_of_one_name_at_once_become_versions_1_to_8(account, race):
    for key in ("a", "b", "c"):
        results = race.run(write_first, [(account.pk, key, number) for number in range(PROCESSES)])
        assert sorted(results) == list(range(1, PROCESSES + 1))


def write_first(account_id: int, key: str, value: int) -> int:
    return acts.put(account_id, value, key=key).version


def test_who_publishes_while_another_writes_the_shared_entry_writes_its_next_version(account, race, holder):
    acts.put(account, "mine", shared=False)
    hold(holder, account.pk)

    with race.started(publish, [(account.pk, 0, "ours")]) as results:
        wait_for(holder, 1)
        acts.put(account, "somebody's", by=acts.BOB)
        holder.rollback()

    assert results == [2]
    shared = acts.entry(account, by=acts.BOB)
    assert (shared.value, shared.version) == ('"ours"', 2)
    assert acts.entry(account).value == '"mine"'


def publish(account_id: int, _: int, value: str) -> int:
    return acts.put(account_id, value).version


def test_two_who_publish_at_once_get_one_shared_entry(account, race):
    for who in range(PROCESSES):
        acts.put(account, "mine", by=f"agent/{who}", shared=False)

    results = race.run(publish_as, [(account.pk, who) for who in range(PROCESSES)])

    shared = acts.entry(account, by="agent/else")
    assert shared.version == max(results)
    owners = "SELECT owner FROM memories_entry WHERE account_id = %s AND owner = ''"
    assert acts.rows_of(owners, account.pk) == [("",)]


def publish_as(account_id: int, who: int) -> int:
    return acts.put(account_id, f"of {who}", by=f"agent/{who}").version


def test_two_identical_outcomes_at_once_count_once(account, race):
    acts.put(account, confidence=0.7)

    results = race.run(report_once, [(account.pk,)] * PROCESSES)

    assert sorted(repeated for repeated, _ in results) == [False] + [True] * (PROCESSES - 1)
    assert len({tuple(entries) for _, entries in results}) == 1
    assert acts.entry(account).state.outcome_count == 1


def report_once(account_id: int) -> tuple[bool, list[int]]:
    done = acts.told(account_id, "DEP-1", "failure")
    return done.repeated, list(done.made)


def test_outcomes_over_the_same_entries_in_any_order_do_not_deadlock(account, race):
    keys = [f"k{number}" for number in range(6)]
    for key in keys:
        acts.put(account, key=key, confidence=0.7)
    orders = [[f"shop/{key}" for key in keys[turn % 6 :] + keys[: turn % 6]] for turn in range(PROCESSES)]

    race.run(report_over, [(account.pk, who, order) for who, order in enumerate(orders)])

    assert {acts.entry(account, key=key).state.outcome_count for key in keys} == {PROCESSES * 5}


def report_over(account_id: int, who: int, keys: list[str]) -> None:
    for number in range(5):
        acts.told(account_id, f"{who}-{number}", "success", *keys)


def test_a_write_and_outcomes_at_once_are_all_there(account, race):
    entry_id = acts.put(account, 0, confidence=0.7).entry_id

    race.run(write_or_report, [(account.pk, who) for who in range(PROCESSES)])

    assert versions_of(account.pk, entry_id) == list(range(1, PROCESSES * 10 + 2))
    counted = "SELECT count(*) FROM memories_effect WHERE account_id = %s AND version_made IS NOT NULL"
    assert acts.rows_of(counted, account.pk) == [(PROCESSES * 5,)]
    head = acts.head(account, entry_id)
    after = "SELECT count(*) FROM memories_effect WHERE account_id = %s AND version_made > %s"
    claimed = "SELECT max(number) FROM memories_entryversion WHERE account_id = %s AND change = 'written'"
    ((last,),) = acts.rows_of(claimed, account.pk)
    assert acts.rows_of(after, account.pk, last) == [(head.state.outcome_count,)]


def write_or_report(account_id: int, who: int) -> None:
    for number in range(10):
        if (who + number) % 2:
            acts.put(account_id, [who, number], confidence=0.7)
        else:
            acts.told(account_id, f"{who}-{number}", "success")


def test_two_calls_with_one_idempotency_key_in_flight_are_one_answer_and_one_409(account, race, holder, api_key):
    acts.put(account, 1)
    hold(holder, account.pk)
    body = json.dumps({"entity_path": "shop", "key": "retry", "value": 2})
    call = (api_key, "entries", body, {"Idempotency-Key": "once"})

    with race.started(post, [call]) as first:
        wait_for(holder, 1)
        assert race.run(post, [call]) == [409]
        holder.rollback()

    assert first == [200]
    assert race.run(post, [call]) == [200]
    assert acts.entry(account).version == 2


def test_publishing_with_an_idempotency_key_while_another_writes_the_shared_entry_is_no_fault(
    account, race, holder, api_key
):
    acts.put(account, "mine", shared=False)
    hold(holder, account.pk)
    body = json.dumps({"entity_path": "shop", "key": "retry", "value": "ours", "agent_id": acts.ADA})

    with race.started(post, [(api_key, "entries", body, {"Idempotency-Key": "once"})]) as results:
        wait_for(holder, 1)
        acts.put(account, "somebody's", by=acts.BOB)
        holder.rollback()

    assert results == [200]
    assert acts.entry(account, by=acts.BOB).version == 2


def test_recalls_flushed_by_many_processes_add_up(account, race):
    ids = [acts.put(account, key=f"k{number}").entry_id for number in range(5)]

    race.run(flush_many, [(account.pk, who, ids) for who in range(PROCESSES)])

    counts = "SELECT DISTINCT recall_count FROM memories_recall WHERE account_id = %s"
    assert acts.rows_of(counts, account.pk) == [(PROCESSES * 20,)]
    readings = "SELECT sum(count)::int, count(*)::int FROM memories_reading WHERE account_id = %s"
    assert acts.rows_of(readings, account.pk) == [(PROCESSES * 20 * 5, PROCESSES * 5)]


def flush_many(account_id: int, who: int, ids: list[int]) -> None:
    # In an order of its own, so that two batches would deadlock if the statement did not put them in order.
    ordered = ids if who % 2 else ids[::-1]
    for _ in range(20):
        reads = [Read(entry_id, 1, f"agent/{who}", "", acts.NOON, 200) for entry_id in ordered]
        recalls.write(account_id, DEFAULT, reads)


def test_readers_do_not_wait_for_a_writer(account, holder, bot, reviewer):
    bot.write("shop", "retry", "old")
    entry_id = acts.entry(account, now=timezone.now()).entry_id
    bot.write("shop", "retry", "new")
    hold(holder, account.pk)
    holder.execute("UPDATE memories_entry SET confidence = 0 WHERE account_id = %s", [account.pk])
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '1s'")

    name = {"entity_path": "shop", "key": "retry"}
    answers = [
        bot.get("entries/shop/retry"),
        bot.get("entries"),
        bot.get("entries", include_superseded="true"),
        bot.post("search", {"query": "retry"}),
        *(bot.get(route, **name) for route in ("entry", "history", "diff", "why")),
        *(bot.get(route) for route in ("stats", "entities", "outcomes", "change-sets")),
        reviewer.post("rollback", {**name, "to_version": 1, "preview": True}),
        bot.write("shop", "neighbour", 1, include_scope=True),
    ]
    recalls.write(account.pk, DEFAULT, [Read(entry_id, 2, "agent/ada", "", acts.NOON, 200)])

    assert {answer.status_code for answer in answers} == {200}
    assert answers[0].json()["confidence"] == 1.0
    with connection.cursor() as cursor:
        cursor.execute("RESET lock_timeout")


def test_a_job_that_runs_elsewhere_is_not_run_again(account, holder):
    holder.execute("SELECT pg_advisory_lock(%s, %s)", [jobs.LOCKS["retier"], account.pk])
    with jobs.alone("retier", account.pk) as held:
        assert not held
    holder.execute("SELECT pg_advisory_unlock(%s, %s)", [jobs.LOCKS["retier"], account.pk])
    with jobs.alone("retier", account.pk) as held:
        assert held

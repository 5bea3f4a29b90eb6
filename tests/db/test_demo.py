"""manage.py seed_demo: six weeks of agent life, once, whole, and gone when asked."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from memories import reads
from memories.checking import verify_reads
from memories.checking.verify_reads import Tally
from memories.entry import history
from memories.heads import Name
from memories.rows import Row
from memories.viewers import person
from senselab.accounts import services as accounts
from senselab.accounts.models import Account, Membership, Person, Role
from senselab.demo import lessons
from senselab.demo.cast import AGENTS, SEARCH_TUNER
from senselab.demo.events import Task, Wrote
from senselab.demo.poison import DAY, INVENTED, OVERWRITTEN
from senselab.demo.script import DAYS, script
from senselab.demo.seeding import SLUG

MONDAY = datetime(2026, 10, 19, 11, 7, tzinfo=UTC)
WITH_ACCOUNT = """
    SELECT c.table_name FROM information_schema.columns c
     WHERE c.column_name = 'account_id' AND c.table_schema = current_schema() ORDER BY 1
"""


@pytest.fixture(scope="module")
def people(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, Person]]:
    """Somebody of each role somewhere, and somebody of none; all were there before the demo."""
    with django_db_blocker.unblock():
        elsewhere = accounts.create_account("before-the-demo", name="Before the demo")
        found = {name: accounts.create_person(f"{name}-of-old", password="-") for name in (*Role.values, "nobody")}
        for role in Role.values:
            accounts.give_role(found[role], elsewhere, Role(role))
        yield found
        elsewhere.delete()
        Person.objects.filter(pk__in=[one.pk for one in found.values()]).delete()


@pytest.fixture(scope="module")
def demo(people: dict[str, Person], django_db_blocker: Any) -> Iterator[Account]:
    """The demo in full size, made once for all tests here."""
    with django_db_blocker.unblock():
        call_command("seed_demo", stdout=io.StringIO())
        yield accounts.find_account(SLUG)
        call_command("seed_demo", remove=True, stdout=io.StringIO())


pytestmark = pytest.mark.django_db


def count(account: Account, table: str, *, what: str = "count(*)", where: str = "TRUE") -> Any:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {what} FROM {table} WHERE account_id = %s AND {where}", [account.pk])
        return cursor.fetchone()[0]


def groups(account: Account, table: str, column: str) -> dict[Any, int]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column}, count(*) FROM {table} WHERE account_id = %s GROUP BY 1", [account.pk])
        return dict(cursor.fetchall())


def entry(account: Account, path: str, key: str) -> Row:
    found = history.head(person(account), "main", Name(path, key), "")
    assert found is not None
    return found


def versions(account: Account, path: str, key: str) -> list[Row]:
    return reads.versions(person(account), entry(account, path, key).entry_id)


def said(stdout: io.StringIO) -> str:
    return " ".join(stdout.getvalue().split())


def test_it_is_as_large_as_promised(demo: Account) -> None:
    paths = groups(demo, "memories_entry", "entity_path")

    assert count(demo, "memories_entry") >= 400
    assert count(demo, "outcomes_outcome") >= 1_500
    assert len([path for path in paths if path.count("/") >= 1]) >= 12
    assert set(groups(demo, "memories_entry", "agent_id")) == set(AGENTS)
    assert len(AGENTS) == 5


def test_it_shows_every_status_every_verdict_and_every_type(demo: Account) -> None:
    assert set(groups(demo, "memories_entry", "status")) == {"active", "under_review", "superseded", "archived"}
    assert set(groups(demo, "memories_entry", "evidence_status")) == {
        "untested", "validated", "contested", "discredited",
    }  # fmt: skip
    assert set(groups(demo, "memories_entry", "memory_type")) == {"fact", "belief", "experience", "procedure"}
    assert groups(demo, "memories_entry", "tier")[1] == 50
    assert set(groups(demo, "outcomes_outcome", "outcome_type")) >= {
        "success", "clean_deploy", "minor_failure", "regression", "failure", "p2_incident", "critical_failure",
    }  # fmt: skip


def test_it_has_private_pinned_expiring_and_expired_entries_artifacts_and_attempts(demo: Account) -> None:
    assert count(demo, "memories_entry", where="owner <> ''") >= 5
    assert count(demo, "memories_entry", where="pinned") >= 4
    assert count(demo, "memories_entry", where="status = 'active' AND ttl_at < now() + interval '7 days'") >= 3
    assert count(demo, "memories_entryversion", where="change = 'expired'") >= 8
    assert count(demo, "memories_entryversion", where="change = 'decayed'") >= 8
    assert count(demo, "memories_claim", where="is_artifact") >= 6
    assert count(demo, "memories_claim", where="artifact_refs <> '[]'") >= 2
    assert count(demo, "outcomes_outcome", where="attempts <> '[]'") >= 20
    assert count(demo, "outcomes_outcome", where="verified_by <> ''") >= 200
    assert count(demo, "memories_effect", where="step > 0") >= 20


@pytest.mark.parametrize("prefix", ["pattern-", "risk-", "decision-", "task-summary-"])
def test_its_keys_carry_the_prefixes_that_are_labels(demo: Account, prefix: str) -> None:
    assert count(demo, "memories_entry", where=f"starts_with(key, '{prefix}')") >= 8


def test_its_values_are_texts_and_structures_short_and_long_in_many_scripts(demo: Account) -> None:
    assert count(demo, "memories_claim", where="value LIKE '\"%%'") >= 100
    assert count(demo, "memories_claim", where="value LIKE '{%%'") >= 100
    assert count(demo, "memories_claim", where="length(value) > 2500") >= 1
    for letters in ("[а-я]", "[ぁ-ん]", "[一-龥]", "[ا-ي]", "[א-ת]", "[अ-ह]", "[ąęółż]", "[äöüß]"):
        assert count(demo, "memories_claim", where=f"value ~ '{letters}'") >= 1, letters
    assert count(demo, "memories_claim", where="value LIKE '%%\"steps\"%%'") >= 20


def test_everything_in_it_fits(demo: Account) -> None:
    tally = Tally()

    assert list(verify_reads.account_findings(demo, tally)) == []
    assert (tally.entries, tally.unknown) == (count(demo, "memories_entry"), 0)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("memories_entryversion", "at"),
        ("memories_effect", "at"),
        ("memories_claim", "written_at"),
        ("memories_changeset", "at"),
        ("memories_reading", "last_at"),
        ("outcomes_outcome", "committed_at"),
        ("outcomes_trace", "created_at"),
        ("memories_entry", "accessed_at"),
    ],
)
def test_its_six_weeks_end_now(demo: Account, table: str, column: str) -> None:
    first, last = (count(demo, table, what=f"{end}({column})") for end in ("min", "max"))

    assert last <= timezone.now()
    assert last > timezone.now() - timedelta(days=1)
    assert timedelta(days=DAYS - 3) < last - first <= timedelta(days=DAYS)


def test_versions_come_about_in_the_order_of_their_numbers(demo: Account) -> None:
    sql = """
        SELECT count(*) FROM memories_entryversion v
          JOIN memories_entryversion w ON w.account_id = v.account_id AND w.entry_id = v.entry_id
         WHERE v.account_id = %s AND w.number = v.number + 1 AND w.at < v.at
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, [demo.pk])
        assert cursor.fetchone() == (0,)


def test_every_agent_has_read_something(demo: Account) -> None:
    assert set(groups(demo, "memories_reading", "agent_id")) == set(AGENTS)
    assert count(demo, "memories_recall", what="sum(recall_count)") == count(
        demo, "memories_reading", what="sum(count)"
    )


def test_a_rule_stops_working_on_day_20_and_is_replaced(demo: Account) -> None:
    told = versions(demo, "shop/payments", "refund-through-gateway")
    old = told[-1].state
    new = entry(demo, "shop/payments", "refund-through-gateway-v2").state
    began = told[0].written_at

    failed = [row for before, row in pairwise(told) if row.state.failure_count > before.state.failure_count]
    assert failed[0].state.last_outcome_at is not None
    assert round((failed[0].state.last_outcome_at - began) / timedelta(days=1)) == 20
    assert failed[0].state.success_count == 14
    assert (old.status, old.evidence_status) == ("superseded", "discredited")
    assert old.superseded_by == "shop/payments/refund-through-gateway-v2"
    assert (new.status, new.evidence_status) == ("active", "validated")


def test_a_hasty_rewrite_is_discredited_as_in_the_book(demo: Account) -> None:
    told = versions(demo, "shop/checkout-service", "retry-pattern")

    assert [round(row.state.confidence, 3) for row in told[14:]] == [0.8, 0.831, 0.711, 0.4]
    assert told[-1].state.evidence_status == "discredited"
    marks = history.landmarks(person(demo), told[-1].entry_id)
    recommended = marks.recommended("discredited")
    assert recommended is not None
    assert recommended.number == 14
    readers = history.readers(
        person(demo), told[-1].entry_id, first=15, last=18, since=told[14].written_at, until=timezone.now()
    )
    assert len(readers) >= 3


def test_the_poisoned_agent_was_undone_rolled_back_or_is_in_doubt(demo: Account) -> None:
    undone = count(demo, "memories_changeset", where="kind = 'undo' AND actor = 'mira'")
    back = [wrong for wrong in OVERWRITTEN if wrong.until is not None]
    left = [wrong for wrong in OVERWRITTEN if wrong.until is None]

    assert undone >= 3
    for wrong in back:
        row = entry(demo, wrong.path, wrong.key)
        assert row.state.status == "active"
        assert row.agent_id != SEARCH_TUNER or row.written_at < timezone.now() - timedelta(days=DAYS - DAY + 0.1)
    states = [entry(demo, wrong.path, wrong.key).state for wrong in left]
    states += [entry(demo, path, key).state for path, key, _ in INVENTED]
    doubted = [s for s in states if s.status in {"under_review", "archived"} or s.evidence_status == "discredited"]
    assert len(doubted) >= 6


def test_its_agents_say_who_they_are_and_tell_of_their_tasks(demo: Account) -> None:
    assert count(demo, "outcomes_trace") >= count(demo, "outcomes_outcome") - 5
    assert count(demo, "outcomes_trace", where="body IS NOT NULL AND tool_calls > 0") >= 300
    assert count(demo, "outcomes_trace", where="errors > 0") >= 30
    assert count(demo, "outcomes_edge", where="relation = 'learned_from'") >= 5
    assert count(demo, "outcomes_event", where="event_type = 'cross_agent_read'") >= 100
    assert count(demo, "accounts_agent", where="profile ->> 'description' <> ''") == len(AGENTS)


def test_a_second_run_adds_nothing_and_says_so(demo: Account) -> None:
    before = count(demo, "memories_entryversion")
    out = io.StringIO()

    call_command("seed_demo", stdout=out)

    assert "The demo is there already" in said(out)
    assert "Nothing was added" in said(out)
    assert count(demo, "memories_entryversion") == before


def test_everybody_who_was_there_gets_the_role_they_have_elsewhere(demo: Account, people: dict[str, Person]) -> None:
    roles = dict(Membership.objects.filter(account=demo).values_list("person_id", "role"))

    assert {name: roles[one.pk] for name, one in people.items()} == {
        "viewer": "viewer",
        "reviewer": "reviewer",
        "admin": "admin",
        "nobody": "viewer",
    }


def test_removing_it_leaves_no_row_of_it_and_touches_nobody_elses(demo: Account, people: dict[str, Person]) -> None:
    other = accounts.find_account("before-the-demo")
    accounts.create_key(demo, name="somebody tried it")
    out = io.StringIO()

    call_command("seed_demo", remove=True, stdout=out)

    assert said(out) == "The demo is gone, and everything in it."
    with connection.cursor() as cursor:
        cursor.execute(WITH_ACCOUNT)
        tables = [table for (table,) in cursor.fetchall()]
    assert len(tables) >= 15
    assert {table: rows for table in tables if (rows := count(demo, table))} == {}
    assert not Account.objects.filter(slug=SLUG).exists()
    assert Membership.objects.filter(account=other).count() == 3
    out = io.StringIO()
    call_command("seed_demo", remove=True, stdout=out)
    assert said(out) == "There is no demo; nothing was removed."


def test_an_account_of_its_name_that_somebody_made_is_left_alone(demo: Account) -> None:
    Account.objects.filter(pk=demo.pk).update(name="Demonstrations")

    for options in ({}, {"remove": True}):
        with pytest.raises(CommandError, match="left alone"):
            call_command("seed_demo", **options)

    assert count(demo, "memories_entry") >= 400


def test_the_script_follows_from_its_seed_and_its_start_alone() -> None:
    assert script(MONDAY) == script(MONDAY)
    assert script(MONDAY, seed=1) != script(MONDAY, seed=2)


def test_the_script_is_in_order_and_within_its_days() -> None:
    moments = [event.at for event in script(MONDAY)]

    assert moments == sorted(moments)
    assert moments[0] >= 0
    assert moments[-1] <= DAYS


def test_nobody_relies_on_what_is_not_written_yet() -> None:
    written: set[str] = set()
    for event in script(MONDAY):
        if isinstance(event, Wrote):
            written.add(f"{event.path}/{event.key}")
        elif isinstance(event, Task):
            assert {relied.entry_key for relied in event.wanted} <= written, event


def test_a_share_of_the_tasks_keeps_every_lesson_and_story() -> None:
    whole, tenth = (script(MONDAY, share=share) for share in (1.0, 0.1))

    assert sum(isinstance(event, Task) for event in tenth) < sum(isinstance(event, Task) for event in whole) / 4
    keys = {event.key for event in tenth if isinstance(event, Wrote)}
    assert {lesson.key for lesson in lessons.lessons()} <= keys


def test_a_line_with_a_field_that_no_lesson_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no lesson has colour"):
        lessons.lesson_of("shop", '{"key": "a", "type": "fact", "value": 1, "colour": "red"}')

"""The nightly check: what was altered behind the product's back is named on the run, by entry and version."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from django_q.models import Schedule

from memories import jobs
from memories.checking import nightly
from memories.models import JobRun
from tests.db import acts
from tests.db.acts import NOON

DAY = timedelta(days=1)


def alter(account, what="confidence = 0.99", where="number = 2"):
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE memories_entryversion DISABLE TRIGGER ALL")
        cursor.execute(f"UPDATE memories_entryversion SET {what} WHERE account_id = %s AND {where}", [account.pk])
        cursor.execute("ALTER TABLE memories_entryversion ENABLE TRIGGER ALL")


@pytest.fixture
def learned(account):
    acts.put(account, {"most": 3}, confidence=0.7)
    acts.told(account, "task-1", "success", now=NOON + DAY)
    acts.put(account, "other", key="calm")
    return account


def last(account):
    (found,) = nightly.last_checks([account.pk])
    return found


def test_what_nobody_touched_fits(learned):
    jobs.verify()
    checked = last(learned)
    assert (checked.versions, checked.count, checked.first) == (3, 0, [])
    run = JobRun.objects.get(account_id=learned.pk, job="verify")
    assert (run.state, run.total, run.terms["entries"]) == ("done", 3, 2)


def test_an_altered_version_is_named_with_its_entry(learned):
    alter(learned)
    jobs.verify()
    checked = last(learned)
    assert checked.count >= 2
    assert "shop/retry v2" in {one.place for one in checked.first}
    assert all("shop/calm" not in one.where for one in checked.first)


def test_the_overview_names_the_entry_and_the_version(learned, vera, client_of):
    alter(learned)
    jobs.verify()
    page = client_of(vera).get("/").content.decode()
    assert "shop/retry v2 was altered behind our back" in page
    assert "shop/calm was altered" not in page


def test_ready_says_which_entry_and_version_until_a_check_finds_nothing(learned):
    def integrity():
        told = Client().get("/readyz").json()
        return told["checks"]["integrity"], " ".join(told["reasons"])

    jobs.verify()
    assert integrity()[0] == "ok"
    alter(learned)
    jobs.verify()
    state, words = integrity()
    assert state == "failing"
    assert f"{learned.slug}: shop/retry v2" in words


def test_the_next_check_that_finds_nothing_ends_the_alarm(learned):
    alter(learned)
    jobs.verify()

    before = acts.rows_of("SELECT confidence FROM memories_entry WHERE account_id = %s AND key = 'retry'", learned.pk)
    alter(learned, what=f"confidence = {before[0][0]!r}")
    jobs.verify()
    assert last(learned).count == 0
    assert JobRun.objects.filter(account_id=learned.pk, job="verify").count() == 2


def test_no_check_yet_is_no_check(account):
    assert nightly.last_checks([account.pk]) == []


def test_a_check_that_somebody_cancels_says_nothing_about_the_entries(learned, monkeypatch):
    def stopped(self, looked):
        raise jobs.runs.Cancelled

    monkeypatch.setattr(jobs.telling.Telling, "__call__", stopped)
    jobs.verify()
    assert nightly.last_checks([learned.pk]) == []
    assert JobRun.objects.get(account_id=learned.pk, job="verify").state == "cancelled"


def test_it_is_due_at_night_and_may_take_its_time(db):
    call_command("sync_schedules")
    schedule = Schedule.objects.get(name="verify")
    assert schedule.next_run.astimezone(UTC).hour == 2
    assert timezone.now() < schedule.next_run <= timezone.now() + DAY
    assert schedule.kwargs == "q_options={'timeout': 21600}"
    assert Schedule.objects.get(name="fold").kwargs is None
    assert schedule.next_run > datetime(2026, 1, 1, tzinfo=UTC)

"""Whether the worker is at work is said in plain words: on the pages, by the API, and at /readyz."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from django_q.models import OrmQ, Schedule, Task

from memories import jobs
from memories.jobs import health
from memories.models import JobRun

MINUTE = timedelta(minutes=1)

CHECKS = ("database", "migrations", "worker", "queue", "disk", "backup", "integrity")


@pytest.fixture
def now():
    return timezone.now()


@pytest.fixture
def scheduled(empty_queue, now):
    """Schedules as at the first start, all due in a minute."""
    call_command("sync_schedules")
    Schedule.objects.update(next_run=now + MINUTE)


def ran(stopped):
    Task.objects.create(id="1", name="one", func="memories.jobs.tiers", started=stopped, stopped=stopped, success=True)


def test_before_the_first_start_it_says_how_to_start(db, now):
    (words,) = health.worker_words(now)
    assert words.startswith("No job is scheduled")


def test_a_worker_in_time_is_not_mentioned(scheduled, now):
    ran(now - MINUTE)
    assert health.worker_words(now) == []


def test_a_worker_that_is_down_is_said_with_since_when(scheduled, now):
    ran(now - 12 * MINUTE)
    Schedule.objects.update(next_run=now - 11 * MINUTE)
    (words,) = health.worker_words(now)
    due = f"{len(jobs.SCHEDULES)} jobs are due"
    assert words.startswith(f"The worker is down: nothing has run for 12 min, and {due}; start it")


def test_a_worker_that_never_ran_is_said_so(scheduled, now):
    Schedule.objects.filter(name="decay").update(next_run=now - 4 * MINUTE)
    (words,) = health.worker_words(now)
    assert "it has not run anything yet, and 1 job is due" in words


def test_a_worker_that_is_late_is_said_with_what_waits(scheduled, now):
    ran(now)
    OrmQ.objects.create(key="senselab", payload="x", lock=now - 5 * MINUTE)
    assert health.worker_words(now) == ["The worker is late: 1 job is waiting for more than 3 min."]


def test_a_job_that_failed_three_times_is_named_with_its_error_to_its_account_alone(
    scheduled, account, other_account, now
):
    JobRun.objects.create(
        account=account,
        job="decay",
        state="failed",
        failures=3,
        error="DataError: odd",
        created_at=now,
        finished_at=now,
    )
    (words,) = health.words(account.pk, now)
    assert words.startswith("Decay failed 3 times in a row (DataError: odd). It rests until ")
    assert health.words(other_account.pk, now) == []


def test_ready_when_everything_works(scheduled, now):
    ran(now)
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()) == (
        200,
        {"status": "ready", "checks": dict.fromkeys(CHECKS, "ok"), "reasons": []},
    )


def test_not_ready_without_a_worker_and_the_reason_is_told(scheduled, now):
    Schedule.objects.update(next_run=now - 10 * MINUTE)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {**dict.fromkeys(CHECKS, "ok"), "worker": "failing"}
    assert "The worker is down" in answer.json()["reasons"][0]
    assert Client().get("/health").status_code == 200


def test_not_ready_while_the_queue_is_old_though_the_worker_is_at_work(scheduled, now):
    ran(now)
    OrmQ.objects.create(key="senselab", payload="x", lock=now - 5 * MINUTE)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {**dict.fromkeys(CHECKS, "ok"), "queue": "failing"}
    assert answer.json()["reasons"] == ["The worker is late: 1 job is waiting for more than 3 min."]


def test_not_ready_while_a_migration_is_missing(scheduled, now):
    ran(now)
    with connection.cursor() as cursor:
        newest = "SELECT max(name) FROM django_migrations WHERE app = 'memories'"
        cursor.execute(f"DELETE FROM django_migrations WHERE app = 'memories' AND name = ({newest})")
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["migrations"] == "failing"
    assert "not applied" in answer.json()["reasons"][0]


def test_not_ready_without_a_database_and_nothing_of_its_error_is_told(scheduled):
    def gone(*_):
        raise OperationalError("password of senselab at 10.0.0.7")

    with connection.execute_wrapper(gone):
        answer = Client().get("/readyz")
    assert answer.status_code == 503
    unknown = dict.fromkeys(CHECKS, "unknown")
    assert answer.json()["checks"] == {**unknown, "database": "failing", "disk": "ok"}
    assert "10.0.0.7" not in answer.content.decode()

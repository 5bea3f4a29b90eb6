"""What Prometheus reads, for this machine or with a token; what /readyz says of checks, disk and copies."""

import json
import shutil
from collections import namedtuple
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from django_q.models import Schedule
from prometheus_client.parser import text_string_to_metric_families

from memories import jobs
from memories.models import JobRun
from senselab.survival import copies, scheduled
from senselab.survival.copies import Note
from tests.db import acts

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def read(db):
    def told(**headers):
        answer = Client().get("/metrics", headers=headers)
        assert answer.status_code == 200
        families = text_string_to_metric_families(answer.content.decode())
        return {(one.name, *sorted(one.labels.items())): one.value for family in families for one in family.samples}

    return told


def of(account, name, **labels):
    return (name, *sorted({"account": account.slug, **labels}.items()))


def test_entries_queues_and_jobs_are_told_by_account(read, account, empty_queue):
    acts.put(account, 1)
    acts.put(account, 2, key="doubtful", confidence=0.2)
    jobs.tiers()
    told = read()
    assert told[of(account, "senselab_entries_by_status", status="active")] == 1
    assert told[of(account, "senselab_entries_by_status", status="under_review")] == 1
    assert told[of(account, "senselab_entries_by_evidence", evidence="untested")] == 2
    assert sum(told[of(account, "senselab_entries_by_tier", tier=tier)] for tier in ("hot", "warm", "cold")) == 2
    assert told[of(account, "senselab_review_oldest_seconds")] > 0
    assert told[of(account, "senselab_job_failures", job="retier")] == 0
    assert told[of(account, "senselab_job_seconds", job="retier")] >= 0
    assert told[("senselab_queue_tasks",)] == 0
    assert told[("senselab_disk_free_bytes",)] > 0


def test_requests_are_counted_by_route_and_status(read, account, api_key):
    route = ("method", "GET"), ("route", "/health"), ("status", "200")
    before = read().get(("senselab_http_requests_total", *route), 0)
    Client().get("/health")
    Client().get("/health")
    told = read()
    assert told[("senselab_http_requests_total", *route)] == before + 2
    assert told[("senselab_http_request_seconds_count", ("route", "/health"))] >= 2
    Client().get("/nowhere/at/all")
    assert read()[("senselab_http_requests_total", ("method", "GET"), ("route", "none"), ("status", "404"))] >= 1


def test_from_elsewhere_nobody_reads_them_without_the_token(db, settings):
    assert Client(REMOTE_ADDR="10.1.2.3").get("/metrics").status_code == 403
    assert Client().get("/metrics", headers={"X-Forwarded-For": "10.1.2.3"}).status_code == 403
    settings.METRICS_TOKEN = "open sesame"
    assert Client().get("/metrics").status_code == 403
    assert Client().get("/metrics", headers={"Authorization": "Bearer open sesam"}).status_code == 403
    there = Client(REMOTE_ADDR="10.1.2.3").get("/metrics", headers={"Authorization": "Bearer open sesame"})
    assert there.status_code == 200


def test_ten_times_the_accounts_ask_no_more_of_the_database(db, account, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from senselab.accounts import services as accounts

    def queries():
        with CaptureQueriesContext(
            connection,
        ) as found:
            Client().get("/metrics")
        return len(found)

    acts.put(account, 1)
    few = queries()
    for number in range(10):
        acts.put(accounts.create_account(f"{account.slug}-{number}"), 1)
    assert queries() == few


@pytest.fixture
def working(db):
    call_command("sync_schedules")
    Schedule.objects.update(next_run=timezone.now() + timedelta(minutes=5))


def reasons(**extra):
    answer = Client(**extra).get("/readyz").json()
    return answer["checks"], " ".join(answer["reasons"])


def test_what_the_nightly_check_found_is_told_by_name_to_this_machine_only(working, account):
    found = [["shop/retry", 2, "its seal does not follow"]]
    now = timezone.now()
    JobRun.objects.create(
        account=account, job="verify", state="done", changed=1, looked=3, terms={"found": found}, created_at=now,
        started_at=now, finished_at=now,
    )  # fmt: skip
    checks, words = reasons()
    assert checks["integrity"] == "failing"
    assert "1 thing does not fit" in words
    assert f"{account.slug}: shop/retry v2 (its seal does not follow)" in words
    _, words = reasons(REMOTE_ADDR="10.1.2.3")
    assert "1 thing does not fit" in words
    assert "retry" not in words


def test_a_disk_that_fills_up_is_told(working, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10, 10, 100 * 1024**2))
    checks, words = reasons()
    assert checks["disk"] == "failing"
    assert "100 MB left" in words


def test_copies_that_are_wanted_and_missing_or_old_are_told(working, settings, tmp_path):
    settings.BACKUP_DIR, settings.BACKUP_HOURS = tmp_path, 24
    assert reasons()[0]["backup"] == "failing"
    path = copies.path_for(tmp_path, timezone.now())
    path.write_bytes(b"x")
    made = timezone.now() - timedelta(hours=50)
    copies.write_note(path, Note(made, 1, "", 180_000, proven_at=made))
    assert "50 hours old" in reasons()[1]
    copies.write_note(path, Note(timezone.now(), 1, "", 180_000, proven_at=made))
    assert reasons()[0]["backup"] == "ok"
    settings.BACKUP_HOURS = 0
    path.unlink()
    assert reasons()[0]["backup"] == "ok"


def test_copies_are_scheduled_when_they_are_wanted(db, settings):
    assert scheduled.schedules() == {}
    settings.BACKUP_HOURS = 6
    call_command("sync_schedules")
    schedule = Schedule.objects.get(name="backup")
    assert (schedule.minutes, schedule.func) == (360, "senselab.survival.scheduled.backup")
    settings.BACKUP_HOURS = 0
    call_command("sync_schedules")
    assert not Schedule.objects.filter(name="backup").exists()


def test_the_dashboard_asks_only_for_what_is_told(read, account):
    """Names and labels of every query are among those that /metrics says; Prometheus' own checker reads the rest."""
    from tests.db.promql import names_in, queries

    acts.put(account, 1, confidence=0.2)
    jobs.tiers()
    Client().get("/health")
    told = read()
    names = {name for name, *_ in told} | {
        # Only there once something was refused, checked or copied.
        *("senselab_http_refused_total", "senselab_altered", "senselab_backup_timestamp_seconds"),
        "senselab_checked_timestamp_seconds",
    }
    found = queries()
    assert len(found) >= 10
    assert {name for query in found for name in names_in(query)} - names == set()
    assert json.dumps(found)

"""The page of jobs: what each did and will do, what is wrong in plain words, running one now, counting, stopping."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone
from django_q.models import Schedule

from memories import jobs
from memories.models import JobRun
from tests.db import acts
from tests.ui.conftest import Page

MINUTE = timedelta(minutes=1)


@pytest.fixture
def show(client_of, vera):
    def shown(by=vera, htmx=False, **query):
        headers = {"HX-Request": "true"} if htmx else {}
        return Page(client_of(by).get("/jobs/", query, headers=headers))

    return shown


@pytest.fixture
def now():
    return timezone.now()


@pytest.fixture
def in_time(empty_queue, now):
    call_command("sync_schedules")
    Schedule.objects.update(next_run=now + 5 * MINUTE)


def run_of(account, job="decay", **more):
    now = timezone.now()
    known = {"state": "done", "created_at": now, "started_at": now, "finished_at": now + timedelta(seconds=2)}
    return JobRun.objects.create(account=account, job=job, **{**known, **more})


def line(page, word):
    return next(row for row in page.rows("jobs-h") if row.startswith(word))


def test_each_job_tells_its_rhythm_its_last_run_and_its_next(show, in_time, account):
    acts.put(account, 1, ttl_at=timezone.now() + timedelta(milliseconds=1), now=timezone.now() - timedelta(days=1))
    jobs.expire()
    page = show()
    assert "Every job runs in time" in page.text
    expiry = line(page, "Expiry")
    assert "each minute done now 1 looked at 1 changed" in expiry
    assert "twice a minute never yet" in line(page, "Tiers")
    assert "when a policy is saved never yet" in line(page, "Policy")


def test_a_worker_that_is_down_is_said_in_plain_words(show, in_time, now):
    Schedule.objects.update(next_run=now - 9 * MINUTE)
    page = show()
    assert "Something is wrong with the jobs" in page.text
    assert f"The worker is down: it has not run anything yet, and {len(jobs.SCHEDULES)} jobs are due" in page.text
    assert " due " in line(page, "Tiers") + " "


def test_a_job_that_failed_three_times_is_red_with_its_error_and_rests(show, in_time, account):
    run_of(account, state="failed", failures=3, error="DataError: <odd>")
    page = show()
    assert "failed 3 times" in line(page, "Decay")
    assert "rests until" in line(page, "Decay")
    assert "Decay failed 3 times in a row (DataError: <odd>)" in page.text
    assert "&lt;odd&gt;" in page.html


def test_a_run_that_works_tells_share_rate_and_time_left_and_can_be_cancelled(show, in_time, account, ada, now):
    run = run_of(
        account, state="running", looked=250_000, total=1_000_000, started_at=now - 10 * MINUTE, moved_at=now,
        finished_at=None, asked_by="ada",
    )  # fmt: skip
    page = show(by=ada)
    told = line(page, "Decay")
    assert "running 25 % 250,000 of 1,000,000, 417 a second, 30 min left" in told
    assert f'action="/jobs/runs/{run.pk}/cancel/"' in page.html
    assert 'hx-trigger="every 3s"' in page.html
    assert "cancel" not in show().html.lower().split("<main")[1]


def test_runs_are_listed_newest_first_and_narrowed(show, in_time, account):
    run_of(account, changed=3, looked=9)
    run_of(account, "expire", state="failed", failures=1, error="Broken")
    run_of(account, "retier", asked_by="ada", dry=True, changed=7)
    assert [row.split()[0] for row in show().rows("runs-h")[1:]] == ["Tiers", "Expiry", "Decay"]
    assert "dry done 0 looked at would 7 changed 2 s" in show().rows("runs-h")[1]
    assert [row.split()[0] for row in show(kind="failed").rows("runs-h")[1:]] == ["Expiry"]
    assert [row.split()[0] for row in show(kind="changed", job="decay").rows("runs-h")[1:]] == ["Decay"]
    assert show(kind="odd").status == 400
    assert show(cursor="x").status == 400


def test_many_runs_are_paged(show, in_time, account):
    for _ in range(35):
        run_of(account)
    page = show()
    assert len(page.rows("runs-h")) == 31
    (following,) = [address for address in page.links() if "cursor=" in address]
    assert len(show(cursor=following.split("cursor=")[1]).rows("runs-h")) == 6


def test_an_admin_runs_a_job_now_and_counts_what_one_would_do(client_of, ada, account, in_time):
    client = client_of(ada)
    acts.put(account, 1, ttl_at=timezone.now() + timedelta(milliseconds=1), now=timezone.now() - timedelta(days=1))
    answer = client.post("/jobs/expire/run/", {"dry": "1"}, follow=True)
    assert "Expiry: counting what it would do." in answer.content.decode()
    jobs.asked()
    assert "would change 1 of 1" in line(Page(client.get("/jobs/")), "Expiry")
    client.post("/jobs/expire/run/")
    jobs.asked()
    run = JobRun.objects.filter(account_id=account.pk, job="expire", dry=False).get()
    assert (run.state, run.changed, run.asked_by) == ("done", 1, ada.username)


def test_a_run_that_waits_is_cancelled_and_one_that_ended_says_so(client_of, ada, account, in_time):
    client = client_of(ada)
    client.post("/jobs/decay/run/")
    run = JobRun.objects.get(account_id=account.pk)
    assert "stops after its present batch" in client.post(f"/jobs/runs/{run.pk}/cancel/", follow=True).content.decode()
    assert JobRun.objects.get(account_id=account.pk).state == "cancelled"
    assert "That run has ended." in client.post(f"/jobs/runs/{run.pk}/cancel/", follow=True).content.decode()


@pytest.mark.parametrize("address", ["/jobs/decay/run/", "/jobs/runs/1/cancel/"])
def test_who_is_no_admin_sees_no_buttons_and_is_refused(client_of, show, vera, rex, account, in_time, address):
    for person in (vera, rex):
        assert "Run now" not in show(by=person).text
        assert client_of(person).post(address).status_code == 403
    assert not JobRun.objects.filter(account_id=account.pk).exists()


def test_what_is_no_job_or_is_not_run_by_hand_is_not_found(client_of, ada, in_time):
    client = client_of(ada)
    assert client.post("/jobs/dance/run/").status_code == 404
    assert client.post("/jobs/policy/run/").status_code == 404
    assert client.post("/jobs/runs/999999/cancel/").status_code == 404
    assert client.get("/jobs/decay/run/").status_code == 405


def test_another_accounts_runs_are_not_shown(show, in_time, other_account):
    run_of(other_account, state="failed", failures=3, error="their secret")
    page = show()
    assert "their secret" not in page.html
    assert "Every job runs in time" in page.text

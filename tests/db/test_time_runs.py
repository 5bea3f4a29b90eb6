"""What is kept of runs: how they went, that failures rest, that what was asked for is done, once and to its end."""

from datetime import timedelta

import pytest

from memories import jobs
from memories.jobs import catalogue, places
from memories.jobs.runs import INTERRUPTED, Run
from memories.models import JobRun
from memories.services import running
from senselab.accounts.models import Account
from senselab.errors import Conflict, NotFound
from tests.db import acts
from tests.db.acts import NOON
from tests.db.meaning import Meaning, chosen

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
REVIEW = NOON + 85 * DAY


class Broken(Exception):
    """Something went wrong."""


def runs(account, job: str) -> list[JobRun]:
    return list(JobRun.objects.filter(account_id=account.pk, job=job).order_by("id"))


def states(account, job: str) -> list[str]:
    return [run.state for run in runs(account, job)]


@pytest.fixture(autouse=True)
def nothing_of_others_waits(request):
    """What other tests committed and left waiting is none of these; what is `lasting` counts by its account alone."""
    if "lasting" not in request.fixturenames:
        request.getfixturevalue("empty_queue")
        for other in Account.objects.all():
            JobRun.objects.filter(account=other).delete()


@pytest.fixture
def broken(account, monkeypatch):
    """Expiry of this account fails; of all others it works. Call it to mend that."""
    whole = places.transitions

    def fail(job, of, *rest):
        if of.pk == account.pk:
            raise Broken("no such table: \0 tea")
        return whole(job, of, *rest)

    monkeypatch.setattr(places, "transitions", fail)
    return lambda: monkeypatch.setattr(places, "transitions", whole)


def test_a_run_tells_what_it_looked_at_and_changed(db, account, clock):
    acts.fill(account, 5, confidence=0.7)
    clock(REVIEW)
    assert jobs.decay() == 5
    (run,) = runs(account, "decay")
    assert (run.state, run.looked, run.changed, run.failures, run.error) == ("done", 5, 5, 0, "")
    assert (run.started_at, run.finished_at) == (REVIEW, REVIEW)


def test_runs_that_change_nothing_share_one_row(db, account, clock):
    for minute in range(5):
        clock(NOON + minute * timedelta(minutes=1))
        jobs.expire()
    (run,) = runs(account, "expire")
    assert run.started_at == NOON + timedelta(minutes=4)
    acts.put(account, ttl_at=NOON + DAY)
    for hour in (1, 24, 25):
        clock(NOON + hour * HOUR)
        jobs.expire()
    assert [(run.changed, run.started_at) for run in runs(account, "expire")] == [
        (1, NOON + DAY),
        (0, NOON + 25 * HOUR),
    ]


def test_a_run_in_the_row_of_another_begins_from_the_start(db, account, clock):
    acts.fill(account, 3, confidence=0.7)
    for hour, changed in ((0, 0), (1, 0), (24 * 40, 3), (24 * 40 + 1, 0), (24 * 80, 3)):
        clock(NOON + hour * HOUR)
        jobs.decay()
        assert runs(account, "refresh")[-1].changed == changed


def test_runs_are_forgotten_after_a_month_those_that_only_ranked_after_two_days(db, account, clock):
    known = {"account": account, "state": "done", "changed": 1}
    for age in (1, 3, 31):
        for job in ("retier", "decay"):
            JobRun.objects.create(job=job, created_at=NOON - age * DAY, **known)
    JobRun.objects.create(job="retier", asked_by="ada", created_at=NOON - 3 * DAY, **known)
    clock(NOON)
    jobs.fold()
    kept = JobRun.objects.filter(account_id=account.pk).exclude(job="fold").order_by("id")
    assert [(run.job, (NOON - run.created_at).days) for run in kept] == [
        ("retier", 1), ("decay", 1), ("decay", 3), ("retier", 3),
    ]  # fmt: skip


def test_one_accounts_trouble_is_told_and_is_not_the_others(db, account, other_account, broken, clock):
    acts.put(account, ttl_at=NOON + HOUR)
    theirs = acts.put(other_account, ttl_at=NOON + HOUR).entry_id
    clock(NOON + HOUR)
    with pytest.raises(ExceptionGroup) as raised:
        jobs.expire()
    assert [type(error) for error in raised.value.exceptions] == [Broken]
    (run,) = runs(account, "expire")
    assert (run.state, run.failures, run.error) == ("failed", 1, "Broken: no such table:  tea")
    assert acts.head(other_account, theirs).state.status == "archived"


def test_what_failed_three_times_rests_an_hour_then_longer_and_heals_by_itself(db, account, broken, clock):
    acts.put(account, ttl_at=NOON + DAY)
    tried = []
    for minute in range(0, 8 * 60, 10):
        clock(NOON + DAY + timedelta(minutes=minute))
        try:
            jobs.expire()
        except ExceptionGroup:
            tried.append(minute)
    assert tried == [0, 10, 20, 80, 200, 440]
    assert [run.failures for run in runs(account, "expire")] == [1, 2, 3, 4, 5, 6]
    broken()
    clock(NOON + 2 * DAY)
    assert jobs.expire() == 1
    assert runs(account, "expire")[-1].failures == 0


def test_a_failure_between_successes_does_not_add_up(db, account, broken, clock):
    for _ in range(2):
        with pytest.raises(ExceptionGroup):
            jobs.expire()
    broken()
    jobs.expire()
    assert [run.failures for run in runs(account, "expire")] == [1, 2, 0]


def test_a_run_whose_worker_was_killed_is_told_as_interrupted_by_the_next(db, account, clock):
    running = {"state": "running", "created_at": NOON, "started_at": NOON, "moved_at": NOON}
    JobRun.objects.create(account=account, job="decay", **running)
    clock(NOON + HOUR)
    jobs.decay()
    killed, after = runs(account, "decay")
    assert (killed.state, killed.error, killed.failures, killed.finished_at) == ("failed", INTERRUPTED, 1, NOON)
    assert (after.state, after.failures) == ("done", 0)


def test_run_now_runs_and_says_who_asked(db, account, clock):
    acts.put(account, ttl_at=NOON + HOUR)
    clock(NOON + HOUR)
    running.ask(account.pk, "expire", by="ada", now=NOON)
    assert states(account, "expire") == ["waiting"]
    assert jobs.asked() == 1
    assert jobs.asked() == 0
    (run,) = runs(account, "expire")
    assert (run.state, run.asked_by, run.changed) == ("done", "ada", 1)


def test_run_now_does_not_wait_for_a_rest_to_end_and_is_tried_three_times(db, account, broken, clock):
    JobRun.objects.create(account=account, job="expire", state="failed", failures=9, created_at=NOON, finished_at=NOON)
    clock(NOON)
    running.ask(account.pk, "expire", by="ada", now=NOON)
    for failures, state in ((1, "waiting"), (2, "waiting"), (3, "failed")):
        with pytest.raises(ExceptionGroup):
            jobs.asked()
        run = runs(account, "expire")[-1]
        assert (run.state, run.failures) == (state, failures)
    assert jobs.asked() == 0


def test_asking_twice_is_asking_once(db, account):
    first = running.ask(account.pk, "expire", by="ada", now=NOON)
    assert running.ask(account.pk, "expire", by="ada", now=NOON + HOUR) == first
    assert running.ask(account.pk, "expire", by="ada", now=NOON, dry=True) != first


@pytest.fixture
def model():
    with chosen(Meaning()):
        yield


@pytest.mark.parametrize("name", [job.name for job in catalogue.JOBS.values() if job.foresee])
def test_a_dry_run_changes_nothing_and_foresees_what_the_run_does(db, account, clock, name, settings, model):
    settings.IMPORTANCE_EVALUATOR = "memories.services.importance.heuristic"
    acts.fill(account, 20, confidence=0.7)
    acts.fill(account, 7, path="ends", ttl_at=NOON + 86 * DAY)
    acts.fill(account, 3, path="new", now=REVIEW)
    clock(REVIEW + 2 * DAY)
    entries = "SELECT e.*, e.ctid FROM memories_entry e WHERE e.account_id = %s ORDER BY id"
    before = acts.rows_of(entries, account.pk)

    running.ask(account.pk, name, by="ada", now=NOON, dry=True)
    assert jobs.asked() == 0

    dry = runs(account, name)[-1]
    assert acts.rows_of(entries, account.pk) == before
    assert (dry.dry, dry.state) == (True, "done")
    changed = jobs.in_account(name, account, catalogue.JOBS[name].work)
    assert changed == dry.changed > 0


def test_a_run_that_works_is_cancelled_after_its_batch_and_keeps_what_it_did(db, account, clock, monkeypatch):
    monkeypatch.setattr("memories.jobs.places.BATCH", 3)
    monkeypatch.setattr("memories.jobs.runs.TELL_SECONDS", 0)
    acts.fill(account, 9, ttl_at=NOON + HOUR)
    clock(NOON + HOUR)
    whole = places.move

    def move_and_cancel(account_id, *rest):
        moved = whole(account_id, *rest)
        running.cancel(account_id, runs(account, "expire")[0].pk, NOON)
        return moved

    monkeypatch.setattr(places, "move", move_and_cancel)
    assert jobs.expire() == 3
    (run,) = runs(account, "expire")
    assert (run.state, run.looked, run.changed, run.error) == ("cancelled", 3, 3, "")
    monkeypatch.setattr(places, "move", whole)
    assert jobs.expire() == 6


def test_a_run_that_waits_is_cancelled_at_once_one_that_ended_and_a_policy_are_not(db, account, other_account):
    waiting = running.ask(account.pk, "decay", by="ada", now=NOON)
    running.cancel(account.pk, waiting, NOON)
    assert states(account, "decay") == ["cancelled"]
    assert jobs.asked() == 0
    with pytest.raises(Conflict, match="has ended"):
        running.cancel(account.pk, waiting, NOON)
    with pytest.raises(Conflict, match="applied to its end"):
        running.cancel(account.pk, running.ask(account.pk, "policy", by="ada", now=NOON), NOON)
    with pytest.raises(NotFound):
        running.cancel(other_account.pk, waiting, NOON)


def test_a_turn_that_lasts_long_is_ended_and_gone_on_with(db, account, clock, monkeypatch):
    monkeypatch.setattr("memories.jobs.runs.TURN_SECONDS", -1)
    monkeypatch.setattr("memories.jobs.refreshing.BATCH", 10)
    acts.fill(account, 25, confidence=0.7)
    clock(NOON + 40 * DAY)
    running.ask(account.pk, "refresh", by="ada", now=NOON)
    told = []
    for _ in range(4):
        jobs.asked()
        run = runs(account, "refresh")[-1]
        told.append((run.state, run.looked, run.changed))
    assert told == [("waiting", 10, 10), ("waiting", 20, 20), ("done", 25, 25), ("done", 25, 25)]


def test_what_runs_by_itself_runs_to_its_end(db, account, monkeypatch):
    monkeypatch.setattr("memories.jobs.runs.TURN_SECONDS", -1)
    monkeypatch.setattr("memories.jobs.refreshing.BATCH", 10)
    monkeypatch.setattr("memories.jobs.refreshing.MOST", 20)
    acts.fill(account, 25, confidence=0.7)
    run = Run(account.pk)
    jobs.refresh(account, NOON + 40 * DAY, run)
    assert (run.looked, run.changed, run.ended) == (25, 25, True)


def test_two_runs_asked_for_at_once_are_done_by_one_worker_each_once(lasting, account, race):
    acts.fill(account, 30, ttl_at=NOON + HOUR)
    running.ask(account.pk, "expire", by="ada", now=NOON)
    race.run(take_turns, [(account.pk,)] * 4)
    (run,) = runs(account, "expire")
    assert (run.state, run.changed) == ("done", 30)
    versions = "SELECT count(*) FROM memories_entryversion WHERE account_id = %s AND change = 'expired'"
    assert acts.rows_of(versions, account.pk) == [(30,)]


def take_turns(account_id: int) -> int:
    return jobs.asked()

"""What time does follows from the clock and the entries, however often, late or at once it is asked (RULES.md 4, 5)."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone
from django_q.models import Schedule

from memories import jobs, recalls
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from memories.services import ledger
from memories.services.ledger import Move, Next
from tests.db import acts
from tests.db.acts import NOON
from tests.db.racing import PROCESSES

DAY = timedelta(days=1)
SOON = NOON + timedelta(hours=1)
# 0.7 worn down by half every 69 days is below 0.3 from the 85th day on, and below 0.1 from the 194th.
REVIEW, ARCHIVE = NOON + 85 * DAY, NOON + 194 * DAY


def changes(account, entry_id: int) -> list[str]:
    sql = "SELECT change FROM memories_entryversion WHERE account_id = %s AND entry_id = %s ORDER BY number"
    return [change for (change,) in acts.rows_of(sql, account.pk, entry_id)]


def seen(account, entry_id: int) -> tuple:
    columns = "status, version, confidence, freshness, due_at, ttl_at, tier"
    sql = f"SELECT {columns} FROM memories_entry WHERE account_id = %s AND id = %s"
    (row,) = acts.rows_of(sql, account.pk, entry_id)
    return row


def recalled(account, entry_id: int, at: datetime) -> None:
    recalls.write(account.pk, DEFAULT, [Read(entry_id, 1, acts.BOB, "", at, 200)])


class TestTimeToLive:
    def test_the_sweep_writes_one_version_with_confidence_0_that_keeps_the_moment(self, db, account, clock):
        entry_id = acts.put(account, ttl_at=SOON).entry_id
        clock(SOON - timedelta(microseconds=1))
        jobs.expire()
        assert changes(account, entry_id) == ["created"]
        clock(SOON)
        for _ in range(2):
            jobs.expire()
            assert changes(account, entry_id) == ["created", "expired"]
        status, _, confidence, _, due_at, ttl_at, _ = seen(account, entry_id)
        assert (status, confidence, due_at, ttl_at) == ("archived", 0.0, None, SOON)

    def test_an_entry_under_review_and_a_pinned_one_expire_as_well(self, db, account, clock):
        ids = [acts.put(account, key="a", ttl_at=SOON, confidence=0.2).entry_id]
        ids.append(acts.put(account, key="b", ttl_at=SOON, pinned=True).entry_id)
        clock(SOON)
        jobs.expire()
        assert [seen(account, entry_id)[0] for entry_id in ids] == ["archived", "archived"]

    @pytest.mark.parametrize("swept", [True, False], ids=["swept", "not swept"])
    def test_a_write_after_it_is_a_new_claim_without_a_time_to_live(self, db, account, clock, swept):
        entry_id = acts.put(account, "said", ttl_at=SOON, confidence=0.7).entry_id
        acts.told(account, "DEP-1")
        clock(SOON)
        if swept:
            jobs.expire()
        stored = acts.put(account, "said", now=SOON + DAY, confidence=0.6)
        state = stored.state
        assert (stored.entry_id, state.status, state.confidence, state.outcome_count) == (entry_id, "active", 0.6, 0)
        assert state.ttl_at is None
        jobs.expire()
        assert acts.entry(account, now=SOON + DAY).version == stored.version

    @pytest.mark.parametrize("swept", [True, False], ids=["swept", "not swept"])
    def test_an_outcome_after_it_moves_nothing_and_says_why(self, db, account, clock, swept):
        entry_id = acts.put(account, ttl_at=SOON, confidence=0.7).entry_id
        clock(SOON)
        if swept:
            jobs.expire()
        before = seen(account, entry_id)
        done = acts.told(account, "DEP-1", now=SOON)
        assert not done.made
        assert seen(account, entry_id) == before
        skipped = "SELECT skipped, version_made FROM memories_effect WHERE account_id = %s"
        assert acts.rows_of(skipped, account.pk) == [("expired", None)]

    def test_more_than_a_batch_expires_in_one_run(self, db, account, clock, monkeypatch):
        monkeypatch.setattr("memories.jobs.places.BATCH", 3)
        acts.fill(account, 10, ttl_at=SOON)
        clock(SOON)
        assert jobs.expire() == 10
        assert jobs.expire() == 0


class TestDecay:
    def test_a_threshold_is_crossed_at_the_moment_that_was_foretold_and_not_before(self, db, account, clock):
        entry_id = acts.put(account, confidence=0.7).entry_id
        assert seen(account, entry_id)[4] == REVIEW
        clock(REVIEW - timedelta(microseconds=1))
        jobs.decay()
        assert changes(account, entry_id) == ["created"]
        clock(REVIEW)
        for _ in range(2):
            jobs.decay()
            assert changes(account, entry_id) == ["created", "decayed"]
        status, _, confidence, _, due_at, _, _ = seen(account, entry_id)
        assert (status, confidence, due_at) == ("under_review", 0.7, ARCHIVE)

    def test_every_crossing_of_a_long_silence_is_one_version(self, db, account, clock):
        entry_id = acts.put(account, confidence=0.7).entry_id
        for day in range(80, 200, 3):
            clock(NOON + day * DAY)
            jobs.decay()
        assert changes(account, entry_id) == ["created", "decayed", "decayed"]
        assert seen(account, entry_id)[0] == "archived"
        assert acts.entry(account, now=NOON + 200 * DAY).state.confidence == 0.7

    @pytest.mark.parametrize("missed", [timedelta(0), 4 * DAY, 30 * DAY])
    def test_a_run_that_was_missed_changes_nothing_in_the_result(self, db, account, clock, missed):
        entry_id = acts.put(account, confidence=0.7).entry_id
        clock(REVIEW + missed)
        jobs.decay()
        clock(REVIEW + 30 * DAY)
        jobs.decay()
        status, version, confidence, freshness, due_at, _, _ = seen(account, entry_id)
        assert (status, version, confidence, freshness, due_at) == ("under_review", 2, 0.7, 1.0, ARCHIVE)

    def test_whoever_missed_both_lines_is_archived(self, db, account, clock):
        entry_id = acts.put(account, confidence=0.7).entry_id
        clock(ARCHIVE + DAY)
        jobs.decay()
        assert (seen(account, entry_id)[0], seen(account, entry_id)[4]) == ("archived", None)

    def test_an_entry_recalled_meanwhile_is_left_alone_and_gets_its_next_moment(self, db, account, clock):
        entry_id = acts.put(account, confidence=0.7).entry_id
        recalled(account, entry_id, NOON + 50 * DAY)
        clock(REVIEW)
        jobs.decay()
        assert changes(account, entry_id) == ["created"]
        # What 50 days left goes on from there, with a half-life that one recall made longer: 59 days more.
        assert seen(account, entry_id)[4] == NOON + 109 * DAY
        clock(NOON + 109 * DAY)
        jobs.decay()
        assert changes(account, entry_id) == ["created", "decayed"]

    def test_a_pinned_entry_does_not_decay(self, db, account, clock):
        entry_id = acts.put(account, confidence=0.7, pinned=True).entry_id
        clock(NOON + 4_000 * DAY)
        jobs.decay()
        assert changes(account, entry_id) == ["created"]
        assert seen(account, entry_id)[0] == "active"

    def test_a_verdict_holds_until_it_has_fallen_by_a_tenth(self, db, account, clock):
        entry_id = acts.put(account, "old", confidence=0.32).entry_id
        acts.put(account, "new")
        acts.back(account, entry_id, to=1, expected=2)
        # 0.32 is below 0.3 after 7 days, but held until it is at or below 0.22: 38 days at 69 to a half.
        clock(NOON + 37 * DAY)
        jobs.decay()
        assert seen(account, entry_id)[0] == "active"
        clock(NOON + 38 * DAY)
        jobs.decay()
        assert seen(account, entry_id)[0] == "under_review"

    def test_what_people_decided_about_is_not_decided_by_silence(self, db, account, clock):
        entry_id = acts.put(account, confidence=0.7).entry_id
        head = acts.head(account, entry_id)
        act = ledger.Act("feedback", acts.agent(), NOON, DEFAULT)
        superseded = Next("superseded", replace(head.state, status="superseded"))
        ledger.append(account.pk, act, [Move([superseded], head)])
        clock(NOON + 4_000 * DAY)
        jobs.decay()
        assert changes(account, entry_id) == ["created", "superseded"]

    def test_what_lists_are_sorted_by_is_refreshed_without_a_version(self, db, account, clock):
        entry_id = acts.put(account, confidence=0.7).entry_id
        clock(NOON + 69 * DAY)
        jobs.decay()
        settled = "SELECT settled_confidence, version FROM memories_entry WHERE account_id = %s AND id = %s"
        assert acts.rows_of(settled, account.pk, entry_id) == [(pytest.approx(0.35, rel=1e-12), 1)]

    @pytest.mark.parametrize(
        ("kind", "causal_confidence", "status"),
        [("success", 1.0, "active"), ("success", 0.1, "under_review"), ("failure", 1.0, "archived")],
    )
    def test_an_outcome_finds_the_line_crossed_whether_or_not_a_run_noticed(
        self, db, account, other_account, clock, kind, causal_confidence, status
    ):
        moment = NOON + 60 * DAY
        clock(moment)
        ids = [acts.put(owner, confidence=0.31).entry_id for owner in (account, other_account)]
        jobs.transitions("decay", account, moment, jobs.decayed)
        for owner in (account, other_account):
            acts.told(owner, "o-1", kind, now=moment, causal_confidence=causal_confidence)
        noticed, missed = seen(account, ids[0]), seen(other_account, ids[1])
        assert (noticed[1], missed[1]) == (3, 2)
        assert noticed[0] == missed[0] == status
        assert noticed[2:] == missed[2:]


class TestTiers:
    def test_the_first_50_are_hot_the_next_200_warm_and_the_rest_archive(self, db, account, clock):
        ids = acts.fill(account, 300)
        clock(NOON)
        jobs.tiers()
        assert [seen(account, entry_id)[6] for entry_id in ids] == [1] * 50 + [2] * 200 + [3] * 50

    def test_priority_decides(self, db, account, clock):
        acts.fill(account, 60, confidence=0.5)
        late = acts.put(account, key="late", confidence=0.9).entry_id
        often = acts.put(account, key="often", confidence=0.5).entry_id
        important = acts.put(account, key="important", confidence=0.1, importance_score=1.0).entry_id
        old = acts.put(account, key="old", now=NOON - 30 * DAY).entry_id
        recalls.write(account.pk, DEFAULT, [Read(often, 1, acts.BOB, "", NOON, 200)] * 20)
        clock(NOON)
        jobs.tiers()
        assert [seen(account, entry_id)[6] for entry_id in (late, often, important, old)] == [1, 1, 3, 2]

    def test_each_branch_and_each_account_has_places_of_its_own(self, db, account, other_account, clock):
        ids = acts.fill(account, 51) + acts.fill(account, 51, branch="draft")
        theirs = acts.fill(other_account, 51)
        clock(NOON)
        jobs.tiers()
        assert [seen(account, entry_id)[6] for entry_id in ids] == ([1] * 50 + [2]) * 2
        assert [seen(other_account, entry_id)[6] for entry_id in theirs] == [1] * 50 + [2]

    def test_a_pinned_entry_keeps_its_tier(self, db, account, clock):
        pinned = acts.put(account, key="pinned", pinned=True).entry_id
        clock(NOON)
        jobs.tiers()
        assert seen(account, pinned)[6] == 3
        acts.put(account, key="pinned", pinned=False)
        jobs.tiers()
        assert seen(account, pinned)[6] == 1
        acts.put(account, key="pinned", pinned=True)
        acts.fill(account, 260)
        clock(NOON + 400 * DAY)
        jobs.tiers()
        assert seen(account, pinned)[6] == 1

    def test_what_is_no_longer_active_leaves_its_tier(self, db, account, clock):
        entry_id = acts.put(account, ttl_at=SOON).entry_id
        clock(NOON)
        jobs.tiers()
        assert seen(account, entry_id)[6] == 1
        clock(SOON)
        jobs.expire()
        jobs.tiers()
        assert seen(account, entry_id)[6] == 3

    def test_only_what_changed_is_written(self, db, account, clock):
        acts.fill(account, 60)
        places = "SELECT id, ctid FROM memories_entry WHERE account_id = %s ORDER BY id"
        clock(NOON)
        jobs.tiers()
        before = acts.rows_of(places, account.pk)
        jobs.tiers()
        assert acts.rows_of(places, account.pk) == before
        acts.put(account, key="new", confidence=1.0, now=NOON)
        acts.put(account, key="newest", importance_score=1.0, now=NOON + DAY)
        clock(NOON + DAY)
        jobs.tiers()
        moved = set(acts.rows_of(places, account.pk)) - set(before)
        # Two that came, and the two that lost their place among the first fifty.
        assert len(moved) <= 4

    def test_a_retier_writes_no_version(self, db, account, clock):
        (entry_id,) = acts.fill(account, 1)
        clock(NOON)
        jobs.tiers()
        assert changes(account, entry_id) == ["created"]
        assert acts.entry(account, key="k0").version == 1


class TestTogether:
    @pytest.mark.parametrize("job", ["expire", "decay", "tiers", "fold"])
    def test_processes_that_run_a_job_at_once_do_its_work_once(self, lasting, account, race, job):
        ids = acts.fill(account, 30, confidence=0.7, ttl_at=SOON if job == "expire" else None)
        race.run(run_job, [(job, REVIEW)] * PROCESSES)
        versions = 2 if job in {"expire", "decay"} else 1
        assert {len(changes(account, entry_id)) for entry_id in ids} == {versions}
        sets = "SELECT count(*) FROM memories_changeset WHERE account_id = %s AND kind = %s"
        assert acts.rows_of(sets, account.pk, job) == [(versions - 1,)]

    def test_a_job_beside_writers_loses_nothing(self, lasting, account, race):
        acts.fill(account, 30, confidence=0.7)
        race.run(write_or_decay, [(account.pk, who) for who in range(PROCESSES)])
        sql = """SELECT e.version, count(*), max(v.number) FROM memories_entry e
                   JOIN memories_entryversion v ON v.account_id = e.account_id AND v.entry_id = e.id
                  WHERE e.account_id = %s GROUP BY e.id, e.version"""
        assert all(version == count == last for version, count, last in acts.rows_of(sql, account.pk))


def run_job(job: str, moment: datetime) -> int:
    kept = timezone.now
    timezone.now = lambda: moment  # type: ignore[assignment]
    try:
        return int(getattr(jobs, job)())
    finally:
        timezone.now = kept


def write_or_decay(account_id: int, who: int) -> None:
    for number in range(10):
        if who < 2:
            run_job("decay" if who else "tiers", REVIEW + timedelta(days=number))
        else:
            acts.told(account_id, f"{who}-{number}", "success", f"shop/k{number}", now=REVIEW)


def test_schedules_are_made_by_the_first_start_and_left_alone_by_the_next(db):
    call_command("sync_schedules")
    made = list(Schedule.objects.order_by("name").values_list("id", "name", "func", "minutes", "repeats", "next_run"))
    call_command("sync_schedules")
    again = list(Schedule.objects.order_by("name").values_list("id", "name", "func", "minutes", "repeats", "next_run"))
    assert again == made
    assert {name for _, name, *_ in made} == set(jobs.SCHEDULES)
    assert {minutes for _, name, _, minutes, *_ in made if name in {"expire", "tiers"}} == {1}
    assert {minutes for _, name, _, minutes, *_ in made if name == "decay"} == {60}


@pytest.mark.parametrize("name", jobs.SCHEDULES)
def test_every_schedule_names_a_job_that_is_there(name):
    module, _, function = jobs.SCHEDULES[name][0].rpartition(".")
    assert module == "memories.jobs"
    assert callable(getattr(jobs, function))


def test_answers_kept_for_repeats_are_forgotten_after_a_day(db, account, bot, clock):
    bot.write("shop", "k", 1, headers={"Idempotency-Key": "once"})
    kept = "SELECT count(*) FROM accounts_keptanswer WHERE account_id = %s"
    jobs.fold()
    assert acts.rows_of(kept, account.pk) == [(1,)]
    clock(timezone.now() + timedelta(hours=24, minutes=1))
    jobs.fold()
    assert acts.rows_of(kept, account.pk) == [(0,)]

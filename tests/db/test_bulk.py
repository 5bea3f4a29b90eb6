"""One decision about many: runs of a worker, what fails, asking again, undo of all; and an agent that went wrong."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.module_loading import import_string

from memories import jobs, reads, viewers
from memories.models import BulkRun, ChangeSet, Entry
from memories.queue import review, review_runs, review_wrong
from memories.queue.review import Queue
from memories.queue.review_wrong import Suspect
from memories.rules.decisions import Item, Word
from memories.rules.policy import DEFAULT
from memories.services import bulk, bulk_run, rollback, wrong
from memories.services.acts import Actor
from memories.services.bulk import Order
from memories.services.decisions import Decision
from memories.services.superseding import Replacement
from senselab.errors import Conflict, Invalid, NotFound
from tests.db import acts

REX = Actor("person", "rex")
NOON = acts.NOON
HOUR = timedelta(hours=1)


@pytest.fixture
def people(account):
    return viewers.person(account)


def order(word=Word.ARCHIVE, **terms):
    return Order(Decision(word=word, **terms), REX, "human/rex", "all of it")


def statuses(account):
    return dict(Entry.objects.filter(account_id=account.pk).values_list("key", "status"))


def run_of(account, run_id):
    return BulkRun.objects.get(account_id=account.pk, pk=run_id)


def row_of(people, account, key):
    (row,) = reads.entries_by_ids(people, [Entry.objects.get(account_id=account.pk, key=key).pk])
    return row


def start(people, ids, now=NOON, **more):
    items = [Item(entry_id, 1) for entry_id in ids]
    return bulk.start(people, items, order(**more), now, selected="some")


def test_up_to_two_hundred_are_decided_about_at_once(account, people):
    ids = acts.fill(account, 200, confidence=0.2)
    outcome = bulk.decide(people, [Item(entry_id, 1) for entry_id in ids], order(), NOON)
    assert (outcome.run_id, len(outcome.decided.done)) == (None, 200)
    assert ChangeSet.objects.get(account_id=account.pk, pk=outcome.decided.change_set_id).size == 200


def test_more_are_a_run_whose_batches_are_one_change_set(account, people, monkeypatch):
    acts.fill(account, 7, confidence=0.2)
    monkeypatch.setattr(bulk, "AT_ONCE", 3)
    monkeypatch.setattr(bulk_run, "BATCH", 2)
    outcome = bulk.decide_matching(people, Queue(reasons=("under_review",)), order(), NOON)
    waiting = review_runs.progress(people, outcome.run_id, NOON)
    assert (waiting.run.state, waiting.left, waiting.rate) == ("waiting", 7, None)
    assert waiting.run.selected == "under review"
    assert bulk_run.work(account.pk, outcome.run_id) == 7
    done = review_runs.progress(people, outcome.run_id, NOON)
    assert (done.run.state, done.run.done, done.run.failed, done.left) == ("finished", 7, 0, 0)
    assert done.rate > 0
    made = ChangeSet.objects.get(account_id=account.pk, pk=done.run.change_set_id)
    assert (made.kind, made.cause, made.reason, made.actor, made.size) == ("decision", "archive", "all of it", "rex", 7)
    assert set(statuses(account).values()) == {"archived"}


def test_a_run_takes_the_versions_that_were_seen_and_says_why_an_entry_failed(account, people):
    ids = acts.fill(account, 4, confidence=0.2)
    run_id = start(people, ids)
    acts.put(account, "rewritten meanwhile", key="k1", confidence=0.2)
    bulk.decide(people, [Item(ids[2], 1)], order(Word.ACCEPT), NOON)
    bulk_run.work(account.pk, run_id)
    found = {failure.key: failure.why for failure in review_runs.failures(people, run_id).rows}
    assert found["k1"] == "You looked at version 1; the current one is 2."
    assert found["k2"].startswith("rex accepted it at 12:00")
    assert set(found) == {"k1", "k2"}
    assert statuses(account) == {"k0": "archived", "k1": "under_review", "k2": "active", "k3": "archived"}


def test_asking_again_touches_only_what_failed_and_joins_the_change_set(account, people):
    ids = acts.fill(account, 3, confidence=0.2)
    run_id = start(people, ids)
    acts.put(account, "rewritten meanwhile", key="k1", confidence=0.2)
    bulk_run.work(account.pk, run_id)
    first = run_of(account, run_id)
    assert bulk_run.again(people, run_id, NOON) == 1
    assert bulk_run.work(account.pk, run_id) == 1
    run = run_of(account, run_id)
    assert (run.done, run.failed, run.change_set_id) == (3, 0, first.change_set_id)
    assert ChangeSet.objects.get(account_id=account.pk, pk=run.change_set_id).size == 3
    undone = rollback.undo(people, run.change_set_id, actor=REX, policy=DEFAULT, reason="", now=NOON + HOUR)
    assert (undone.restored, undone.left) == (3, [])
    assert set(statuses(account).values()) == {"under_review"}
    with pytest.raises(Conflict):
        bulk_run.again(people, run_id, NOON)


def test_a_run_that_is_cancelled_keeps_what_is_done(account, people, monkeypatch):
    monkeypatch.setattr(bulk_run, "BATCH", 2)
    run_id = start(people, acts.fill(account, 6, confidence=0.2))
    after_first = bulk_run._batch

    def cancelling(run, *rest):
        bulk_run.cancel(people, run_id, NOON)
        return after_first(run, *rest)

    monkeypatch.setattr(bulk_run, "_batch", cancelling)
    assert bulk_run.work(account.pk, run_id) == 2
    run = run_of(account, run_id)
    assert (run.state, run.done, run.total) == ("cancelled", 2, 6)
    assert sorted(statuses(account).values()) == ["archived"] * 2 + ["under_review"] * 4
    assert bulk_run.work(account.pk, run_id) == 0


def test_a_run_cancelled_before_it_began_does_nothing(account, people):
    run_id = start(people, acts.fill(account, 3, confidence=0.2))
    bulk_run.cancel(people, run_id, NOON)
    assert bulk_run.work(account.pk, run_id) == 0
    assert run_of(account, run_id).state == "cancelled"


def test_a_run_that_died_is_taken_up_where_it_was(account, people, monkeypatch):
    monkeypatch.setattr(bulk_run, "BATCH", 2)
    run_id = start(people, acts.fill(account, 6, confidence=0.2))
    whole, calls = bulk_run._batch, []

    def dying(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("the worker was killed")
        return whole(*arguments)

    monkeypatch.setattr(bulk_run, "_batch", dying)
    with pytest.raises(RuntimeError):
        bulk_run.work(account.pk, run_id)
    assert run_of(account, run_id).state == "running"
    assert review_runs.progress(people, run_id, run_of(account, run_id).moved_at + HOUR).is_stalled
    assert bulk_run.work(account.pk, run_id) == 4
    run = run_of(account, run_id)
    assert (run.state, run.done) == ("finished", 6)
    assert ChangeSet.objects.get(account_id=account.pk, pk=run.change_set_id).size == 6


def test_a_run_that_nothing_happened_to_for_a_minute_is_handed_over_again(account, people, monkeypatch):
    run_id = start(people, acts.fill(account, 6, confidence=0.2))
    handed = []
    monkeypatch.setattr(bulk, "async_task", lambda *given: handed.append(given))
    assert bulk.take_up(account.pk, NOON + timedelta(seconds=50)) == []
    # The job of each minute looks.
    jobs.asked()
    assert [given for given in handed if given[1] == account.pk] == [(bulk.JOB, account.pk, run_id)]
    assert bulk_run.work(account.pk, run_id) == 6
    assert bulk.take_up(account.pk, timezone.now() + HOUR) == []


@pytest.mark.parametrize(
    "terms",
    [
        {"word": Word.SNOOZE, "until": NOON + HOUR},
        {"word": Word.EDIT, "value": acts.draft({"max": 1.50}).value, "confidence": 0.6, "memory_type": "belief"},
        {"word": Word.ROLLBACK, "to_version": 3},
        {"word": Word.SUPERSEDE, "superseded_by": "shop/other"},
    ],
)
def test_what_a_decision_needs_travels_with_its_run(terms):
    decision = Decision(**terms)
    assert bulk.decision_of(str(decision.word), bulk.terms_of(decision)) == decision


def test_a_new_entry_does_not_replace_more_than_can_be_decided_about_at_once(account, people):
    new = Replacement(acts.draft("new").value)
    with pytest.raises(Invalid, match="at most 200"):
        start(people, acts.fill(account, 1), word=Word.SUPERSEDE, replacement=new)
    assert not BulkRun.objects.filter(account_id=account.pk).exists()


def test_empty_filters_and_filters_that_match_nothing_are_refused(account, people):
    acts.fill(account, 1, confidence=0.2)
    with pytest.raises(Invalid, match="all: true"):
        bulk.preview(people, Queue(), NOON)
    with pytest.raises(Invalid, match="Nothing matches: contested, under lab"):
        bulk.preview(people, Queue(reasons=("contested",), entity_path="lab"), NOON)
    with pytest.raises(Invalid, match="Nothing is selected"):
        bulk.decide(people, [], order(), NOON)
    assert bulk.preview(people, Queue(), NOON, everything=True) == 1


def test_a_large_change_set_is_undone_as_a_run_and_the_queue_is_as_before(account, people, monkeypatch):
    monkeypatch.setattr(bulk_run, "BATCH", 4)
    acts.fill(account, 10, confidence=0.2)
    before = [item.row.entry_id for item in review.page(Queue(), people, NOON).items]
    run_id = bulk.start_matching(people, Queue(reasons=("under_review",)), order(Word.ACCEPT), NOON)
    bulk_run.work(account.pk, run_id)
    decided = run_of(account, run_id).change_set_id
    acts.put(account, "written since", key="k3", confidence=0.9)
    undo_id = bulk.undo(people, decided, actor=REX, reason="too hasty", now=NOON)
    with pytest.raises(Conflict, match="being undone"):
        bulk.undo(people, decided, actor=REX, reason="", now=NOON)
    assert bulk_run.work(account.pk, undo_id) == 9
    run = run_of(account, undo_id)
    assert [failure.key for failure in review_runs.failures(people, undo_id).rows] == ["k3"]
    made = ChangeSet.objects.get(account_id=account.pk, pk=run.change_set_id)
    assert (made.kind, made.undoes_id, made.size, made.reason) == ("undo", decided, 9, "too hasty")
    after = [item.row.entry_id for item in review.page(Queue(), people, NOON).items]
    assert after == [entry_id for entry_id in before if entry_id != before[3]]
    with pytest.raises(NotFound):
        bulk.undo(people, 999_999_999, actor=REX, reason="", now=NOON)


def test_a_run_of_another_account_does_not_exist(account, other_account, people):
    run_id = start(people, acts.fill(account, 1, confidence=0.2))
    stranger = viewers.person(other_account)
    with pytest.raises(NotFound):
        review_runs.progress(stranger, run_id, NOON)
    with pytest.raises(NotFound):
        bulk_run.cancel(stranger, run_id, NOON)
    assert bulk_run.work(other_account.pk, run_id) == 0


def test_the_job_that_is_handed_over_is_the_one_that_works():
    assert import_string(bulk.JOB) is bulk_run.work


def test_ten_thousand_are_archived_under_one_change_set(account, people):
    acts.fill(account, 10_000, confidence=0.2)
    run_id = bulk.decide_matching(people, Queue(), order(), NOON, everything=True).run_id
    assert bulk_run.work(account.pk, run_id) == 10_000
    assert ChangeSet.objects.get(account_id=account.pk, pk=run_of(account, run_id).change_set_id).size == 10_000
    assert review.counts(Queue(), people, NOON).total == 0


BAD = "agent/bad"


@pytest.fixture
def day(account):
    """What an agent did in a day: a new entry, a rewrite, one rewritten by somebody else since, and older things."""
    acts.put(account, "before", key="rewritten", confidence=0.7)
    acts.told(account, "t1", "success", "shop/rewritten")
    acts.put(account, "theirs", key="old", by=BAD)
    since = NOON + HOUR
    acts.put(account, "wrong", key="rewritten", by=BAD, now=since + HOUR)
    acts.put(account, "wronger", key="rewritten", by=BAD, now=since + 2 * HOUR)
    acts.told(account, "t2", "failure", "shop/rewritten", now=since + 3 * HOUR)
    acts.put(account, "wrong", key="created", by=BAD, now=since + HOUR)
    acts.put(account, "wrong", key="repaired", by=BAD, now=since + HOUR)
    acts.put(account, "right", key="repaired", now=since + 2 * HOUR)
    return Suspect(since=since, agent_id=BAD)


def test_everything_an_agent_wrote_since_is_shown_with_what_it_changed(account, people, day):
    page = review_wrong.page(day, people)
    found = {row.key: row for row in page.rows}
    assert [row.key for row in page.rows] == ["rewritten", "repaired", "created"]
    assert (found["rewritten"].before, found["rewritten"].writes, found["rewritten"].is_open) == (2, 2, True)
    assert (found["created"].before, found["created"].is_created) == (None, True)
    assert (found["repaired"].is_open, found["repaired"].now_by) == (False, acts.ADA)
    counts = review_wrong.counts(day, people)
    assert (counts.created, counts.rewritten, counts.left) == (1, 1, 1)
    told = review_wrong.differences(people, page.rows)
    assert (told[found["rewritten"].entry_id].before, told[found["created"].entry_id].before) == ('"before"', None)
    assert [change.new for change in told[found["rewritten"].entry_id].changes] == ['"wronger"']
    one = review_wrong.page(day, people, limit=1)
    two = review_wrong.page(day, people, limit=2, cursor=one.next)
    assert [row.key for row in [*one.rows, *two.rows]] == ["rewritten", "repaired", "created"]
    assert two.next == ""


def test_all_of_it_is_rolled_back_in_one_change_set_and_that_can_be_undone(account, people, day):
    now = NOON + 10 * HOUR
    outcome = wrong.roll_back(people, day, actor=REX, reason="it hallucinated", now=now)
    made = ChangeSet.objects.get(account_id=account.pk, pk=outcome.decided.change_set_id)
    assert (made.kind, made.size, made.reason) == ("rollback", 2, "it hallucinated")
    assert made.cause == "agent/bad since 1 March 2026 13:00 UTC"
    row = row_of(people, account, "rewritten")
    assert (row.value, row.state.evidence_status, row.state.status) == ('"before"', "validated", "active")
    assert statuses(account) == {"rewritten": "active", "old": "active", "created": "archived", "repaired": "active"}
    assert review_wrong.counts(day, people).total == 0
    # Said again, what was archived stays so.
    acts.put(account, "wrong", key="created", by=BAD, now=now)
    assert statuses(account)["created"] == "archived"
    undone = rollback.undo(people, made.pk, actor=REX, policy=DEFAULT, reason="", now=now)
    assert (undone.restored, [left.key for left in undone.left]) == (1, ["created"])
    assert row_of(people, account, "rewritten").value == '"wronger"'


def test_or_all_of_it_is_sent_to_review(account, people, day):
    outcome = wrong.send_to_review(people, day, actor=REX, reason="", now=NOON + 10 * HOUR)
    assert len(outcome.decided.done) == 2
    items = review.page(Queue(), people, NOON + 10 * HOUR).items
    assert {item.row.key for item in items} == {"rewritten", "created"}
    assert "Sent to review by rex: “agent/bad since 1 March 2026 13:00 UTC”; confidence 1.00" in [i.why for i in items]


def test_a_session_or_an_entity_can_be_meant_as_well(account, people, day):
    now = NOON + 10 * HOUR
    assert review_wrong.counts(Suspect(since=day.since, entity_path="shop"), people).total == 3
    assert review_wrong.counts(Suspect(since=day.since, entity_path="sho"), people).total == 0
    assert review_wrong.counts(Suspect(since=day.since, session_id="s-1"), people).total == 0
    both = Suspect(since=day.since, agent_id=BAD, entity_path="shop")
    assert review_wrong.counts(both, people).total == 2
    with pytest.raises(Invalid, match="nothing to take back"):
        wrong.roll_back(people, Suspect(since=day.since, session_id="s-1"), actor=REX, reason="", now=now)


@pytest.mark.parametrize(
    ("suspect", "words"),
    [
        (Suspect(since=NOON), "Name an agent"),
        (Suspect(since=NOON + 100 * HOUR, agent_id=BAD), "has not come yet"),
        (Suspect(since=NOON, agent_id="agent/nobody"), "nothing to take back"),
    ],
)
def test_going_wrong_needs_somebody_and_a_moment_in_the_past(people, suspect, words):
    with pytest.raises(Invalid, match=words):
        wrong.roll_back(people, suspect, actor=REX, reason="", now=NOON + HOUR)


def test_a_large_day_is_rolled_back_as_a_run(account, people, monkeypatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 3)
    acts.fill(account, 5, by=BAD, now=NOON + HOUR)
    suspect = Suspect(since=NOON, agent_id=BAD)
    outcome = wrong.roll_back(people, suspect, actor=REX, reason="", now=NOON + 2 * HOUR)
    assert bulk_run.work(account.pk, outcome.run_id) == 5
    assert set(statuses(account).values()) == {"archived"}

"""The review queue and decisions below the API: what comes back, what holds, and what undo restores."""

from dataclasses import replace
from datetime import timedelta

import pytest

from memories import heads, recalls, viewers
from memories.checking import verify_reads
from memories.models import Entry
from memories.queue import review, review_item, review_sides
from memories.queue.review import Queue, Reason
from memories.recalls import Read
from memories.rules.decisions import Item, Word
from memories.rules.kinds import Change
from memories.rules.policy import DEFAULT
from memories.services import evidence, feedback, foresight, ledger, rollback
from memories.services import review as deciding
from memories.services.acts import Act, Actor, Move, Next
from memories.services.decisions import Decision
from memories.services.evidence import Observed
from memories.services.feedback import Feedback, Verdict
from memories.services.superseding import Replacement
from senselab.errors import Conflict
from tests.db import acts

REX, TOM = Actor("person", "rex"), Actor("person", "tom")
NOON = acts.NOON
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def people(account):
    return viewers.person(account)


def decide(people, word, *entry_ids, by=REX, now=NOON, version=None, reason="", **terms):
    rows = {row.pk: row.version for row in Entry.objects.filter(account_id=people.account_id, pk__in=entry_ids)}
    items = [Item(entry_id, version or rows[entry_id]) for entry_id in entry_ids]
    decision = Decision(word=word, **terms)
    author = f"human/{by.name}"
    return deciding.decide(people, items, decision, actor=by, author=author, now=now, reason=reason)


def judge(people, entry_id, verdict, *, now=NOON, by=acts.ADA, keeps=False):
    said = Feedback(Verdict(verdict), note="they said so")
    return feedback.give(people, entry_id, said, actor=Actor("agent", by), keeps=keeps, author=by, now=now)


def undo(people, change_set_id, *, now=NOON):
    return rollback.undo(people, change_set_id, actor=REX, policy=DEFAULT, reason="", now=now)


def waiting(people, now=NOON, **asked):
    return review.page(Queue(**asked), people, now).items


def reasons(people, now=NOON):
    return {item.row.key: set(item.reasons) for item in waiting(people, now)}


def contested(account, key="retry", *, now=NOON):
    """Write an entry that outcomes on both sides leave active and contested."""
    made = acts.put(account, key, key=key, confidence=0.7, now=now)
    for turn, kind in enumerate(("failure", "success", "success")):
        acts.told(account, f"{key}-{turn}", kind, f"shop/{key}", now=now + turn * HOUR)
    return made.entry_id


def row(people, entry_id, now=NOON):
    return review.one(people, entry_id, now)


def test_a_contested_entry_waits_until_somebody_decides_and_then_for_new_failures(account, people):
    entry_id = contested(account)
    later = NOON + DAY
    assert reasons(people, later) == {"retry": {Reason.CONTESTED}}
    decide(people, Word.ACCEPT, entry_id, now=later)
    assert reasons(people, later) == {}
    acts.told(account, "good", "success", now=later + HOUR)
    assert reasons(people, later + HOUR) == {}
    acts.told(account, "bad", "minor_failure", now=later + 2 * HOUR)
    assert reasons(people, later + 2 * HOUR)["retry"] & {Reason.CONTESTED, Reason.DISCREDITED}


def test_what_a_new_claim_is_accused_of_is_new_however_often_the_old_one_failed(account, people):
    entry_id = contested(account)
    decide(people, Word.ACCEPT, entry_id, now=NOON + DAY)
    acts.put(account, "another claim", now=NOON + DAY)
    acts.told(account, "bad", "failure", now=NOON + 2 * DAY)
    found = row(people, entry_id, NOON + 2 * DAY)
    assert found.row.state.failure_count == 1
    assert Reason.DISCREDITED in found.reasons


def test_a_rejection_by_a_user_brings_an_entry_here_once(account, people):
    entry_id = acts.put(account, confidence=0.9).entry_id
    judge(people, entry_id, "rejected")
    (item,) = waiting(people)
    assert item.reasons == (Reason.REJECTED,)
    assert item.why == "Rejected by agent/ada: “they said so”; 0.90 to 0.70"
    decide(people, Word.ACCEPT, entry_id)
    judge(people, entry_id, "accepted")
    assert waiting(people) == []
    judge(people, entry_id, "rejected")
    assert reasons(people) == {"retry": {Reason.REJECTED}}


def test_a_reviewers_own_rejection_is_no_news(account, people):
    entry_id = acts.put(account, confidence=0.9).entry_id
    decide(people, Word.REJECT, entry_id)
    assert row(people, entry_id).row.state.negative_reinforcement == 1
    assert waiting(people) == []


def test_feedback_of_somebody_whose_verdict_holds_is_seen_as_well(account, people):
    entry_id = contested(account)
    judge(people, entry_id, "accepted", keeps=True, by="review-tool", now=NOON + DAY)
    assert waiting(people, NOON + DAY) == []


def test_an_entry_about_to_expire_waits_and_is_seen_for_that_time_to_live_alone(account, people):
    entry_id = acts.put(account, ttl_at=NOON + 5 * DAY, confidence=0.9).entry_id
    assert waiting(people) == []
    soon = NOON + 3 * DAY
    (item,) = waiting(people, soon)
    assert (item.reasons, item.why) == ((Reason.EXPIRING,), "Expires in 2 days; confidence 0.87")
    decide(people, Word.ACCEPT, entry_id, now=soon)
    assert waiting(people, soon) == []
    acts.put(account, ttl_at=soon + DAY, now=soon)
    assert reasons(people, soon) == {"retry": {Reason.EXPIRING}}
    assert waiting(people, soon + 3 * DAY) == []


def test_what_is_under_review_waits_whatever_was_decided(account, people):
    entry_id = acts.put(account, confidence=0.29).entry_id
    decide(people, Word.PIN, entry_id)
    assert reasons(people) == {"retry": {Reason.UNDER_REVIEW}}


@pytest.mark.parametrize("confidence", [0.2, 0.9])
def test_a_snooze_ends_at_its_moment(account, people, confidence):
    entry_id = acts.put(account, confidence=confidence).entry_id
    judge(people, entry_id, "rejected") if confidence > 0.5 else None
    assert len(waiting(people)) == 1
    decide(people, Word.SNOOZE, entry_id, until=NOON + 7 * DAY)
    assert waiting(people, NOON + 6 * DAY) == []
    (item,) = waiting(people, NOON + 7 * DAY)
    assert (item.row.entry_id, item.snoozed) == (entry_id, True)


def test_a_snooze_ends_with_the_next_contradiction(account, people):
    entry_id = acts.put(account, confidence=0.25).entry_id
    decide(people, Word.SNOOZE, entry_id)
    acts.put(account, now=NOON + 2 * HOUR)
    assert waiting(people, NOON + 300 * DAY) == []
    against = Observed(NOON, "charged twice", "o-1", -0.01)
    evidence.add(people, entry_id, against, actor=acts.agent(), now=NOON + 3 * HOUR)
    assert len(waiting(people, NOON + 4 * HOUR)) == 1


def test_what_a_reviewer_keeps_holds_against_silence_until_it_has_worn_by_a_tenth(account, people):
    entry_id = acts.put(account, confidence=0.2).entry_id
    decide(people, Word.ACCEPT, entry_id)
    state = row(people, entry_id).row.state
    assert (state.status, round(state.held_at, 9), state.freshness) == ("active", 0.3, 1.0)
    acts.told(account, "good", "success", now=NOON + DAY)
    assert row(people, entry_id).row.state.status == "active"
    judge(people, entry_id, "rejected", now=NOON + DAY)
    assert row(people, entry_id).row.state.held_at is None


@pytest.mark.parametrize("sort", ["doubt", "oldest"])
def test_undo_puts_an_item_back_to_its_place(account, people, sort):
    ids = [acts.put(account, n, key=f"k{n}", confidence=0.2 + n / 100, now=NOON + n * HOUR).entry_id for n in range(4)]
    later = NOON + 10 * HOUR
    before = waiting(people, later, sort=sort)
    made = decide(people, Word.ACCEPT, ids[2], now=later, reason="fine").change_set_id
    assert len(waiting(people, later, sort=sort)) == 3
    undo(people, made, now=later + HOUR)
    after = waiting(people, later + HOUR, sort=sort)
    assert [item.row.entry_id for item in after] == [item.row.entry_id for item in before] == ids
    assert [item.since for item in after] == [item.since for item in before]


def test_undo_brings_back_what_silence_had_left(account, people):
    entry_id = acts.put(account, confidence=0.2).entry_id
    later = NOON + 30 * DAY
    before = row(people, entry_id, later)
    undo(people, decide(people, Word.ACCEPT, entry_id, now=later).change_set_id, now=later + HOUR)
    after = row(people, entry_id, later)
    assert (after.effective, after.row.accessed_at) == (before.effective, before.row.accessed_at)
    assert after.effective < 0.2


def test_undo_brings_back_the_marks_and_undoing_that_takes_them_again(account, people):
    entry_id = contested(account)
    now = NOON + DAY
    decided = decide(people, Word.ACCEPT, entry_id, now=now).change_set_id
    undone = undo(people, decided, now=now).change_set_id
    assert reasons(people, now) == {"retry": {Reason.CONTESTED}}
    undo(people, undone, now=now)
    assert waiting(people, now) == []
    assert row(people, entry_id, now).row.state.positive_reinforcement == 1


def test_undo_leaves_alone_what_somebody_changed_since(account, people):
    ids = [acts.put(account, n, key=f"k{n}", confidence=0.2).entry_id for n in range(3)]
    made = decide(people, Word.ARCHIVE, *ids).change_set_id
    acts.put(account, "rewritten", key="k1", confidence=0.9, now=NOON + HOUR)
    done = undo(people, made, now=NOON + 2 * HOUR)
    assert (done.restored, [left.key for left in done.left]) == (2, ["k1"])
    assert set(reasons(people, NOON + 2 * HOUR)) == {"k0", "k2"}


def test_two_reviewers_do_not_overrun_each_other(account, people):
    entry_id = acts.put(account, confidence=0.2).entry_id
    decide(people, Word.SNOOZE, entry_id, by=TOM, until=NOON + DAY, reason="ask the bank")
    with pytest.raises(Conflict, match=r"tom put it off at 12:00 on 1 March \(UTC\)") as refused:
        decide(people, Word.ARCHIVE, entry_id, version=1)
    assert (refused.value.extra["decided_by"], refused.value.extra["decision"]) == ("tom", "snooze")
    assert refused.value.extra["reason"] == "ask the bank"


def test_an_open_item_is_claimed_for_a_minute(account, people):
    entry_id = acts.put(account, confidence=0.2).entry_id
    assert deciding.claim(people, entry_id, "rex", NOON).by == "rex"
    again = NOON + timedelta(seconds=30)
    assert deciding.claim(people, entry_id, "rex", again).until == again + timedelta(minutes=1)
    assert deciding.claim(people, entry_id, "tom", again) == deciding.claim(people, entry_id, "rex", again)
    (item,) = waiting(people, again)
    assert item.claimed_by == "rex"
    late = again + timedelta(minutes=1)
    assert waiting(people, late)[0].claimed_by == ""
    assert deciding.claim(people, entry_id, "tom", late).by == "tom"
    decide(people, Word.SKIP, entry_id, by=TOM, now=late)
    assert waiting(people, late)[0].claimed_by == ""


def test_who_sends_an_entry_to_review_keeps_it_there_whatever_outcomes_say(account, people):
    entry_id = acts.put(account, confidence=0.9).entry_id
    decide(people, Word.SEND, entry_id, reason="its author went wrong")
    (item,) = waiting(people)
    assert item.why == "Sent to review by rex: “its author went wrong”; confidence 0.90"
    acts.told(account, "good", "success", now=NOON + HOUR)
    assert row(people, entry_id).row.state.status == "under_review"
    made = decide(people, Word.ACCEPT, entry_id, now=NOON + 2 * HOUR)
    assert row(people, entry_id).row.state.status == "active"
    undo(people, made.change_set_id, now=NOON + 3 * HOUR)
    acts.told(account, "better", "success", now=NOON + 4 * HOUR)
    assert row(people, entry_id).row.state.status == "under_review"


def test_what_a_person_archived_stays_archived_when_its_agent_says_it_again(account, people):
    entry_id = acts.put(account, "wait", confidence=0.25).entry_id
    decide(people, Word.ARCHIVE, entry_id)
    acts.put(account, "wait", confidence=0.9, now=NOON + HOUR)
    assert row(people, entry_id).row.state.status == "archived"
    acts.put(account, "do not wait", confidence=0.9, now=NOON + HOUR)
    assert row(people, entry_id).row.state.status == "active"


def test_an_edit_keeps_references_and_is_held_by_its_editor(account, people):
    made = acts.put(account, "wait", confidence=0.25, pattern_refs=("shop/other",), ttl_at=NOON + DAY)
    acts.put(account, "wait", confidence=0.25, pattern_refs=("shop/other",))
    value = acts.draft("do not wait").value
    decide(people, Word.EDIT, made.entry_id, value=value, confidence=0.2, memory_type="procedure")
    found = row(people, made.entry_id).row
    assert (found.value, found.agent_id, found.pattern_refs) == ('"do not wait"', "human/rex", ["shop/other"])
    assert (found.state.status, found.state.held_at, found.state.memory_type) == ("active", 0.2, "procedure")


def test_a_decayed_entry_says_for_how_long_nobody_used_it(account, people):
    made = acts.put(account, confidence=0.4)
    later = NOON + 77 * DAY
    (head,) = heads.by_ids(account.pk, [made.entry_id])
    worn = replace(head.state, status="under_review", freshness=0.46)
    step = Next(Change.DECAYED, worn, before=0.4)
    ledger.append(account.pk, Act("decay", Actor("job", "decay"), later, DEFAULT), [Move([step], head, access=False)])
    (item,) = waiting(people, later)
    assert item.why == f"Unused for 77 days; 0.40 to {item.effective:.2f}"


def looked_at(people, entry_id, now):
    detail = review_item.detail(people, review.one(people, entry_id, now))
    return detail, review_item.aside(people, detail.row, detail.marks, now)


def test_an_open_item_shows_all_there_is_to_decide_by(account, people):
    acts.put(account, "Retry once.", confidence=0.7)
    acts.told(account, "t1", "success")
    acts.put(account, "Retry six times.", confidence=0.7, now=NOON + HOUR)
    acts.put(account, "Retry payments once.", key="retry-payments", confidence=0.7)
    acts.put(account, {"lunch": "soup"}, key="menu", confidence=0.7)
    acts.told(account, "t2", "failure", now=NOON + 2 * HOUR)
    entry_id = row_id(account, "retry")
    decide(people, Word.COMMENT, entry_id, text="I would go back.", now=NOON + 3 * HOUR)
    detail, aside = looked_at(people, entry_id, NOON + 3 * HOUR)
    assert (detail.against.version, detail.against.value) == (2, '"Retry once."')
    assert [change.operation for change in detail.changes] == ["replace"]
    assert [effect.outcome_ref for effect in aside.effects] == ["t2", "t1"]
    assert ([effect.outcome_ref for effect in aside.reach.relied], aside.reach.failed) == (["t2"], 1)
    assert aside.similar.row.key == "retry-payments"
    assert [(said.actor, said.text) for said in aside.comments] == [("rex", "I would go back.")]
    would = foresight.of(people, entry_id, NOON + 3 * HOUR, back=detail.against)
    assert (would[Word.ROLLBACK].to_version, round(would[Word.ROLLBACK].confidence, 6)) == (2, 0.818182)
    assert would[Word.ACCEPT].status == "active"


def test_reach_counts_who_read_the_present_claim(account, people):
    entry_id = acts.put(account, "old", confidence=0.9).entry_id
    acts.put(account, "new", confidence=0.9, now=NOON + DAY)
    read = [Read(entry_id, 1, "agent/old", "s", NOON, 200), Read(entry_id, 2, "agent/new", "s", NOON + 2 * DAY, 200)]
    recalls.write(account.pk, DEFAULT, [*read, read[1]])
    reach = looked_at(people, entry_id, NOON + 3 * DAY)[1].reach
    assert [(reader.agent_id, reader.reads) for reader in reach.readers] == [("agent/new", 2)]
    assert reach.reads == 2


def test_the_sides_of_a_contested_entry_stand_face_to_face(account, people):
    contested(account)
    acts.put(account, 1, key="fine", confidence=0.9)
    page = review_sides.page(review_sides.contested(), people, NOON + DAY)
    (sides,) = page.rows
    assert [effect.outcome_ref for effect in sides.good] == ["retry-2", "retry-1"]
    assert [(effect.outcome_ref, effect.agent_id) for effect in sides.bad] == [("retry-0", acts.ADA)]


def test_counts_tell_how_many_wait_for_what(account, people):
    contested(account, "a")
    acts.put(account, key="b", confidence=0.2)
    acts.put(account, key="c", confidence=0.9, ttl_at=NOON + 2 * DAY)
    counts = review.counts(Queue(), people, NOON + HOUR)
    assert (counts.total, counts.by_reason[Reason.CONTESTED], counts.by_reason[Reason.EXPIRING]) == (3, 1, 1)
    assert review.counts(Queue(), people, NOON + HOUR, most=2).total is None
    for asked in (
        Queue(),
        Queue(reasons=("contested", "expiring")),
        Queue(older_than=2 * HOUR),
        Queue(younger_than=HOUR),
    ):
        counted = review.counts(asked, people, NOON + 2 * HOUR)
        assert (counted.total, counted.matching) == (3, review.matching(asked, people, NOON + 2 * HOUR)), asked


def test_a_page_has_the_item_that_is_asked_for_whole_whether_it_waits_or_not(account, people):
    long = "word " * 400
    first, second = acts.fill(account, 2, confidence=0.2)
    waits = acts.put(account, long, key="waits", confidence=0.25).entry_id
    calm = acts.put(account, long, key="calm", confidence=0.9).entry_id
    page = review.page(Queue(), people, NOON, letters=50)
    assert (page.open.row.entry_id, len(page.items)) == (first, 3)
    for item in (waits, calm):
        page = review.page(Queue(), people, NOON, letters=50, item=item)
        assert [one.row.entry_id for one in page.items] == [first, second, waits]
        assert (page.open.row.entry_id, len(page.open.row.value)) == (item, len(long) + 2)
        assert page.open.reasons == review.one(people, item, NOON).reasons
    assert review.page(Queue(), people, NOON, item=10**17).open is None


def test_ten_times_the_queue_takes_as_many_statements(account, people, django_assert_num_queries):
    acts.fill(account, 200, confidence=0.2)
    with django_assert_num_queries(3):
        assert len(review.page(Queue(limit=20), people, NOON).items) == 20
    with django_assert_num_queries(3):
        assert len(review.page(Queue(limit=200), people, NOON).items) == 200


def test_a_decision_about_fifty_takes_as_many_statements_as_about_one(account, people, django_assert_num_queries):
    ids = acts.fill(account, 51, confidence=0.2)
    items = [Item(entry_id, 1) for entry_id in ids]
    terms = {"actor": REX, "author": "human/rex", "now": NOON}
    # Savepoint, lock and heads, ledger, marks, release.
    for chosen in (items[:1], items[1:]):
        with django_assert_num_queries(6):
            deciding.decide(people, chosen, Decision(word=Word.ARCHIVE), **terms)


def test_whatever_was_decided_verify_finds_nothing_amiss(account, people):
    ids = [acts.put(account, n, key=f"k{n}", confidence=0.25).entry_id for n in range(9)]
    acts.told(account, "t1", "success", *(f"shop/k{n}" for n in range(9)))
    acts.put(account, "changed", key="k2", confidence=0.2, now=NOON + HOUR)
    words = [Word.ACCEPT, Word.REJECT, Word.ROLLBACK, Word.ARCHIVE, Word.SNOOZE, Word.PIN, Word.SEND]
    for entry_id, word in zip(ids, words, strict=False):
        made = decide(people, word, entry_id, now=NOON + DAY).change_set_id
        undone = undo(people, made, now=NOON + 2 * DAY).change_set_id
        undo(people, undone, now=NOON + 3 * DAY)
    decide(people, Word.EDIT, ids[7], value=acts.draft("edited").value, confidence=0.4)
    decide(people, Word.SUPERSEDE, ids[8], replacement=Replacement(acts.draft("new").value))
    judge(people, ids[0], "rejected")
    judge(people, ids[0], "accepted", keeps=True)
    evidence.add(people, ids[1], Observed(NOON, "seen", "o-1", 0.0), actor=acts.agent(), now=NOON)
    evidence.add(people, ids[1], Observed(NOON, "seen", "o-2", -0.3), actor=acts.agent(), now=NOON)
    assert list(verify_reads.account_findings(account, verify_reads.Tally())) == []


def row_id(account, key) -> int:
    return Entry.objects.get(account_id=account.pk, key=key).pk

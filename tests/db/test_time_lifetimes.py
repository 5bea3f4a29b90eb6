"""A time to live is set and cleared by hand, importance by an evaluator; a clock that goes wrong changes nothing."""

import json
from datetime import timedelta

import pytest

from memories import jobs, reads
from memories.checking import verify_reads
from memories.checking.verify_reads import Tally
from memories.heads import Name
from memories.rules.policy import DEFAULT
from memories.services import importance, lifetimes
from memories.services.importance import BadEvaluator, Importance
from memories.services.ledger import Actor
from senselab.errors import Conflict, Invalid, NotFound, StaleVersion
from tests.db import acts
from tests.db.acts import NOON

DAY = timedelta(days=1)
REX = Actor("person", "rex")


def set_ttl(account, entry_id, ttl_at, *, expected=1, now=NOON + DAY):
    viewer = acts.viewer(account, sees_all=True)
    return lifetimes.set_ttl(
        viewer, entry_id, ttl_at, expected=expected, actor=REX, policy=DEFAULT, reason="only for the sale", now=now
    )


def test_setting_a_time_to_live_is_a_version_that_changes_nothing_else(db, account):
    entry_id = acts.put(account, confidence=0.7).entry_id
    before = acts.head(account, entry_id).state
    written = set_ttl(account, entry_id, NOON + 9 * DAY)
    row = acts.entry(account, now=NOON + DAY)
    assert (row.version, row.state.ttl_at) == (2, NOON + 9 * DAY)
    assert (row.state.confidence, row.state.status) == (before.confidence, before.status)
    sql = "SELECT kind, actor_kind, actor, reason FROM memories_changeset WHERE account_id = %s AND id = %s"
    assert acts.rows_of(sql, account.pk, written.change_set_id) == [("review", "person", "rex", "only for the sale")]
    change = "SELECT change FROM memories_entryversion WHERE account_id = %s AND number = 2"
    assert acts.rows_of(change, account.pk) == [("review",)]
    assert list(verify_reads.account_findings(account, Tally())) == []


def test_a_cleared_time_to_live_never_comes(db, account, clock):
    entry_id = acts.put(account, ttl_at=NOON + 2 * DAY).entry_id
    set_ttl(account, entry_id, None)
    clock(NOON + 3 * DAY)
    jobs.expire()
    assert acts.entry(account, now=NOON + 3 * DAY).state.status == "active"


def test_a_time_to_live_that_was_set_is_over_at_its_moment_sweep_or_no_sweep(db, account):
    entry_id = acts.put(account).entry_id
    set_ttl(account, entry_id, NOON + 2 * DAY)
    viewer = acts.viewer(account, acts.ADA)
    assert reads.entry(viewer, "main", Name("shop", "retry"), NOON + 2 * DAY - timedelta(microseconds=1))
    assert reads.entry(viewer, "main", Name("shop", "retry"), NOON + 2 * DAY) is None


def test_what_cannot_be_is_refused(db, account, other_account):
    entry_id = acts.put(account, ttl_at=NOON + 5 * DAY).entry_id
    with pytest.raises(Invalid):
        set_ttl(account, entry_id, NOON)
    with pytest.raises(Invalid):
        set_ttl(account, entry_id, (NOON + 9 * DAY).replace(tzinfo=None))
    with pytest.raises(StaleVersion):
        set_ttl(account, entry_id, None, expected=7)
    with pytest.raises(Conflict):
        set_ttl(account, entry_id, NOON + 5 * DAY)
    with pytest.raises(NotFound):
        set_ttl(other_account, entry_id, None)
    with pytest.raises(NotFound):
        set_ttl(account, entry_id, None, now=NOON + 5 * DAY)
    assert acts.entry(account).version == 1


def test_a_line_that_no_run_had_noticed_counts_as_crossed(db, account):
    entry_id = acts.put(account, confidence=0.7).entry_id
    set_ttl(account, entry_id, NOON + 900 * DAY, now=NOON + 85 * DAY)
    assert acts.head(account, entry_id).state.status == "under_review"


def scored(account, entry_id):
    sql = "SELECT importance_score, importance_dimensions FROM memories_entry WHERE account_id = %s AND id = %s"
    ((score, dimensions),) = acts.rows_of(sql, account.pk, entry_id)
    return score, dimensions and json.loads(dimensions)


def test_without_an_evaluator_nobody_is_scored(db, account):
    entry_id = acts.put(account).entry_id
    jobs.importance()
    assert scored(account, entry_id) == (None, None)


def test_the_heuristic_scores_what_no_agent_scored_and_again_when_the_claim_changes(db, account, clock, settings):
    settings.IMPORTANCE_EVALUATOR = "memories.services.importance.heuristic"
    own = acts.put(account, key="own", importance_score=0.9, importance_dimensions={"mine": 1.0}).entry_id
    risk = acts.put(account, {"goal": "g", "steps": ["a"]}, key="risk-a", memory_type="procedure").entry_id
    hunch = acts.put(account, "x", key="hunch", memory_type="belief", confidence=0.4).entry_id
    clock(NOON + DAY)
    jobs.importance()
    first = [scored(account, risk), scored(account, hunch)]
    jobs.importance()
    assert [scored(account, risk), scored(account, hunch)] == first
    assert scored(account, own)[0] == 0.9
    assert 0 < scored(account, hunch)[0] < scored(account, risk)[0] < 1
    assert set(scored(account, risk)[1]) == {*importance.WEIGHTS, "evaluated"}
    acts.put(account, "something else", key="hunch", memory_type="fact", now=NOON + 2 * DAY)
    clock(NOON + 3 * DAY)
    before = scored(account, hunch)[0]
    jobs.importance()
    assert scored(account, hunch)[0] > before
    assert acts.head(account, risk).version == 1


def test_importance_takes_the_place_of_confidence_in_the_priority(db, account, clock, settings):
    settings.IMPORTANCE_EVALUATOR = "memories.services.importance.heuristic"
    entry_id = acts.put(account, confidence=1.0).entry_id
    clock(NOON)
    jobs.importance()
    jobs.tiers()
    sql = "SELECT importance FROM memories_tiermove WHERE account_id = %s AND entry_id = %s"
    assert acts.rows_of(sql, account.pk, entry_id) == [(scored(account, entry_id)[0],)]


@pytest.mark.parametrize(
    "answers",
    [[], [Importance(1.1, {})], [Importance(float("nan"), {})], [Importance(0.5, {"a": float("inf")})]],
)
def test_an_evaluator_that_answers_nonsense_is_refused_and_nothing_is_stored(db, account, answers):
    entry_id = acts.put(account).entry_id
    with pytest.raises(BadEvaluator):
        importance.evaluate(account.pk, importance.unscored(account.pk, 0), lambda seen: answers, NOON)
    assert scored(account, entry_id) == (None, None)


def test_an_evaluator_may_have_no_opinion(db, account):
    entry_id = acts.put(account).entry_id
    assert importance.evaluate(account.pk, importance.unscored(account.pk, 0), lambda seen: [None], NOON) == 0
    assert scored(account, entry_id) == (None, None)


SEEN = "SELECT id, status, version, tier, due_at, settled_confidence FROM memories_entry WHERE account_id = %s"


@pytest.mark.parametrize("moments", [(90,), (85, 86, 87, 88, 89, 90), (90, 90), (90, 89.96, 90), (86, 90, 86, 90)])
def test_jobs_missed_repeated_or_run_by_a_clock_set_back_come_to_the_same(db, account, clock, moments):
    ids = acts.fill(account, 3, confidence=0.7)
    ids += acts.fill(account, 2, path="ends", ttl_at=NOON + 88 * DAY)
    ids += acts.fill(account, 3, path="stays", confidence=1.0, memory_type="procedure")
    for day in moments:
        clock(NOON + day * DAY)
        for job in (jobs.expire, jobs.decay, jobs.tiers, jobs.fold):
            job()
    # Which of them came first is told by `at` alone: status, version, tier and what is stored of the future are equal.
    found = {row[0]: row[1:] for row in acts.rows_of(SEEN, account.pk)}
    archived = NOON + 194 * DAY
    assert {found[i][:3] for i in ids[:3]} == {("under_review", 2, 3)}
    assert {found[i][:3] for i in ids[3:5]} == {("archived", 2, 3)}
    assert {found[i][:3] for i in ids[5:]} == {("active", 1, 1)}
    assert [found[i][3] for i in ids[:5]] == [archived] * 3 + [None] * 2
    assert {round(found[i][4], 12) for i in ids[:3]} == {round(0.7 * 0.5 ** (90 / 69), 12)}

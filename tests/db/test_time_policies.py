"""A policy changes: what is foreseen is what happens, the present value stays, and the past keeps its own numbers."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from django_q.models import OrmQ

from memories import jobs, recalls
from memories.ageing import policy_reads
from memories.checking import verify_reads
from memories.checking.verify_reads import Tally
from memories.entry import why
from memories.jobs.runs import Run
from memories.models import JobRun, PolicyVersion
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from memories.rules.silence import Silence
from memories.services import policies
from memories.services.ledger import Actor
from memories.services.policies import Saved
from memories.viewers import account_policy, person
from outcomes import services as outcomes
from outcomes.rules import Report
from senselab.accounts.models import Account
from senselab.errors import Conflict, Invalid, StaleVersion
from tests.db import acts
from tests.db.acts import NOON

DAY = timedelta(days=1)
LATER = NOON + 30 * DAY
ADA = Actor("person", "ada")
STRICT = {"review_below": 0.45, "archive_below": 0.2, "base_half_life": 30.0, "hot_capacity": 3, "warm_capacity": 4}


def save(account, changes, *, expected=1, reason="we forget too slowly", now=LATER) -> Saved:
    return policies.save(account.pk, changes, expected=expected, actor=ADA, reason=reason, now=now)


def fresh(account) -> Account:
    return Account.objects.get(pk=account.pk)


def applied(account) -> JobRun:
    """Let the worker do what was asked."""
    jobs.asked()
    return JobRun.objects.filter(account_id=account.pk, job="policy").latest("id")


@pytest.fixture
def store(account):
    """Sixty entries of all kinds, some recalled, some judged, some held, some pinned."""
    chance = random.Random(4)
    for n in range(60):
        entry_id = acts.put(
            account, n, key=f"k{n}", confidence=round(chance.uniform(0.15, 1), 3),
            memory_type=chance.choice(["fact", "belief", "experience", "procedure"]),
            pinned=n % 15 == 0, now=NOON + chance.uniform(0, 20) * DAY,
        ).entry_id  # fmt: skip
        if n % 4 == 0:
            acts.told(account, f"o{n}", chance.choice(["success", "minor_failure"]), f"shop/k{n}", now=NOON + 21 * DAY)
        if n % 6 == 0:
            recalls.write(account.pk, DEFAULT, [Read(entry_id, 1, acts.BOB, "", NOON + 25 * DAY, 200)] * (1 + n % 3))
    for n in (1, 2, 3):
        acts.put(account, "new", key=f"k{n}", confidence=0.5, now=NOON + 22 * DAY)
        acts.back(account, acts.entry(account, key=f"k{n}").entry_id, to=1, expected=2, now=NOON + 23 * DAY)
    return account


def stored(account) -> dict:
    sql = "SELECT id, status, tier, due_at, settled_confidence FROM memories_entry WHERE account_id = %s"
    return {row[0]: row[1:] for row in acts.rows_of(sql, account.pk)}


def test_saving_makes_a_version_that_says_who_and_why_and_keeps_the_first(db, account):
    save(account, {"base_half_life": 30})
    assert fresh(account).policy_version == 2
    assert account_policy(fresh(account)) == replace(DEFAULT, base_half_life=30.0, version=2)
    kept = PolicyVersion.objects.filter(account_id=account.pk).order_by("number")
    assert [(one.number, one.values, one.actor, one.reason) for one in kept] == [
        (1, {}, "", ""),
        (2, {"base_half_life": 30.0}, "ada", "we forget too slowly"),
    ]


def test_going_back_to_the_default_is_a_version_without_differences(db, account):
    save(account, {"base_half_life": 30})
    save(account, {"base_half_life": 69}, expected=2)
    assert fresh(account).policy_values == {}
    assert fresh(account).policy_version == 3


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"hot_capacity": -1}, "/hot_capacity"),
        ({"base_half_life": 0}, "/base_half_life"),
        ({"daily_rate": float("nan")}, "/daily_rate"),
        ({"age_rate": float("inf")}, "/age_rate"),
        ({"review_below": 0.6}, "/review_below"),
        ({"warm_capacity": 2.5}, "/warm_capacity"),
        ({"no_such_number": 1}, "/no_such_number"),
        ({"name": "x" * 60}, "/name"),
        ({"decay": "sometimes"}, "/decay"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_with_its_field(db, account, changes, field):
    with pytest.raises(Invalid) as refusal:
        save(account, changes)
    assert refusal.value.places[0].pointer == field
    assert fresh(account).policy_version == 1
    assert not PolicyVersion.objects.filter(account_id=account.pk).exists()


def test_without_a_reason_with_nothing_new_or_over_somebody_elses_version_nothing_is_saved(db, account):
    with pytest.raises(Invalid, match="Say why"):
        save(account, {"base_half_life": 30}, reason="  ")
    with pytest.raises(Conflict, match="nothing differs"):
        save(account, {"base_half_life": 69.0})
    save(account, {"base_half_life": 30})
    with pytest.raises(StaleVersion) as refusal:
        save(account, {"base_half_life": 20}, expected=1)
    assert refusal.value.extra["current_version"] == 2


def test_what_is_foreseen_is_what_happens(db, store, clock):
    clock(LATER)
    jobs.decay()
    jobs.tiers()
    before = stored(store)
    policy = policies.drafted(store, STRICT)
    told = policy_reads.foresee(person(store), policy, LATER)

    save(store, STRICT)
    run = applied(store)

    after = stored(store)
    statuses = [(before[i][0], after[i][0]) for i in before if before[i][0] != after[i][0]]
    tiers = [(before[i][1], after[i][1]) for i in before if before[i][1] != after[i][1]]
    assert {(s.before, s.after): s.count for s in told.statuses} == {pair: statuses.count(pair) for pair in statuses}
    assert {(s.before, s.after): s.count for s in told.tiers} == {pair: tiers.count(pair) for pair in tiers}
    assert told.looked == len(before)
    assert len(statuses) > 5
    assert len(tiers) > 5
    assert (run.state, run.failures, run.looked) == ("done", 0, 2 * len(before) + 7)
    for sample in told.samples:
        entry_id = acts.entry(store, key=sample.key, now=LATER).entry_id
        assert (sample.status, sample.tier) == before[entry_id][:2]
        assert (sample.new_status, sample.new_tier) == after[entry_id][:2]


def test_every_stored_moment_follows_the_new_policy(db, store, clock):
    clock(LATER)
    save(store, STRICT)
    applied(store)
    policy = account_policy(fresh(store))
    for entry_id, (_, _, due_at, settled) in stored(store).items():
        head = acts.head(store, entry_id)
        silence = Silence(head.state, head.kept, head.accessed_at, head.recall_count)
        assert due_at == silence.due_at(policy)
        assert settled == pytest.approx(silence.effective(LATER, policy), rel=1e-9)


def test_what_moves_is_one_change_set_of_whoever_saved_with_the_reason(db, store, clock):
    clock(LATER)
    save(store, STRICT)
    run = applied(store)
    sql = """SELECT id, actor_kind, actor, reason, cause, size FROM memories_changeset
              WHERE account_id = %s AND kind = 'policy'"""
    (made,) = acts.rows_of(sql, store.pk)
    assert made[:5] == (run.terms["change_set"], "person", "ada", "we forget too slowly", "policy 2")
    assert made[5] > 5


def test_a_policy_applied_twice_or_in_many_turns_comes_to_the_same(db, store, clock, monkeypatch):
    monkeypatch.setattr("memories.jobs.runs.TURN_SECONDS", -1)
    monkeypatch.setattr("memories.jobs.refreshing.STRETCH", 7)
    monkeypatch.setattr("memories.jobs.policies.BATCH", 4)
    clock(LATER)
    save(store, STRICT)
    for _ in range(60):
        run = applied(store)
        if run.state == "done":
            break
    once = stored(store)
    assert run.state == "done"
    assert OrmQ.objects.exists()
    jobs.policies.apply(fresh(store), LATER, Run(store.pk))
    assert stored(store) == once
    assert all(due is None or due > NOON for _, _, due, _ in once.values())


def test_the_present_value_stays_and_the_next_outcome_starts_from_it(db, account, clock):
    entry_id = acts.put(account, confidence=0.7).entry_id
    for n in range(3):
        acts.told(account, f"before-{n}")
    before = acts.entry(account).state
    save(account, {"prior_strength": 8.0, "mass_decay": 0.95}, now=NOON + DAY)
    clock(NOON + DAY)
    applied(account)
    assert acts.entry(account).state == before

    policy = account_policy(fresh(account))
    report = Report("after", "success", acts.ADA, ("shop/retry",), causal_confidence=0.0)
    outcomes.commit(account.pk, report, actor=acts.agent(), policy=policy, now=NOON + 2 * DAY)
    after = acts.entry(account).state
    # Nothing came, so only old evidence faded, by the new policy's share and from the present value.
    assert after.confidence == pytest.approx(before.confidence, abs=0.01)
    assert after.confidence < before.confidence
    assert acts.head(account, entry_id).version == 5


def test_each_step_is_told_and_verified_by_the_policy_that_made_it(db, account):
    acts.put(account, confidence=0.7)
    acts.told(account, "first", verified_by="CI")
    save(account, {"verified_weight": 5.0, "prior_strength": 4.0})
    policy = account_policy(fresh(account))
    report = Report("second", "failure", acts.ADA, ("shop/retry",), verified_by="CI")
    outcomes.commit(account.pk, report, actor=acts.agent(), policy=policy, now=LATER)
    save(account, {"verified_weight": 1.0}, expected=2)

    viewer = person(fresh(account))
    steps = why.story(viewer, acts.entry(account).entry_id).steps
    told = [dict(step.lines) for step in steps]
    assert [step.act.policy for step in steps] == ["evidence-v1@1", "evidence-v1@1", "evidence-v1@2"]
    assert told[1]["times verified from outside the agent"] == 1.5
    assert told[2]["times verified from outside the agent"] == 5.0
    for step in steps[1:]:
        assert dict(step.lines)["Confidence after"] == step.row.state.confidence
        assert dict(step.lines)["Weight"] == step.act.weight
    tally = Tally()
    assert list(verify_reads.account_findings(fresh(account), tally)) == []
    assert tally.unknown == 0


def test_a_write_under_the_old_policy_meanwhile_gets_the_new_moments(db, account, clock):
    clock(LATER)
    save(account, STRICT)
    # A call that read the policy before it was saved, and ended after the job went past.
    entry_id = acts.put(account, confidence=0.9, now=LATER).entry_id
    assert acts.head(account, entry_id).version == 1
    jobs.policies.settle_strays(fresh(account), account_policy(fresh(account)), LATER, Run(account.pk))
    head = acts.head(account, entry_id)
    due = Silence(head.state, head.kept, head.accessed_at, head.recall_count).due_at(account_policy(fresh(account)))
    assert stored(account)[entry_id][2] == due


def test_another_account_keeps_its_policy(db, account, other_account, clock):
    clock(LATER)
    theirs = acts.put(other_account, confidence=0.7).entry_id
    before = stored(other_account)[theirs]
    save(account, STRICT)
    applied(account)
    assert account_policy(fresh(other_account)) == DEFAULT
    assert stored(other_account)[theirs] == before

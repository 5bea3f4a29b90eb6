"""Outcomes move confidence: the pinned numbers, and what must hold for every sequence."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules import feedback
from memories.rules.confidence import Standing, Step, Triple, adopt, apply_outcome, explain, rebase, triple_confidence
from memories.rules.evidence import label
from memories.rules.policy import DEFAULT, MULTIPLICATIVE, EvidenceStatus, OutcomeType, Policy
from tests.unit.rules_cast import HALF, NOON, a_step, run, steps

SHARED = [a_step("success", keys=8), a_step("failure", keys=8)]
VERIFIED = [a_step("failure", causal_confidence=0.5), a_step("failure", verified=True)]
WINS = ["success"] * 5

PINNED = [
    (0.7, WINS, [0.818182, 0.857881, 0.878038, 0.890062, 0.897890], ["validated"] * 5),
    (0.7, [*WINS, *["failure"] * 3], [0.633845, 0.415117, 0.316048], ["validated", "discredited", "discredited"]),
    (0.7, ["failure"], [0.259259], ["discredited"]),
    (
        0.7,
        ["failure", *["success"] * 4],
        [0.259259, 0.486127, 0.608046, 0.686133, 0.740549],
        ["discredited", "discredited", "contested", "contested", "validated"],
    ),
    (0.7, ["success", "success", "failure"], [0.818182, 0.857881, 0.424044], ["discredited"]),
    (1.0, ["success", "failure"], [1.0, 0.411765], ["discredited"]),
    (0.8, ["minor_failure", "critical_failure"], [0.340426, 0.195569], ["discredited"]),
    (0.7, SHARED, [0.722543, 0.597508], ["contested"]),
    (0.7, VERIFIED, [0.378378, 0.186788], ["discredited"]),
    # contract.md 3.1
    (0.7, ["success"] * 4 + ["failure"] * 2, [0.615731, 0.399463], ["validated", "discredited"]),
    (0.7, [a_step(verified=True)], [0.848101], ["validated"]),
    (0.8, ["success"], [0.875], ["validated"]),
    (0.85, ["minor_failure"], [0.356021], ["discredited"]),
    (0.7, ["success"] * 10, [0.913577], ["validated"]),
    (0.7, ["success"] * 10 + ["failure"] * 2, [0.673123, 0.451382], ["validated", "discredited"]),
]


@pytest.mark.parametrize(("start", "sequence", "confidences", "labels"), PINNED)
def test_the_pinned_numbers_hold(start, sequence, confidences, labels):
    applied = run(start, *sequence)
    assert [round(one.after, 6) for one in applied][-len(confidences) :] == confidences
    assert [label(one.standing.record) for one in applied][-len(labels) :] == labels


def test_the_masses_of_the_contract_hold():
    won, lost = run(0.7, "success")[0].standing.record, run(0.7, "failure")[0].standing.record
    assert (round(won.evidence_success, 9), won.evidence_failure) == (1.3, 0)
    assert (lost.evidence_success, round(lost.evidence_failure, 9)) == (0, 3.4)


@pytest.mark.parametrize(
    ("alias", "grade"),
    [
        ("clean_deploy", "success"),
        ("regression", "minor_failure"),
        ("p2_incident", "failure"),
        ("p1_incident", "critical_failure"),
    ],
)
def test_an_alias_weighs_as_its_grade_and_is_kept_as_sent(alias, grade):
    sent, meant = run(0.7, alias)[0], run(0.7, grade)[0]
    assert sent.after == meant.after
    assert sent.standing.record.last_outcome == alias


def test_the_first_outcome_stores_the_prior_and_later_ones_keep_it():
    applied = run(0.7, "success", "failure")
    assert [one.standing.record.prior_confidence for one in applied] == [0.7, 0.7]
    assert applied[1].standing.triple.prior == 0.7


def test_a_step_moves_counts_last_outcome_and_validators():
    ada, bob = a_step(agent_id="agent/ada"), a_step("failure", agent_id="agent/bob", at=NOON + timedelta(hours=1))
    record = run(0.7, ada, bob)[-1].standing.record
    assert (record.success_count, record.failure_count, record.outcome_count) == (1, 1, 2)
    assert (record.last_outcome, record.last_outcome_at) == ("failure", NOON + timedelta(hours=1))
    assert record.validators == ("agent/ada",)


def test_validators_are_ten_at_most_the_newest_last():
    names = [f"agent/{n}" for n in range(12)]
    record = run(0.7, *[a_step(agent_id=name) for name in [*names, names[5]]])[-1].standing.record
    assert record.validators == (*names[2:5], *names[6:], names[5])


def test_the_first_strike_needs_three_wins_and_is_granted_once():
    assert not run(0.7, "success", "success", "failure")[-1].first_strike
    struck = run(0.7, *WINS[:3], "failure", "failure")
    assert (struck[3].first_strike, struck[3].surprise) == (True, 1.0)
    assert (struck[4].first_strike, struck[4].surprise) == (False, 1 + struck[3].after)


def test_an_entry_is_discredited_from_the_first_moment_on_until_it_is_back_at_one_half():
    low = run(0.7, "failure", "failure", "success")
    assert [one.standing.record.discredited_at for one in low[:2]] == [NOON, NOON]
    assert low[2].after < 0.5
    assert low[2].standing.record.discredited_at == NOON
    assert run(0.7, "failure", "success", "success")[-1].standing.record.discredited_at is None


def test_a_success_that_stays_below_one_half_discredits_nobody():
    applied = run(0.1, a_step(causal_confidence=0.1))[0]
    assert applied.after < 0.5
    assert applied.standing.record.discredited_at is None


def test_exactly_one_half_is_not_below_it_whatever_the_noise():
    standing = Standing(0.5 - 1e-12, triple=Triple(0.5 - 1e-12, 0.0, 0.0))
    record = apply_outcome(standing, a_step("failure", causal_confidence=0.0)).standing.record
    assert record.discredited_at is None


def test_a_shared_success_can_lower_a_strong_entry_and_fading_is_a_line_of_its_own():
    strong = run(0.7, *["success"] * 8)[-1].standing
    applied = apply_outcome(strong, a_step(keys=8))
    assert applied.after < applied.before
    lines = {line.words.split(":")[0]: line.number for line in explain(applied)}
    assert lines["Fading"] < 0 < lines["What this outcome moves"]


@given(HALF, st.lists(steps(), max_size=8))
def test_confidence_stays_in_its_range_and_masses_are_never_negative(start, sequence):
    for policy in (DEFAULT, MULTIPLICATIVE):
        for one in run(start, *sequence, policy=policy):
            record, triple = one.standing.record, one.standing.triple
            assert 0 <= one.after <= 1
            assert 0 <= triple.prior <= 1
            assert min(record.evidence_success, record.evidence_failure, triple.success, triple.failure) >= 0
            assert one.weight >= 0


@given(HALF, st.lists(steps(), min_size=1, max_size=8))
def test_before_any_feedback_the_triple_is_the_record(start, sequence):
    standing = run(start, *sequence)[-1].standing
    record = standing.record
    assert standing.triple == Triple(record.prior_confidence, record.evidence_success, record.evidence_failure)
    assert standing.confidence == triple_confidence(standing.triple)


def stored(standing: Standing) -> Standing:
    """Return the standing after its numbers went through text, as a row goes through the wire."""
    record, triple = standing.record, standing.triple
    numbers = [record.evidence_success, record.evidence_failure, standing.confidence, triple.success, triple.failure]
    es, ef, confidence, success, failure = json.loads(json.dumps(numbers))
    kept = replace(record, evidence_success=es, evidence_failure=ef)
    return Standing(confidence, kept, Triple(triple.prior, success, failure), standing.positive, standing.negative)


@given(HALF, st.lists(st.one_of(steps(), st.sampled_from([0.1, -0.2, 0.37, -1.0, 1.0])), max_size=8))
def test_replaying_a_ledger_gives_the_stored_state(start, ledger):
    at_once, row_by_row = Standing(start), Standing(start)
    for event in ledger:
        at_once = moved(at_once, event)
        row_by_row = stored(moved(row_by_row, event))
    assert row_by_row == at_once
    assert at_once.record.outcome_count == sum(isinstance(event, Step) for event in ledger)


def moved(standing: Standing, event: Step | float) -> Standing:
    if isinstance(event, Step):
        return apply_outcome(standing, event).standing
    return feedback.evidence(standing, event)


@given(HALF, st.lists(steps(), min_size=1, max_size=6), st.data())
def test_labels_and_posterior_follow_from_the_record_alone(start, sequence, data):
    record = run(start, *sequence)[-1].standing.record
    judged = feedback.reject(feedback.accept(Standing(data.draw(HALF), record, Triple(0.5, 1.0, 1.0))))
    assert judged.record == record
    assert label(judged.record) == label(record)
    if record.discredited_at is not None:
        assert label(record) == EvidenceStatus.DISCREDITED


@given(HALF, steps(), st.integers(2, 50))
def test_splitting_credit_over_keys_never_gives_more_than_the_whole(start, step, keys):
    whole = apply_outcome(Standing(start), replace(step, keys=1)).weight
    part = apply_outcome(Standing(start), replace(step, keys=keys)).weight
    assert part * keys <= whole * (1 + 1e-12) + 1e-300  # a subnormal loses digits


@given(HALF, st.lists(steps(), min_size=1, max_size=6))
def test_the_lines_add_up(start, sequence):
    for one in run(start, *sequence):
        lines = explain(one)
        numbers = [line.number for line in lines]
        assert numbers[0] + numbers[-3] + numbers[-2] == pytest.approx(numbers[-1], abs=1e-12)
        product = 1.0
        for line in lines[1:-4]:
            product = product / line.number if line.words.startswith("divided") else product * line.number
        assert product == pytest.approx(one.weight, rel=1e-12, abs=1e-300)
        assert lines[-4].number == one.weight


@given(HALF, st.floats(0, 1e6), st.floats(0, 1e6))
def test_rebase_is_exact(confidence, success, failure):
    triple = rebase(confidence, success, failure)
    assert triple_confidence(triple) == pytest.approx(confidence, abs=1e-9)
    assert 0 <= triple.prior <= 1
    assert min(triple.success, triple.failure) >= 0


@pytest.mark.parametrize(
    ("confidence", "success", "failure", "expected"),
    [
        (0.5, 1.0, 1.0, Triple(0.5, 1.0, 1.0)),
        (0.8, 0.0, 0.0, Triple(0.8, 0.0, 0.0)),
        (0.9, 0.0, 2.0, Triple(1.0, 16.0, 2.0)),  # Es = (0.9 * 4 - 2) / 0.1
        (1.0, 3.0, 2.0, Triple(1.0, 3.0, 0.0)),
        (0.1, 2.0, 0.0, Triple(0.0, 2.0, 16.0)),  # Ef = 2 / 0.1 - 2 - 2
        (0.0, 2.0, 5.0, Triple(0.0, 0.0, 5.0)),
        (1e-320, 2.0, 5.0, Triple(0.0, 0.0, 5.0)),
    ],
)
def test_rebase_moves_the_prior_first_and_a_mass_only_when_it_must(confidence, success, failure, expected):
    triple = rebase(confidence, success, failure)
    assert (triple.prior, triple.success, triple.failure) == pytest.approx(
        (expected.prior, expected.success, expected.failure), rel=1e-9
    )


def test_the_multiplicative_policy_multiplies_and_keeps_the_record():
    applied = run(0.7, "success", "minor_failure", "failure", "critical_failure", policy=MULTIPLICATIVE)
    assert [round(one.after, 6) for one in applied] == [0.721, 0.66332, 0.596988, 0.50744]
    assert applied[-1].standing.record.failure_count == 3
    assert [line.number for line in explain(applied[0], MULTIPLICATIVE)] == [0.7, 1.0, 1.03, applied[0].after]


def test_another_policy_takes_an_entry_over_at_its_present_confidence():
    standing = run(0.7, "success", "failure")[-1].standing
    stubborn = Policy(name="stubborn", prior_strength=6.0)
    adopted = adopt(standing, stubborn)
    assert adopted.confidence == standing.confidence
    assert adopted.record == standing.record
    assert triple_confidence(adopted.triple, stubborn) == pytest.approx(standing.confidence, abs=1e-12)


def test_a_step_under_another_policy_begins_from_the_present_confidence():
    standing = run(0.7, "success", "success")[-1].standing
    stubborn = Policy(name="stubborn", prior_strength=6.0)
    (applied,) = run(standing, "failure", policy=stubborn)
    assert applied.before == standing.confidence
    assert applied == run(adopt(standing, stubborn), "failure", policy=stubborn)[0]
    (unmoved,) = run(standing, a_step("success", causal_confidence=0.0), policy=replace(stubborn, mass_decay=1.0))
    assert unmoved.after == pytest.approx(standing.confidence, abs=1e-12)


@pytest.mark.parametrize(
    "wrong", [{"keys": 0}, {"causal_confidence": 1.1}, {"causal_confidence": float("nan")}, {"credit": -0.1}]
)
def test_a_step_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=r"between 0 and 1|at least one"):
        a_step(**wrong)


def test_every_outcome_type_has_a_severity_and_a_factor():
    assert {kind: DEFAULT.severity(kind) for kind in OutcomeType} == {
        "success": 1, "clean_deploy": 1, "minor_failure": 1.5, "regression": 1.5,
        "failure": 2, "p2_incident": 2, "critical_failure": 3, "p1_incident": 3,
    }  # fmt: skip
    assert {MULTIPLICATIVE.factor(kind) for kind in OutcomeType} == {1.03, 0.92, 0.90, 0.85}

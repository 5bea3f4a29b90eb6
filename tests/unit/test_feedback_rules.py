"""Feedback moves confidence and survives the next outcome."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules import feedback
from memories.rules.confidence import Standing, Triple, apply_outcome, triple_confidence
from memories.rules.policy import Policy
from tests.unit.rules_cast import HALF, a_step, run, steps


def test_acceptance_adds_a_tenth_and_rejection_takes_two():
    accepted = feedback.accept(Standing(0.7))
    assert (round(accepted.confidence, 9), accepted.positive, accepted.negative) == (0.8, 1, 0)
    rejected = feedback.reject(accepted)
    assert (round(rejected.confidence, 9), rejected.positive, rejected.negative) == (0.6, 1, 1)


def test_confidence_never_leaves_its_range():
    assert feedback.accept(Standing(0.95)).confidence == 1
    assert feedback.reject(Standing(0.1)).confidence == 0
    assert feedback.evidence(Standing(0.5), -1).confidence == 0


def test_evidence_without_a_delta_changes_nothing():
    standing = run(0.7, "success")[-1].standing
    assert feedback.evidence(standing) == standing


@pytest.mark.parametrize("delta", [1.01, -2, float("nan"), float("inf")])
def test_a_delta_out_of_range_is_refused(delta):
    with pytest.raises(ValueError, match="confidence_delta"):
        feedback.evidence(Standing(0.5), delta)


def test_feedback_before_the_first_outcome_is_the_prior_of_the_record_too():
    accepted = feedback.accept(Standing(0.7))
    record = apply_outcome(accepted, a_step()).standing.record
    assert record.prior_confidence == accepted.confidence


def test_feedback_survives_the_next_outcome():
    worn = run(0.7, "success", "failure", "failure")[-1].standing
    kept = feedback.accept(feedback.accept(worn))
    assert kept.record == worn.record
    with_word = apply_outcome(kept, a_step("failure", causal_confidence=0.2)).after
    without = apply_outcome(worn, a_step("failure", causal_confidence=0.2)).after
    assert with_word > without + 0.1


def test_the_deltas_are_the_policys():
    gentle = Policy(name="gentle", accepted_delta=0.02, rejected_delta=-0.05)
    assert round(feedback.accept(Standing(0.5), gentle).confidence, 9) == 0.52
    assert round(feedback.reject(Standing(0.5), gentle).confidence, 9) == 0.45


@given(HALF, st.lists(steps(), max_size=5), st.floats(-1, 1))
def test_the_triple_explains_what_feedback_left(start, sequence, delta):
    applied = run(start, *sequence)
    standing = applied[-1].standing if applied else Standing(start)
    judged = feedback.evidence(standing, delta)
    assert judged.record == standing.record
    if judged.triple != Triple():
        assert triple_confidence(judged.triple) == pytest.approx(judged.confidence, abs=1e-9)

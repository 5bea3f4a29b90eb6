"""Policies: the numbers of the rules, stored and read again, and nonsense refused."""

import json
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from memories.rules.policy import _RANGES, DEFAULT, MULTIPLICATIVE, Change, Policy, PolicyError, validate


def test_the_default_is_what_the_rules_say():
    assert (DEFAULT.name, DEFAULT.version, DEFAULT.model, DEFAULT.decay) == ("evidence-v1", 1, "evidence", "half_life")
    assert (DEFAULT.prior_strength, DEFAULT.mass_decay, DEFAULT.discredit_threshold) == (2, 0.8, 0.5)
    assert (DEFAULT.first_strike_wins, DEFAULT.verified_weight, DEFAULT.validators) == (3, 1.5, 10)
    assert (DEFAULT.label_share, DEFAULT.label_outcomes, DEFAULT.label_successes, DEFAULT.label_failures) == (
        0.7,
        2,
        4,
        1,
    )
    assert (DEFAULT.accepted_delta, DEFAULT.rejected_delta, DEFAULT.hold_drop) == (0.1, -0.2, 0.1)
    assert (DEFAULT.archive_below, DEFAULT.review_below, DEFAULT.return_at) == (0.1, 0.3, 0.5)
    assert (DEFAULT.base_half_life, DEFAULT.outcome_factor, DEFAULT.half_life_cap) == (69, 2, 64)
    assert (DEFAULT.daily_rate, DEFAULT.daily_cap, DEFAULT.freshness_floor) == (0.99, 4413, 2**-64)
    assert (DEFAULT.importance_weight, DEFAULT.recency_weight, DEFAULT.age_rate) == (1, 1, 0.1)
    assert (DEFAULT.hot_capacity, DEFAULT.warm_capacity) == (50, 200)
    assert (DEFAULT.credit_by_uplift, DEFAULT.uplift_floor, DEFAULT.uplift_shrink) == (False, 0.25, 10)
    assert MULTIPLICATIVE.model == "multiplicative"


def test_a_policy_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        DEFAULT.prior_strength = 3.0  # type: ignore[misc]


@pytest.mark.parametrize("policy", [DEFAULT, MULTIPLICATIVE, Policy(name="own", base_half_life=30.5, hot_capacity=7)])
def test_a_policy_survives_storage(policy):
    stored = json.loads(json.dumps(policy.as_values()))
    assert Policy.from_values(stored) == policy


def test_missing_fields_have_their_defaults_and_whole_numbers_their_types():
    policy = Policy.from_values({"name": "own", "base_half_life": 30, "hot_capacity": 7.0})
    assert policy == replace(DEFAULT, name="own", base_half_life=30.0, hot_capacity=7)
    assert (type(policy.base_half_life), type(policy.hot_capacity)) == (float, int)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hot_capacity", -1),
        ("warm_capacity", 1.5),
        ("base_half_life", 0),
        ("base_half_life", float("nan")),
        ("prior_strength", float("inf")),
        ("prior_strength", 10**400),
        ("mass_decay", 1.1),
        ("severity_failure", -2),
        ("severity_failure", "2"),
        ("severity_failure", None),
        ("severity_failure", True),
        ("credit_by_uplift", 1),
        ("model", "magic"),
        ("decay", ""),
        ("model", 3),
        ("name", ""),
        ("name", "x" * 101),
        ("daily_rate", 0),
        ("daily_rate", 1.01),
        ("freshness_floor", 0),
        ("half_life_cap", 65),
        ("review_below", 0.05),
        ("return_at", 0.2),
        ("accepted_delta", -0.1),
        ("rejected_delta", 0.1),
        ("half_live", 3),
        ("", 3),
    ],
)
def test_nonsense_is_refused_by_the_name_of_its_field(field, value):
    with pytest.raises(PolicyError) as refused:
        Policy.from_values({field: value})
    named = refused.value.field
    assert named == ("review_below" if field == "return_at" else field)
    assert refused.value.detail.endswith(".")


def test_importance_and_recency_cannot_both_weigh_nothing():
    with pytest.raises(PolicyError):
        validate(Policy(importance_weight=0.0, recency_weight=0.0))


def test_every_number_of_a_policy_has_a_range_and_the_defaults_lie_within():
    numbers = {field.name for field in fields(Policy) if type(field.default) in {int, float}}
    assert numbers == set(_RANGES)
    assert validate(DEFAULT) is DEFAULT
    assert validate(MULTIPLICATIVE) is MULTIPLICATIVE


def test_the_changes_are_those_of_the_rules():
    assert set(Change) == {
        "created", "written", "outcome", "feedback", "evidence", "decayed",
        "expired", "review", "rollback", "superseded", "merged", "erased",
    }  # fmt: skip

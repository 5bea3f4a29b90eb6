"""Priority and tiers, where entries come from, and credit by uplift."""

import math
from datetime import timedelta

import pytest

from memories.rules.credit import Uplift, credit, uplift
from memories.rules.policy import Policy
from memories.rules.provenance import provenance_tier
from memories.rules.tiers import priority, tier_for_rank
from tests.unit.rules_cast import NOON


def worth(*, importance=None, effective=0.7, days=0.0, recall_count=0, policy=None):
    known = {} if policy is None else {"policy": policy}
    written_at = NOON - timedelta(days=days)
    return priority(
        importance=importance, effective=effective, written_at=written_at, now=NOON, recall_count=recall_count, **known
    )


def test_a_new_entry_is_worth_its_confidence_and_its_recency():
    parts = worth()
    assert (parts.importance, parts.recency, parts.frequency, parts.durability) == (0.7, 1, 1, 1)
    assert parts.value == 1.7


def test_age_and_recalls_enter_as_the_formula_says():
    often = math.log(1 + 50)
    expected = (0.7 + math.exp(-1.25)) * often * math.exp(-1.25 / often)
    assert worth(days=12.5, recall_count=50).value == pytest.approx(expected, rel=1e-12)


def test_the_importance_score_wins_even_when_it_is_zero():
    assert worth(importance=0.2).importance == 0.2
    assert worth(importance=0.0).importance == 0


def test_few_recalls_count_as_one():
    assert worth(recall_count=1).frequency == 1
    assert worth(recall_count=2).frequency == pytest.approx(math.log(3))


def test_ages_of_centuries_and_of_the_future_are_worth_something_finite():
    assert 0 < worth(days=400_000).value < 1e-100
    assert worth(days=-30).value == worth().value


def test_the_weights_are_the_policys():
    assert worth(policy=Policy(name="calm", recency_weight=0.0)).value == 0.7


@pytest.mark.parametrize(("rank", "tier"), [(1, 1), (50, 1), (51, 2), (250, 2), (251, 3), (10**9, 3)])
def test_fifty_are_hot_and_two_hundred_warm(rank, tier):
    assert tier_for_rank(rank) == tier


def test_a_capacity_of_zero_leaves_a_tier_empty():
    assert tier_for_rank(1, Policy(name="cold", hot_capacity=0, warm_capacity=1)) == 2


@pytest.mark.parametrize(
    ("agent_id", "untested", "tested"),
    [
        ("agent/ada", 2, 1),
        ("prod/x", 2, 1),
        ("prod-x", 2, 1),
        ("production", 3, 2),
        ("dev/x", 3, 3),
        ("test/x", 3, 3),
        ("dev-x", 3, 3),
        ("test-x", 3, 3),
        ("manual/x", 4, 4),
        ("seed/x", 4, 4),
        ("human/x", 4, 4),
        ("manual-x", 3, 2),
        ("Agent/ada", 3, 2),
        ("agent", 3, 2),
        ("", 3, 2),
    ],
)
def test_the_provenance_tier_follows_from_the_name_and_the_outcomes(agent_id, untested, tested):
    assert (provenance_tier(agent_id, 0), provenance_tier(agent_id, 5)) == (untested, tested)


def test_uplift_compares_two_success_rates():
    assert uplift(cited=4, cited_successes=3, others=10, other_successes=5) == Uplift(0.25, 4)
    assert uplift(cited=0, cited_successes=0, others=10, other_successes=5) is None
    assert uplift(cited=3, cited_successes=1, others=0, other_successes=0) is None


BY_UPLIFT = Policy(name="by-uplift", credit_by_uplift=True)


@pytest.mark.parametrize(
    ("measured", "success", "expected"),
    [
        (None, True, 1.0),
        (Uplift(0.5, 10), True, 1.0),
        (Uplift(-0.5, 10), False, 1.0),
        (Uplift(-0.5, 10), True, 0.75),
        (Uplift(0.5, 10), False, 0.75),
        (Uplift(1.0, 1_000_000), False, 0.25),
        (Uplift(-1.0, 0), True, 1.0),
    ],
)
def test_credit_shrinks_only_where_the_record_points_against_the_outcome(measured, success, expected):
    assert credit(measured, success=success, policy=BY_UPLIFT) == pytest.approx(expected)
    assert credit(measured, success=success) == 1

"""Silence wears confidence down: the golden table, its edges, and the next crossing of a threshold."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules import decay
from memories.rules.decay import days_between, earned, effective, freshness, half_life, next_crossing, touch
from memories.rules.evidence import below
from memories.rules.policy import DEFAULT, DecayKind, MemoryType, Policy
from tests.unit.golden import DAILY, POLICIES, START, TOLERANCE, points
from tests.unit.rules_cast import NOON, traits

DAY = timedelta(days=1)


def test_python_reproduces_the_golden_table():
    table = points()
    assert len(table) >= 1000
    for point in table:
        what = traits(
            memory_type=MemoryType(point.memory_type),
            recall_count=point.recall_count,
            outcome_count=point.outcome_count,
            positive=point.positive,
            negative=point.negative,
            pinned=point.pinned,
            policy=POLICIES[point.policy],
        )
        kept = earned(point.kept, START, point.now, **what)
        fresh = freshness(point.kept, START, point.now, **what)
        values = (kept, fresh, effective(point.confidence, fresh))
        assert values == pytest.approx((point.earned, point.freshness, point.effective), rel=TOLERANCE, abs=0), point


@pytest.mark.parametrize(
    ("silence", "days"),
    [
        (timedelta(0), 0),
        (DAY - timedelta(microseconds=1), 0),
        (DAY, 1),
        (2 * DAY - timedelta(microseconds=1), 1),
        (-DAY, 0),
        (timedelta(microseconds=-1), 0),
    ],
)
def test_days_are_whole_and_never_negative(silence, days):
    assert days_between(NOON, NOON + silence) == days


@pytest.mark.parametrize(
    ("values", "days"),
    [
        ({}, 69.0),
        ({"memory_type": MemoryType.BELIEF}, 34.5),
        ({"memory_type": MemoryType.EXPERIENCE}, 103.5),
        ({"memory_type": MemoryType.PROCEDURE}, 138.0),
        ({"outcome_count": 3}, 138.0),
        ({"recall_count": 1}, 69 * (1 + math.log(2))),
        ({"positive": 1}, 69.0),
        ({"negative": 1}, 34.5),
        ({"positive": 1, "negative": 1}, 51.75),
    ],
)
def test_the_half_life_follows_the_formula(values, days):
    assert half_life(**traits(**values)) == pytest.approx(days, rel=1e-12)


def test_nothing_decays_within_the_first_day_and_half_is_left_after_a_half_life():
    assert freshness(1.0, NOON, NOON + DAY - timedelta(seconds=1), **traits()) == 1
    assert freshness(1.0, NOON, NOON + 69 * DAY, **traits()) == 0.5


def test_a_pinned_entry_keeps_what_it_had():
    for policy in POLICIES.values():
        assert freshness(0.4, NOON, NOON + 999 * DAY, **traits(pinned=True, negative=3, policy=policy)) == 0.4


def test_the_daily_rate_takes_feedback_once_and_keeps_it_outside():
    what = traits(negative=2, policy=DAILY)
    assert freshness(1.0, NOON, NOON, **what) == 1
    assert freshness(1.0, NOON, NOON + DAY, **what) == pytest.approx(0.99 * 0.5)
    assert earned(1.0, NOON, NOON + DAY, **what) == 0.99
    touched = touch(1.0, NOON, NOON + DAY, **what)
    assert freshness(touched.kept, touched.last_access, NOON + 2 * DAY, **what) == pytest.approx(0.99**2 * 0.5)


@pytest.mark.parametrize("policy", [DEFAULT, DAILY, Policy(name="steep", decay=DecayKind.DAILY_RATE, daily_rate=0.5)])
def test_ages_of_centuries_leave_something_that_does_not_underflow(policy):
    first = datetime(1, 1, 1, tzinfo=UTC)
    worn = freshness(2.0**-64, first, datetime(9999, 12, 31, tzinfo=UTC), **traits(negative=1, policy=policy))
    assert 2.0**-66 < worn <= 2.0**-64


def test_effective_confidence_of_next_to_nothing_is_nothing():
    assert effective(1e-310, 2.0**-64) == 0
    assert effective(0.8, 0.5) == 0.4


LIVES = st.fixed_dictionaries(
    {
        "memory_type": st.sampled_from(MemoryType),
        "recall_count": st.integers(0, 10_000),
        "outcome_count": st.integers(0, 3),
        "positive": st.integers(0, 4),
        "negative": st.integers(0, 4),
        "pinned": st.booleans(),
        "policy": st.sampled_from([DEFAULT, DAILY]),
    }
)


@given(LIVES, st.floats(2.0**-64, 1), st.integers(-5, 5000), st.integers(0, 5000))
def test_freshness_never_rises_with_time_and_never_reaches_zero(life, kept, day, later):
    now = freshness(kept, NOON, NOON + day * DAY, **life)
    then = freshness(kept, NOON, NOON + (day + later) * DAY, **life)
    assert 0 < then <= now <= kept


@given(LIVES, st.floats(2.0**-64, 1), st.integers(0, 900), st.integers(0, 900))
def test_an_access_keeps_what_was_earned(life, kept, day, later):
    touched = touch(kept, NOON, NOON + day * DAY, **life)
    straight = earned(kept, NOON, NOON + (day + later) * DAY, **life)
    in_two = earned(touched.kept, touched.last_access, touched.last_access + later * DAY, **life)
    assert in_two == pytest.approx(straight, rel=1e-9)


def test_a_recall_adds_to_the_count_and_restarts_the_days():
    touched = touch(1.0, NOON, NOON + 69 * DAY, recalls=2, **traits(recall_count=0))
    assert (touched.kept, touched.last_access, touched.recall_count) == (0.5, NOON + 69 * DAY, 2)


def test_a_late_recall_only_adds_to_the_count():
    touched = touch(0.7, NOON, NOON - 3 * DAY, recalls=1, **traits(recall_count=4))
    assert (touched.kept, touched.last_access, touched.recall_count) == (0.7, NOON, 5)


def test_a_refreshing_access_starts_at_one():
    assert touch(0.2, NOON, NOON + 9 * DAY, fresh=True, **traits()).kept == 1
    assert touch(0.2, NOON, NOON - 9 * DAY, fresh=True, **traits()) == decay.Touched(1.0, NOON, 0)


def stepped(threshold, confidence, kept, life, *, inclusive=False, most=1500):
    """Return the first day on which the threshold is crossed, found by looking at each."""
    for day in range(most):
        value = effective(confidence, freshness(kept, NOON, NOON + day * DAY, **life))
        if (not below(threshold, value)) if inclusive else below(value, threshold):
            return NOON + day * DAY
    return None


@given(LIVES, st.floats(0, 1), st.floats(0.01, 1), st.sampled_from([0.1, 0.3, 0.5, 0.25]), st.booleans())
def test_the_next_crossing_is_the_day_that_stepping_finds(life, confidence, kept, threshold, inclusive):
    life = life | {"recall_count": life["recall_count"] % 3}
    where = {"confidence": confidence, "kept": kept, "last_access": NOON, "inclusive": inclusive}
    found = next_crossing(threshold, **where, **life)
    by_stepping = stepped(threshold, confidence, kept, life, inclusive=inclusive)
    assert found == by_stepping or (by_stepping is None and found > NOON + 1499 * DAY)


def test_a_crossing_at_the_start_is_the_start():
    where = {"confidence": 0.2, "kept": 1.0, "last_access": NOON}
    assert next_crossing(0.3, **where, **traits()) == NOON


@pytest.mark.parametrize(
    ("threshold", "values"),
    [
        (0.3, {"pinned": True}),
        (0.0, {}),
        (1e-30, {}),
        (0.3, {"policy": Policy(name="still", decay=DecayKind.DAILY_RATE, daily_rate=1.0)}),
    ],
)
def test_a_crossing_that_never_comes_is_none(threshold, values):
    assert next_crossing(threshold, confidence=0.9, kept=1.0, last_access=NOON, **traits(**values)) is None


def test_a_crossing_after_the_last_year_is_none():
    slow = Policy(name="slow", base_half_life=1_000_000.0)
    where = {"confidence": 1.0, "kept": 1.0, "last_access": NOON}
    assert next_crossing(0.01, **where, **traits(recall_count=10**6, policy=slow)) is None

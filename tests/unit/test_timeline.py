"""How far the chart looks ahead, and the sum behind a weight."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memories.entry import timeline
from memories.entry.timeline import Point, horizon, sum_of
from memories.rules.policy import DEFAULT

NOW = datetime(2026, 11, 30, tzinfo=UTC)
DAY = timedelta(days=1)
POINT = Point(
    18, NOW, "outcome", 0.4, 0.711, 2.0532, "evidence-v1@1", False, 1, "INC", "p2_incident", 0.8, 2, True, "pager", 1.0
)


@pytest.mark.parametrize(
    ("past", "crossing", "ahead"),
    [
        (77, 25, 31.25),  # a bit beyond the crossing
        (77, 1_000, 115.5),  # the past keeps two fifths of the chart
        (77, None, 25.667),
        (2, 400, 45),  # a young entry looks a month and a half ahead
        (2, 1, 7),
        (0, None, 7),
    ],
)
def test_the_chart_ends_beyond_the_crossing_unless_the_past_would_shrink(past, crossing, ahead):
    at = None if crossing is None else NOW + crossing * DAY
    assert (horizon(NOW, NOW - past * DAY, at) - NOW) / DAY == pytest.approx(ahead, abs=0.01)


def test_a_weight_is_told_as_its_factors():
    assert sum_of(POINT, DEFAULT) == "2.053 = 2 × 0.8 ÷ 2 × 1.711 × 1.5"
    assert sum_of(replace(POINT, keys=1, verified=False, weight=2.7376), DEFAULT) == "2.738 = 2 × 0.8 × 1.711"


def test_what_another_policy_weighed_is_not_taken_apart():
    assert sum_of(replace(POINT, policy="evidence-v1@2"), DEFAULT) == ""


def test_a_weight_of_nothing_divides_by_nothing():
    assert sum_of(replace(POINT, causal_confidence=0.0, weight=0.0), DEFAULT) == "0.000 = 2 × 0 ÷ 2 × 1.5"


def test_a_point_knows_its_kind():
    assert POINT.kind == "outcome"
    assert replace(POINT, outcome_type=None, new_claim=True, change="written").what == "claim rewritten"
    assert replace(POINT, outcome_type=None, change="written").kind == "other"
    assert timeline.TIMES in sum_of(POINT, DEFAULT)

"""What decay alone will do to an entry's place, and when."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.decay import effective, freshness
from memories.rules.forecast import Forecast, curve, forecast
from memories.rules.lifecycle import Cause, Place, settle
from memories.rules.policy import Policy, Status
from tests.unit.rules_cast import NOON, traits

DAY = timedelta(days=1)


def ahead(place: Place, confidence: float, *, kept: float = 1.0, **values) -> Forecast:
    return forecast(place, confidence=confidence, kept=kept, last_access=NOON, **traits(**values))


def test_an_active_entry_goes_under_review_and_is_archived():
    # 0.8 * 0.5 ** (days / 69) falls below 0.3 after 97.6 days, below 0.1 after 207.
    assert ahead(Place(Status.ACTIVE), 0.8) == Forecast(NOON + 98 * DAY, NOON + 208 * DAY)
    assert ahead(Place(Status.ACTIVE), 0.8).next_due == NOON + 98 * DAY


def test_an_entry_under_review_is_only_archived():
    assert ahead(Place(Status.UNDER_REVIEW), 0.8) == Forecast(None, NOON + 208 * DAY)


@pytest.mark.parametrize("status", [Status.ARCHIVED, Status.SUPERSEDED])
def test_what_people_settled_stays(status):
    assert ahead(Place(status), 0.8) == Forecast(None, None)
    assert ahead(Place(status), 0.8).next_due is None


def test_a_pinned_entry_stays():
    assert ahead(Place(Status.ACTIVE), 0.8, pinned=True) == Forecast(None, None)


def test_a_held_entry_waits_until_a_tenth_is_gone():
    assert ahead(Place(Status.ACTIVE, 0.28), 0.28).under_review_at == NOON + 44 * DAY  # 0.18
    assert ahead(Place(Status.ACTIVE, 0.08), 0.08) == Forecast(None, None)


def test_both_lines_on_one_day_mean_the_archive():
    steep = Policy(name="steep", base_half_life=0.1)
    assert ahead(Place(Status.ACTIVE), 0.8, policy=steep) == Forecast(None, NOON + DAY)


def test_silence_speaks_from_the_first_whole_day_on():
    assert ahead(Place(Status.UNDER_REVIEW), 0.05).archived_at == NOON + DAY


@given(
    st.sampled_from([Status.ACTIVE, Status.UNDER_REVIEW]),
    st.one_of(st.none(), st.floats(0, 1)),
    st.floats(0.02, 1),
    st.floats(0.05, 1),
)
def test_the_forecast_is_what_a_daily_run_would_do(status, held_at, confidence, kept):
    place, seen = Place(status, held_at), {}
    for day in range(1, 400):
        now = effective(confidence, freshness(kept, NOON, NOON + day * DAY, **traits()))
        place = settle(place, now, cause=Cause.DECAY)
        seen.setdefault(place.status, NOON + day * DAY)
    told = ahead(Place(status, held_at), confidence, kept=kept)
    if status == Status.ACTIVE and Status.UNDER_REVIEW in seen:
        assert told.under_review_at == seen[Status.UNDER_REVIEW]
    if Status.ARCHIVED in seen:
        assert told.archived_at == seen[Status.ARCHIVED]
    else:
        assert told.archived_at is None or told.archived_at > NOON + 399 * DAY


def test_the_curve_starts_where_it_is_asked_to_and_falls():
    points = curve(confidence=0.8, kept=1.0, last_access=NOON, start=NOON + DAY, days=range(0, 70, 23), **traits())
    assert [point.at for point in points] == [NOON + DAY * n for n in (1, 24, 47, 70)]
    values = [point.effective for point in points]
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(0.8 * 0.5 ** (70 / 69))

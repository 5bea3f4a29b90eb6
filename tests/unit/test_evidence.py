"""The label, the posterior and the ranking signal that follow from a record."""

import pytest

from memories.rules.evidence import Record, below, label, posterior, signal
from memories.rules.policy import Policy
from tests.unit.rules_cast import NOON


def a_record(won: int = 0, lost: int = 0, es: float = 0.0, ef: float = 0.0, **values) -> Record:
    return Record(won, lost, values.pop("count", won + lost), es, ef, **values)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (a_record(), "untested"),
        (a_record(9, 0, 5.0, 0.0, discredited_at=NOON), "discredited"),
        (a_record(discredited_at=NOON), "discredited"),
        (a_record(1, 0, 0.001, 0.0), "validated"),
        (a_record(0, 1, 0.0, 0.01), "contested"),
        (a_record(1, 1, 6.0, 1.0), "validated"),  # p = 7 / 9
        (a_record(1, 1, 6.0, 2.0), "validated"),  # p = 7 / 10, exactly
        (a_record(1, 1, 6.0, 2.01), "contested"),
        (a_record(0, 1, 6.0, 0.1), "contested"),  # p is high, but there is one outcome only
        (a_record(4, 1, 1.0, 9.0), "validated"),
        (a_record(3, 1, 1.0, 9.0), "contested"),
        (a_record(40, 2, 1.0, 9.0), "contested"),
    ],
)
def test_the_first_rule_that_matches_gives_the_label(record, expected):
    assert label(record) == expected


def test_rows_without_directions_are_judged_by_their_confidence():
    legacy = a_record(count=3)
    assert label(legacy, confidence=0.5) == "validated"
    assert label(legacy, confidence=0.49) == "contested"
    assert label(legacy) == "validated"


def test_the_numbers_of_the_label_are_the_policys():
    strict = Policy(name="strict", label_share=0.95, label_successes=100)
    assert label(a_record(9, 1, 6.0, 1.0), strict) == "contested"


def test_the_posterior_has_three_decimals_and_counts_steps():
    assert posterior(a_record()) == {"p": 0.5, "n": 0}
    assert posterior(a_record(1, 0, 1.3, 0.0)) == {"p": 0.697, "n": 1}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (a_record(), 0.0),
        (a_record(1, 0, 3.0, 0.0), 0.75),
        (a_record(1, 1, 1.0, 2.0), -0.25),
        (a_record(9, 1, 9.0, 1.0, discredited_at=NOON), -1.0),
    ],
)
def test_the_signal_lies_between_minus_one_and_one(record, expected):
    assert signal(record) == expected


def test_thresholds_see_through_the_noise_of_subtraction():
    assert not below(0.7 - 0.2 - 0.2, 0.3)
    assert 0.7 - 0.2 - 0.2 < 0.3
    assert below(0.299999999, 0.3)

"""Reducing values to figures: what counts as a row, as a number, as a group."""

import pytest

from memories.rules import aggregation
from memories.rules.refusals import Refused

VALUES = ['{"ms": 10, "region": "eu"}', '{"ms": 30, "region": "us"}', '{"ms": true, "region": "eu"}', '"text"']


def reduced(operation, field=None, row_path=None):
    return aggregation.reduce(list(aggregation.rows(VALUES, row_path)), operation, field)


def test_rows_are_the_values_or_the_elements_of_a_list_in_them():
    assert len(list(aggregation.rows(VALUES, None))) == 4
    assert list(aggregation.rows(['{"a": {"b": [1, 2]}}', '{"a": 3}', '{"a": {"b": {"c": 1}}}'], "a.b")) == [
        1,
        2,
        {"c": 1},
    ]


def test_truth_and_text_are_no_numbers():
    assert reduced("stats", "ms") == {"count": 2, "sum": 40.0, "mean": 20.0, "min": 10.0, "max": 30.0}
    assert reduced("mean", "ms") == {"count": 2, "mean": 20.0}
    assert reduced("mean", "nothing") == {"count": 0, "mean": None}
    assert reduced("count") == {"count": 4}
    assert reduced("count", "region") == {"count": 3}


def test_groups_keep_the_order_in_which_they_came():
    groups = aggregation.grouped(aggregation.rows(VALUES, None), "region")
    assert {key: len(rows) for key, rows in groups.items()} == {"eu": 2, "us": 1, "null": 1}


@pytest.mark.parametrize(("operation", "field"), [("median", "ms"), ("sum", None), ("stats", "")])
def test_an_unknown_operation_or_one_without_its_field_is_a_bad_request(operation, field):
    with pytest.raises(Refused) as refused:
        aggregation.refuse_unknown(operation, field)
    assert refused.value.status == 400

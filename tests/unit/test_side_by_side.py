"""Two values line by line: pairs, folds, and what makes no difference."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.queue import side_by_side
from memories.queue.side_by_side import LINES_SHOWN, Section

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab\n ", max_size=6),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text("xyz", max_size=2), inside, max_size=4),
    max_leaves=12,
)


def laid_out(old, new):
    made = side_by_side.side_by_side(json.dumps(old), json.dumps(new))
    assert made is not None
    return made


def side(sections: list[Section], which: str) -> list[str]:
    """Return the lines of one side, unfolded."""
    operation = {"old": "remove", "new": "add"}[which]
    lines = [getattr(pair, which) for section in sections for pair in section.pairs]
    return ["".join(p.text for p in line.pieces if p.operation in {"equal", operation}) for line in lines if line]


def plain(value):
    return [line.shown for line in side_by_side.lines(side_by_side.jsontext.parse(json.dumps(value)))]


@given(VALUES, VALUES)
def test_each_side_is_its_whole_value(old, new):
    made = laid_out(old, new)
    assert side(made.sections, "old") == plain(old)
    # The newer one stands in the order of the older one, so it is compared without its order and commas.
    bare = [sorted(line.strip().rstrip(",") for line in lines) for lines in (side(made.sections, "new"), plain(new))]
    assert bare[0] == bare[1]


@given(VALUES)
def test_a_value_does_not_differ_from_itself(value):
    assert not any(pair.changed for section in laid_out(value, value).sections for pair in section.pairs)


def test_key_order_and_the_spelling_of_numbers_make_no_difference():
    made = side_by_side.side_by_side('{"a": 1, "b": [2.50, {"c": 3e1}]}', '{"b": [2.5, {"c": 30}], "a": 1.0}')
    assert not any(pair.changed for section in made.sections for pair in section.pairs)


def test_true_is_not_one():
    assert any(pair.changed for section in laid_out([True], [1]).sections for pair in section.pairs)


def test_line_numbers_are_those_of_each_side():
    made = laid_out({"a": 1, "b": 2, "c": 3}, {"a": 1, "new": 0, "b": 2, "c": 3})
    numbers = [(p.old and p.old.number, p.new and p.new.number) for section in made.sections for p in section.pairs]
    assert numbers == [(1, 1), (2, 2), (None, 3), (3, 4), (4, 5), (5, 6)]


def test_long_stretches_of_the_same_are_folded_and_very_long_ones_are_only_counted():
    text = [f"line {n}" for n in range(1_000)]
    changed = [*text[:100], "other", *text[101:]]
    made = laid_out("\n".join(text), "\n".join(changed))
    assert [(section.folded, len(section.pairs)) for section in made.sections] == [(97, 97), (0, 7), (896, 0)]


def test_what_differs_beyond_the_limit_is_counted():
    made = laid_out([f"a{n}" for n in range(1_000)], [f"b{n}" for n in range(1_000)])
    shown = sum(pair.changed for section in made.sections for pair in section.pairs)
    assert shown == LINES_SHOWN
    assert made.left_out == 1_000 - LINES_SHOWN


def test_lines_with_little_in_common_are_told_as_two():
    (section,) = laid_out("nothing alike here", "quite another sentence").sections
    assert [piece.operation for piece in section.pairs[0].old.pieces] == ["remove", "add"]


@pytest.mark.parametrize("size", [400_000])
def test_json_too_long_to_lay_out_is_not_but_text_is(size):
    numbers = json.dumps([1] * (size // 3))
    assert side_by_side.side_by_side(numbers, numbers) is None
    text = json.dumps("word " * (size // 5))
    assert side_by_side.side_by_side(text, text[:-1] + ' more"') is not None

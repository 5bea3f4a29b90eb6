"""When two values say the same, and what a rewrite keeps."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules import feedback
from memories.rules.claims import carry_over, claim_digest, same_claim
from memories.rules.confidence import Standing
from memories.rules.policy import Status
from tests.unit.rules_cast import run

SAME = [
    ("1", "1.0"),
    ("1", "1e0"),
    ("100", "1E2"),
    ("0", "-0.0"),
    ("0", "0e5"),
    ("0.1", "1e-1"),
    ("12.50", "1.25e1"),
    ("-3", "-3.000"),
    ("1" + "0" * 99, "1e99"),
    ("1e300", "10e299"),
    ('{"a":1,"b":[2,3]}', ' { "b" : [2.0, 3] , "a" : 1 } '),
    ('"\\u00e9"', '"é"'),
    ('{"a":1,"a":2}', '{"a":2}'),
]
DIFFERENT = [
    ("1", "true"),
    ("0", "false"),
    ("0", "null"),
    ("1", '"1"'),
    ("[1,2]", "[2,1]"),
    ("[]", "{}"),
    ("0.1", "0.10000000000000001"),
    ("9007199254740993", "9007199254740992"),
    ("9007199254740993", "9007199254740993.5"),
    ("1" * 99 + "1", "1" * 99 + "2"),
    ("1e300", "1e301"),
    ("1", "-1"),
    ('"a"', '"A"'),
    ('"é"', '"e\u0301"'),
    ('{"a":null}', "{}"),
    ('"1e5"', "1e5"),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_spelling_and_order_make_no_difference(a, b):
    assert same_claim(a, b)
    assert claim_digest(a) == claim_digest(b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_what_is_said_does(a, b):
    assert not same_claim(a, b)
    assert claim_digest(a) != claim_digest(b)


def a_lesson(**values) -> str:
    return json.dumps(
        {"kind": "lesson", "situation": "Deploy on Friday", "action": "wait", "worked": True, "text": "..."} | values
    )


@pytest.mark.parametrize(
    "words", [{"text": "other words"}, {"situation": "  deploy ON\n friday "}, {"action": " wait "}, {"extra": 1}]
)
def test_a_lesson_is_its_situation_action_and_result(words):
    assert same_claim(a_lesson(), a_lesson(**words))


@pytest.mark.parametrize(
    "claim",
    [{"situation": "Deploy on Monday"}, {"action": "Wait"}, {"worked": False}, {"worked": 1}, {"kind": "Lesson"}],
)
def test_another_situation_action_or_result_is_another_lesson(claim):
    assert not same_claim(a_lesson(), a_lesson(**claim))


def test_an_incomplete_lesson_is_a_value_like_any_other():
    assert not same_claim(a_lesson(situation=" "), a_lesson(situation=" ", text="other"))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def shuffled(value):
    if isinstance(value, dict):
        return {name: shuffled(part) for name, part in reversed(value.items())}
    return [shuffled(part) for part in value] if isinstance(value, list) else value


@given(values)
def test_a_value_is_itself_however_it_is_written(value):
    plain = json.dumps(value)
    assert same_claim(plain, json.dumps(shuffled(value), ensure_ascii=True, indent=2))


@given(values, values)
def test_two_values_are_one_claim_only_if_they_are_equal(a, b):
    def typed(value):
        if isinstance(value, dict):
            return {name: typed(part) for name, part in value.items()}
        return [typed(part) for part in value] if isinstance(value, list) else (isinstance(value, bool), value)

    assert same_claim(json.dumps(a), json.dumps(b)) == (typed(a) == typed(b))


JUDGED = run(0.7, "success")[-1].standing
FRESH = Standing(0.7)


def carried(standing=FRESH, **values):
    known = {"status": Status.ACTIVE, "same": True, "confidence": 0.4}
    return carry_over(standing, **(known | values))


@pytest.mark.parametrize(
    ("standing", "values"),
    [
        (JUDGED, {}),
        (feedback.accept(FRESH), {}),
        (feedback.reject(FRESH), {}),
        (FRESH, {"evidence_count": 1}),
        (FRESH, {"status": Status.SUPERSEDED, "superseded_by": "repo/new"}),
        (FRESH, {"judged": True, "status": Status.ARCHIVED}),
        (JUDGED, {"status": Status.UNDER_REVIEW}),
        (JUDGED, {"status": Status.ARCHIVED}),
    ],
)
def test_the_same_claim_keeps_everything_once_there_is_something_to_keep(standing, values):
    kept = carried(standing, **values)
    assert (kept.kept, kept.standing) == (True, standing)
    assert kept.status == values.get("status", Status.ACTIVE)
    assert kept.superseded_by == values.get("superseded_by")


@pytest.mark.parametrize(
    ("standing", "values"),
    [
        (FRESH, {}),
        (JUDGED, {"same": False}),
        (replace(JUDGED, positive=3), {"same": False, "evidence_count": 2}),
        (JUDGED, {"expired": True, "status": Status.ARCHIVED}),
        (JUDGED, {"same": False, "status": Status.SUPERSEDED, "superseded_by": "repo/new"}),
    ],
)
def test_anything_else_starts_anew_and_active(standing, values):
    new = carried(standing, **values)
    assert (new.kept, new.standing, new.status, new.superseded_by) == (False, Standing(0.4), Status.ACTIVE, None)


def test_a_new_claim_does_not_leave_the_review():
    assert carried(JUDGED, same=False, status=Status.UNDER_REVIEW).status == Status.UNDER_REVIEW
    assert carried(JUDGED, expired=True, status=Status.UNDER_REVIEW).status == Status.ACTIVE

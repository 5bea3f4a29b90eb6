"""The sentence that says what is wrong with an entry."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from memories.entry.doubt import doubt
from memories.entry.history import Landmarks
from memories.entry.why import Effect
from memories.rules.policy import DEFAULT
from memories.rules.state import State

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MARKS = Landmarks(1, NOW, "created", "a", "", None, None, ("",), 0, 0)
DISCREDITED = State(evidence_status="discredited", outcome_count=5, success_count=3, failure_count=2)
CONTESTED = replace(DISCREDITED, evidence_status="contested")


def effect(kind, days, before=0.81, made=9, skipped=""):
    at = NOW - timedelta(days=days)
    return Effect(made, 1, "ref", kind, "a", 0, at, None, 1.0, 1, False, "", 1.0, before, 1.0, 0.4, skipped)


def said(state, *effects, marks=MARKS, effective=0.38, gone=False):
    row = SimpleNamespace(state=state, is_gone=lambda now: gone)
    told = doubt(row, effective, effects, marks, policy=DEFAULT, now=NOW)
    return (told.tone, f"{told.headline} {told.rest}") if told else None


@pytest.mark.parametrize(
    ("effects", "words"),
    [
        ([effect("failure", 1)], "1 failure; 0.81 to 0.38."),
        ([effect("failure", 1, 0.5), effect("regression", 3)], "2 failures in 2 days; 0.81 to 0.38."),
        ([effect("failure", 1, 0.5), effect("failure", 1.4)], "2 failures within a day; 0.81 to 0.38."),
        ([effect("success", 1), effect("failure", 3)], "2 failures in 5 outcomes; confidence is 0.38."),
        ([effect("failure", 1), effect("failure", 2, skipped="rewritten")], "1 failure; 0.81 to 0.38."),
        ([], "2 failures in 5 outcomes; confidence is 0.38."),
    ],
)
def test_the_newest_failures_in_a_row_are_counted(effects, words):
    assert said(DISCREDITED, *effects) == ("bad", f"{words} Agents get it only as a warning.")


def test_only_outcomes_of_the_present_claim_count():
    marks = replace(MARKS, claim_since=8)
    assert said(DISCREDITED, effect("failure", 1), effect("failure", 5, made=7), marks=marks)[1].startswith(
        "1 failure;"
    )


def test_a_rewrite_close_before_the_failures_is_named():
    marks = replace(MARKS, claim_since=5, claim_change="written", claim_at=datetime(2026, 11, 19, tzinfo=UTC))
    failed = [effect("failure", 1, 0.5), effect("failure", 3), effect("success", 5)]
    assert (
        "2 failures in 2 days after the claim was rewritten on 19 November; 0.81 to 0.38."
        in said(DISCREDITED, *failed, marks=marks)[1]
    )
    held = [effect("failure", 1), *(effect("success", day) for day in (2, 3))]
    assert "rewritten" not in said(DISCREDITED, *held, marks=marks)[1]


def test_a_contested_entry_is_still_served():
    tone, words = said(CONTESTED, effect("failure", 1))
    assert (tone, words) == ("warn", "1 failure; 0.81 to 0.38. Agents still get it, marked as contested.")


@pytest.mark.parametrize(
    ("state", "effective", "words"),
    [
        (State(status="under_review"), 0.25, "Effective confidence is 0.25, below 0.30. It waits for a review"),
        (State(status="under_review"), 0.9, "It is under review. It waits for a review"),
        (replace(DISCREDITED, status="under_review"), 0.2, "1 failure; 0.81 to 0.20. It waits for a review"),
        (State(status="archived"), 0.05, "It is archived. Agents find it only by its exact key"),
        (replace(DISCREDITED, status="archived"), 0.05, "1 failure; 0.81 to 0.05. It is archived: agents find it only"),
        (State(status="superseded"), 0.9, "It is superseded and nothing took its place."),
        (State(status="superseded", superseded_by="a/b"), 0.9, "It is superseded by another entry."),
    ],
)
def test_the_place_in_life_says_what_follows(state, effective, words):
    assert words in said(state, effect("failure", 1), effective=effective)[1]


def test_what_is_over_says_so_first():
    assert said(DISCREDITED, effect("failure", 1), gone=True)[1].startswith("Its time to live is over.")


@pytest.mark.parametrize("status", ["untested", "validated"])
def test_nothing_is_said_where_nothing_is_wrong(status):
    assert said(State(evidence_status=status), effect("failure", 1)) is None


def test_failures_that_a_rollback_left_behind_are_not_held_against_the_entry():
    back = replace(CONTESTED, outcome_count=2, success_count=1, failure_count=1)
    _, words = said(back, *[effect("failure", days) for days in (1, 2, 3, 4)], effective=0.66)
    assert words.startswith("1 failure in 2 outcomes; confidence is 0.66.")

"""The place of an entry in life: every cause, every status, every region of confidence."""

from itertools import product

import pytest

from memories.rules.lifecycle import Cause, Place, after_change, cause_of, refreshes, settle
from memories.rules.policy import OutcomeType, Policy, Status

LETTERS = {"A": Status.ACTIVE, "R": Status.UNDER_REVIEW, "S": Status.SUPERSEDED, "X": Status.ARCHIVED}
# Below 0.1, at 0.1, below 0.3, at 0.3, below 0.5, at 0.5, above.
VALUES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.9)
# What comes of active, under review, superseded and archived entries that nothing holds, value by value.
TABLE = {
    Cause.CLAIMED: ("RRRAAAA", "RRRRRRR", "RRRAAAA", "RRRAAAA"),
    Cause.RESTATED: ("RRRAAAA", "RRRRRRR", "SSSSSSS", "XXXXXXX"),
    Cause.SUCCESS: ("XRRAAAA", "XRRRRAA", "SSSSSSS", "XXXXXXX"),
    Cause.FAILURE: ("XRRAAAA", "XRRRRRR", "SSSSSSS", "XXXXXXX"),
    Cause.ACCEPTED: ("XRRAAAA", "XRRRRRR", "SSSSSSS", "XXXXXXX"),
    Cause.KEPT: ("AAAAAAA", "AAAAAAA", "AAAAAAA", "AAAAAAA"),
    Cause.REJECTED: ("XRRAAAA", "XRRRRRR", "SSSSSSS", "XXXXXXX"),
    Cause.EVIDENCE: ("XRRAAAA", "XRRRRRR", "SSSSSSS", "XXXXXXX"),
    Cause.DECAY: ("XRRAAAA", "XRRRRRR", "SSSSSSS", "XXXXXXX"),
}
CASES = [
    (cause, before, value, LETTERS[row[VALUES.index(value)]])
    for cause, rows in TABLE.items()
    for before, row in zip(LETTERS.values(), rows, strict=True)
    for value in VALUES
]


def test_the_table_has_every_cause():
    assert set(TABLE) == set(Cause)


@pytest.mark.parametrize(("cause", "before", "value", "expected"), CASES)
def test_the_status_follows_from_cause_status_and_value(cause, before, value, expected):
    assert after_change(before, value, cause=cause) == expected


@pytest.mark.parametrize("cause", Cause)
@pytest.mark.parametrize("before", Status)
def test_noise_beyond_nine_decimals_moves_nothing(cause, before):
    for line in (0.1, 0.3, 0.5):
        at = after_change(before, line, cause=cause)
        assert after_change(before, line - 1e-11, cause=cause) == at
        assert after_change(before, line + 1e-11, cause=cause) == at


def test_a_write_never_archives():
    for cause, before, value in product((Cause.CLAIMED, Cause.RESTATED), Status, (0.0, 0.05, 0.29)):
        assert before == Status.ARCHIVED or after_change(before, value, cause=cause) != Status.ARCHIVED


def test_only_a_person_or_a_success_ends_a_review():
    enders = {
        cause for cause, value in product(Cause, VALUES)
        if after_change(Status.UNDER_REVIEW, value, cause=cause) == Status.ACTIVE
    }  # fmt: skip
    assert enders == {Cause.SUCCESS, Cause.KEPT}


def test_what_a_person_sent_to_review_waits_for_a_person():
    assert after_change(Status.UNDER_REVIEW, 0.9, cause=Cause.SUCCESS, sent_by_person=True) == Status.UNDER_REVIEW
    assert after_change(Status.UNDER_REVIEW, 0.9, cause=Cause.KEPT, sent_by_person=True) == Status.ACTIVE


def test_a_verdict_that_keeps_holds_at_the_value_it_saw():
    assert settle(Place(Status.UNDER_REVIEW), 0.22, cause=Cause.KEPT) == Place(Status.ACTIVE, 0.22)


@pytest.mark.parametrize("cause", [Cause.RESTATED, Cause.SUCCESS, Cause.ACCEPTED, Cause.EVIDENCE, Cause.DECAY])
def test_a_hold_outlasts_what_does_not_contradict(cause):
    held = Place(Status.ACTIVE, 0.22)
    assert settle(held, 0.22, cause=cause) == held
    assert settle(held, 0.13, cause=cause) == held


@pytest.mark.parametrize("cause", [Cause.FAILURE, Cause.REJECTED])
def test_a_hold_ends_with_a_contradiction(cause):
    assert settle(Place(Status.ACTIVE, 0.22), 0.21, cause=cause) == Place(Status.UNDER_REVIEW, None)
    assert settle(Place(Status.ACTIVE, 0.22), 0.05, cause=cause) == Place(Status.ARCHIVED, None)
    assert settle(Place(Status.ACTIVE, 0.6), 0.55, cause=cause) == Place(Status.ACTIVE, None)


def test_a_hold_ends_when_a_tenth_is_gone():
    held = Place(Status.ACTIVE, 0.35)
    assert settle(held, 0.26, cause=Cause.DECAY) == held
    assert settle(held, 0.35 - 0.1, cause=Cause.DECAY) == Place(Status.UNDER_REVIEW, None)
    assert settle(Place(Status.ACTIVE, 0.15), 0.05, cause=Cause.DECAY) == Place(Status.ARCHIVED, None)


def test_a_hold_near_zero_never_ends_by_silence():
    assert settle(Place(Status.ACTIVE, 0.08), 0.0, cause=Cause.DECAY) == Place(Status.ACTIVE, 0.08)


def test_a_new_claim_is_not_held_by_the_verdict_on_the_old_one():
    assert settle(Place(Status.ACTIVE, 0.2), 0.2, cause=Cause.CLAIMED) == Place(Status.UNDER_REVIEW, None)
    assert settle(Place(Status.ACTIVE, 0.2), 0.8, cause=Cause.CLAIMED) == Place(Status.ACTIVE, None)


def test_a_missed_run_changes_nothing_in_the_result():
    # It fell below 0.3 days ago; no run wrote that. A success to 0.4 must not let it stay active.
    missed = settle(Place(Status.ACTIVE), 0.4, cause=Cause.SUCCESS, before=0.25)
    seen = settle(settle(Place(Status.ACTIVE), 0.25, cause=Cause.DECAY), 0.4, cause=Cause.SUCCESS)
    assert missed == seen == Place(Status.UNDER_REVIEW, None)


@pytest.mark.parametrize(
    ("status", "value", "held_at"), [*product(Status, (0.0, *VALUES), (None, 0.05, 0.22, 0.35, 0.6))]
)
def test_settling_twice_is_settling_once(status, value, held_at):
    for cause in (Cause.DECAY, Cause.EVIDENCE, Cause.REJECTED, Cause.KEPT, Cause.CLAIMED):
        once = settle(Place(status, held_at), value, cause=cause)
        assert settle(once, value, cause=cause) == once


def test_the_lines_are_the_policys():
    strict = Policy(name="strict", archive_below=0.2, review_below=0.6, return_at=0.8)
    assert after_change(Status.ACTIVE, 0.55, cause=Cause.EVIDENCE, policy=strict) == Status.UNDER_REVIEW
    assert after_change(Status.ACTIVE, 0.15, cause=Cause.EVIDENCE, policy=strict) == Status.ARCHIVED
    assert after_change(Status.UNDER_REVIEW, 0.7, cause=Cause.SUCCESS, policy=strict) == Status.UNDER_REVIEW


def test_new_claims_successes_and_acceptance_refresh():
    assert {cause for cause in Cause if refreshes(cause)} == {
        Cause.CLAIMED, Cause.SUCCESS, Cause.ACCEPTED, Cause.KEPT
    }  # fmt: skip


def test_outcomes_are_successes_or_failures():
    assert {kind for kind in OutcomeType if cause_of(kind) == Cause.SUCCESS} == {"success", "clean_deploy"}

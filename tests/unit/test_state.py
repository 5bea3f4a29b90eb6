"""What an entry is: events move its standing and leave the rest as it was."""

from dataclasses import fields, replace
from datetime import timedelta

from memories.checking.verify_steps import STANDING
from memories.rules.policy import DEFAULT
from memories.rules.standing import Standing
from memories.rules.state import State
from tests.unit.rules_cast import NOON

# Every field otherwise than by default.
OTHER = State(
    memory_type="belief",
    status="under_review",
    evidence_status="contested",
    confidence=0.4,
    triple_prior=0.5,
    triple_success=1.5,
    triple_failure=2.5,
    outcome_count=3,
    success_count=2,
    failure_count=1,
    evidence_success=1.25,
    evidence_failure=2.25,
    prior_confidence=0.6,
    last_outcome="failure",
    last_outcome_at=NOON,
    discredited_at=NOON + timedelta(days=1),
    validators=("agent/ada",),
    positive_reinforcement=4,
    negative_reinforcement=5,
    held_at=0.35,
    freshness=0.9,
    shared=False,
    pinned=True,
    ttl_at=NOON + timedelta(days=9),
    superseded_by="shop/other",
)


def test_every_field_is_otherwise_here():
    assert [field.name for field in fields(State) if getattr(OTHER, field.name) == field.default] == []


def test_a_new_standing_leaves_all_else_as_it_was():
    moved = OTHER.with_standing(Standing(0.7), DEFAULT)
    fresh = replace(State(confidence=0.7), evidence_status="untested")
    for field in fields(State):
        source = fresh if field.name in {*STANDING, "evidence_status"} else OTHER
        assert getattr(moved, field.name) == getattr(source, field.name), field.name


def test_its_own_standing_changes_nothing():
    assert replace(OTHER.with_standing(OTHER.standing, DEFAULT), evidence_status="contested") == OTHER

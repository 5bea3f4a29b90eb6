"""What a version can have come to, given the one before it and what happened (RULES.md 2, 3, 4 and 7)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Protocol

from memories.entry.why import Effect
from memories.heads import ClaimHead
from memories.rules import feedback
from memories.rules.evidence import label
from memories.rules.kinds import Change
from memories.rules.policy import Policy
from memories.rules.standing import Applied, Standing, rebase
from memories.rules.state import State

# What events move: confidence, the triple behind it, the record and the counts of feedback.
STANDING = (
    "confidence", "triple_prior", "triple_success", "triple_failure", "outcome_count", "success_count", "failure_count",
    "evidence_success", "evidence_failure", "prior_confidence", "last_outcome", "last_outcome_at", "discredited_at",
    "validators", "positive_reinforcement", "negative_reinforcement",
)  # fmt: skip

moved = attrgetter(*STANDING)


class Stored(Protocol):
    """As much of a version as is needed here."""

    @property
    def change(self) -> str: ...
    @property
    def state(self) -> State: ...
    @property
    def claim(self) -> ClaimHead: ...


@dataclass(frozen=True, slots=True)
class Candidates:
    """The states a version may have (none: only its label is known to follow), its labels, and an outcome's sum."""

    states: Sequence[State]
    labels: Sequence[str]
    applied: Applied | None = None


def candidates(
    previous: Stored | None, version: Stored, effect: Effect | None, earlier: Sequence[Stored], policy: Policy
) -> Candidates:
    """Return what a version may be.

    A label stays as it was given when a state is taken over whole, though the policy that gave it be another.
    """
    applied = None
    if previous is not None and effect is not None:
        applied = effect.replay(previous.state.standing, policy)
        states: Sequence[State] = [previous.state.with_standing(applied.standing, policy)]
    else:
        states = taken_over(previous, version, earlier, policy)
    own = label(version.state.record, policy, confidence=version.state.confidence)
    kept = [state.evidence_status for state in states if not differing(state, version.state)]
    return Candidates(states, sorted({str(word) for word in (own, *kept)}), applied)


def differing(expected: State, found: State) -> list[tuple[str, Any, Any]]:
    """Return (name, expected, found) of what events move where two states differ."""
    if moved(expected) == moved(found):
        return []
    pairs = ((name, getattr(expected, name), getattr(found, name)) for name in STANDING)
    return [(name, one, other) for name, one, other in pairs if one != other]


def taken_over(previous: Stored | None, version: Stored, earlier: Sequence[Stored], policy: Policy) -> Sequence[State]:
    change, found = version.change, version.state
    fresh = found.with_standing(Standing(found.confidence), policy)
    if previous is None:
        return [fresh]
    before = previous.state
    # A decision or a merge may take over any standing; the seal alone says that this is the one it took.
    states: Sequence[State] = []
    match change:
        case Change.WRITTEN:
            # What was erased since may have said the same.
            unknown = not previous.claim.digest or not version.claim.digest
            states = [before, fresh] if unknown or previous.claim.digest == version.claim.digest else [fresh]
        case Change.DECAYED | Change.SUPERSEDED:
            states = [before]
        case Change.ERASED:
            # Of an erased claim nothing is left; one that only said an erased name stays as it was.
            states = [before, fresh]
        case Change.EXPIRED:
            states = [replace(before, confidence=0.0)]
        case Change.ROLLBACK:
            # To one of the same claim; undoing a creation leaves all as it is and archives it.
            states = [one.state for one in reversed(earlier) if one.claim.id == version.claim.id] or [before]
        case Change.FEEDBACK:
            moved = (feedback.accept(before.standing, policy), feedback.reject(before.standing, policy))
            states = [before.with_standing(standing, policy) for standing in moved]
        case Change.EVIDENCE:
            states = [before, _brought(before, found.confidence, policy)]
    return states


def _brought(before: State, confidence: float, policy: Policy) -> State:
    triple = rebase(confidence, before.triple_success, before.triple_failure, policy)
    return before.with_standing(replace(before.standing, confidence=confidence, triple=triple), policy)

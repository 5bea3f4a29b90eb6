"""How feedback moves confidence (RULES.md 3); outcomes that follow build on what it left."""

from dataclasses import replace

from memories.rules.detection import Signal, SignalType, detect_feedback
from memories.rules.policy import DEFAULT, Policy
from memories.rules.standing import Standing, clamp, rebase

__all__ = ["Signal", "SignalType", "accept", "detect_feedback", "evidence", "reject"]


def accept(standing: Standing, policy: Policy = DEFAULT) -> Standing:
    """Return the standing after somebody said that the entry is right."""
    return replace(_moved(standing, policy.accepted_delta, policy), positive=standing.positive + 1)


def reject(standing: Standing, policy: Policy = DEFAULT) -> Standing:
    """Return the standing after somebody said that the entry is wrong."""
    return replace(_moved(standing, policy.rejected_delta, policy), negative=standing.negative + 1)


def evidence(standing: Standing, delta: float = 0.0, policy: Policy = DEFAULT) -> Standing:
    """Return the standing after a piece of evidence that moves confidence by `delta`, -1..1.

    :raises ValueError: the delta is out of its range.
    """
    if not -1 <= delta <= 1:
        raise ValueError("confidence_delta lies between -1 and 1")
    return _moved(standing, delta, policy) if delta else standing


def _moved(standing: Standing, delta: float, policy: Policy) -> Standing:
    confidence = clamp(standing.confidence + delta)
    triple = rebase(confidence, standing.triple.success, standing.triple.failure, policy)
    return replace(standing, confidence=confidence, triple=triple)

"""Where an entry stands: confidence, record, and the triple that lets feedback survive outcomes (RULES.md 3)."""

import math
from dataclasses import dataclass, field, replace
from datetime import datetime

from memories.rules.evidence import Record
from memories.rules.policy import DEFAULT, OutcomeType, Policy

# What a triple and its confidence may differ by and still be of one policy.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Triple:
    """The prior and the two masses behind confidence; the prior is None until the first outcome or rebase."""

    prior: float | None = None
    success: float = 0.0
    failure: float = 0.0


@dataclass(frozen=True, slots=True)
class Standing:
    """All that outcomes and feedback move: confidence in 0..1, the record, the triple, the feedback counters."""

    confidence: float
    record: Record = field(default_factory=Record)
    triple: Triple = field(default_factory=Triple)
    positive: int = 0
    negative: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """What one outcome step says about one entry.

    `keys` is the number of distinct entry keys of the step; `causal_confidence` and `credit` lie in 0..1.

    :raises ValueError: a number is out of its range.
    """

    outcome_type: OutcomeType
    keys: int
    causal_confidence: float
    verified: bool
    agent_id: str
    at: datetime
    credit: float = 1.0

    def __post_init__(self) -> None:
        if self.keys < 1:
            raise ValueError("a step relies on at least one entry")
        if not 0 <= self.causal_confidence <= 1:
            raise ValueError("causal_confidence lies between 0 and 1")
        if not 0 <= self.credit <= 1:
            raise ValueError("credit lies between 0 and 1")


@dataclass(frozen=True, slots=True)
class Applied:
    """The arithmetic of one step on one entry, complete enough to be told as a sum.

    `faded` is what confidence would be if the old evidence had faded and nothing had come; `factor` is what the
    multiplicative model multiplied by, None under the evidence model.
    """

    before: float
    weight: float
    after: float
    surprise: float
    severity: float
    standing: Standing
    first_strike: bool
    faded: float
    factor: float | None
    step: Step


def clamp(value: float) -> float:
    """Return the value, or the nearer end of 0..1."""
    return min(1.0, max(0.0, value))


def triple_confidence(triple: Triple, policy: Policy = DEFAULT) -> float:
    """Return the confidence that a prior and two masses of evidence leave.

    :raises ValueError: the triple has no prior yet.
    """
    if triple.prior is None:
        raise ValueError("a triple without a prior says nothing")
    # Two pseudo-outcomes stand behind the author's word: one real outcome moves it a lot, a handful settle it.
    strength = policy.prior_strength
    total = strength + triple.success + triple.failure
    return clamp((strength * triple.prior + triple.success) / total)


def rebase(confidence: float, success: float, failure: float, policy: Policy = DEFAULT) -> Triple:
    """Return the triple, as near to the given masses as can be, whose confidence is exactly the given one.

    The prior moves as far as 0..1 allows; only then the mass that stands in the way gives in (RULES.md 3).
    """
    strength = policy.prior_strength
    target = clamp(confidence)
    prior = (target * (strength + success + failure) - success) / strength
    if prior > 1:
        return _rebase_upwards(target, success, failure, strength)
    if prior < 0:
        return _rebase_downwards(target, success, failure, strength)
    return Triple(prior, success, failure)


def _rebase_upwards(target: float, success: float, failure: float, strength: float) -> Triple:
    if target == 1:
        return Triple(1.0, success, 0.0)
    return Triple(1.0, max(0.0, (target * (strength + failure) - strength) / (1 - target)), failure)


def _rebase_downwards(target: float, success: float, failure: float, strength: float) -> Triple:
    needed = success / target - strength - success if target > 0 else math.inf
    # A target next to 0 would need a mass beyond what a double holds; it is 0 for every purpose.
    return Triple(0.0, success, max(0.0, needed)) if math.isfinite(needed) else Triple(0.0, 0.0, failure)


def adopt(standing: Standing, policy: Policy) -> Standing:
    """Return the standing as a policy takes it over: the present confidence, rebased where its numbers give another."""
    triple = standing.triple
    if triple.prior is None or abs(triple_confidence(triple, policy) - standing.confidence) <= ROUNDING:
        return standing
    return replace(standing, triple=rebase(standing.confidence, triple.success, triple.failure, policy))

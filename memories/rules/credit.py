"""An entry's share of the credit for an outcome, where a policy turns it on (contract.md 3.1)."""

from dataclasses import dataclass

from memories.rules.policy import DEFAULT, Policy


@dataclass(frozen=True, slots=True)
class Uplift:
    """How much more often tasks succeed with an entry than without, -1..1, and the smaller of the two samples."""

    value: float
    sessions: int


def uplift(*, cited: int, cited_successes: int, others: int, other_successes: int) -> Uplift | None:
    """Return the difference of the two success rates; None when either side is empty, as that compares nothing."""
    if cited <= 0 or others <= 0:
        return None
    return Uplift(cited_successes / cited - other_successes / others, min(cited, others))


def credit(measured: Uplift | None, *, success: bool, policy: Policy = DEFAULT) -> float:
    """Return the share of an outcome's weight, 0..1: all of it, unless the record points against the outcome."""
    if not policy.credit_by_uplift or measured is None or measured.sessions <= 0:
        return 1.0
    signed = measured.value if success else -measured.value
    if signed >= 0:
        return 1.0
    shrunk = measured.sessions / (measured.sessions + policy.uplift_shrink) * signed
    return min(1.0, max(policy.uplift_floor, 1 + shrunk))

"""Every number of the rules, as one frozen, named and versioned object."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final, NoReturn

from memories.rules.kinds import (
    GRADES,
    SUCCESSES,
    Change,
    DecayKind,
    EvidenceStatus,
    MemoryType,
    Model,
    OutcomeType,
    SecretsRule,
    Status,
)

__all__ = [
    "DEFAULT",
    "GRADES",
    "MULTIPLICATIVE",
    "SUCCESSES",
    "Change",
    "DecayKind",
    "EvidenceStatus",
    "MemoryType",
    "Model",
    "OutcomeType",
    "Policy",
    "PolicyError",
    "SecretsRule",
    "Status",
    "validate",
]


class PolicyError(ValueError):
    """A policy that makes no sense.

    :ivar field: the name of the field at fault
    :ivar detail: what is wrong with it, as a sentence for a person
    """

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field = field
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The numbers of RULES.md; masses and weights are dimensionless, times are days, shares lie in 0..1."""

    name: str = "evidence-v1"
    version: int = 1
    model: str = Model.EVIDENCE

    # Outcomes move confidence (section 2).
    prior_strength: float = 2.0
    mass_decay: float = 0.8
    discredit_threshold: float = 0.5
    first_strike_wins: int = 3
    verified_weight: float = 1.5
    severity_success: float = 1.0
    severity_minor_failure: float = 1.5
    severity_failure: float = 2.0
    severity_critical_failure: float = 3.0
    validators: int = 10
    factor_success: float = 1.03
    factor_minor_failure: float = 0.92
    factor_failure: float = 0.90
    factor_critical_failure: float = 0.85

    # Credit by uplift (contract.md 3.1), off unless turned on.
    credit_by_uplift: bool = False
    uplift_floor: float = 0.25
    uplift_shrink: int = 10
    uplift_window: int = 500
    uplift_days: int = 90

    # The label (section 2); neutral_mass stands on each side of its share.
    neutral_mass: float = 1.0
    label_share: float = 0.7
    label_outcomes: int = 2
    label_successes: int = 4
    label_failures: int = 1

    # Feedback and thresholds (section 3).
    accepted_delta: float = 0.1
    rejected_delta: float = -0.2
    archive_below: float = 0.1
    review_below: float = 0.3
    return_at: float = 0.5
    hold_drop: float = 0.1

    # Silence (section 4).
    decay: str = DecayKind.HALF_LIFE
    base_half_life: float = 69.0
    type_factor_fact: float = 1.0
    type_factor_belief: float = 0.5
    type_factor_experience: float = 1.5
    type_factor_procedure: float = 2.0
    outcome_factor: float = 2.0
    feedback_floor: float = 0.5
    half_life_cap: float = 64.0
    daily_rate: float = 0.99
    daily_cap: int = 4413
    freshness_floor: float = 2.0**-64

    # Tiers (section 5).
    importance_weight: float = 1.0
    recency_weight: float = 1.0
    age_rate: float = 0.1
    hot_capacity: int = 50
    warm_capacity: int = 200

    # What becomes of values that hold keys or tokens.
    secrets: str = SecretsRule.FLAG

    # Whether what agents write that are new or not bound to a key of theirs is on probation.
    probation: bool = False
    probation_days: int = 7

    # For how many days what clients report about reading and doing is kept; 0 is for good.
    keep_readings: int = 400
    keep_events: int = 400
    keep_traces: int = 400

    def severity(self, outcome_type: OutcomeType) -> float:
        """Return how much one outcome of this type weighs before anything else."""
        return float(getattr(self, f"severity_{GRADES[outcome_type]}"))

    def factor(self, outcome_type: OutcomeType) -> float:
        """Return what the multiplicative model multiplies confidence by."""
        return float(getattr(self, f"factor_{GRADES[outcome_type]}"))

    def type_factor(self, memory_type: MemoryType) -> float:
        """Return what the half-life of this type is multiplied by."""
        return float(getattr(self, f"type_factor_{memory_type}"))

    def as_values(self) -> dict[str, Any]:
        """Return every field as JSON values, for storage."""
        return {name: str(value) if isinstance(value, StrEnum) else value for name, value in asdict(self).items()}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "Policy":
        """Return the policy stored by `as_values`; a field that is missing has its default.

        :raises PolicyError: a field is unknown or its value makes no sense.
        """
        known = {field.name for field in fields(cls)}
        for name in values:
            if name not in known:
                raise PolicyError(str(name), "There is no such field in a policy.")
        return validate(cls(**{name: _typed(name, value) for name, value in values.items()}))


_KINDS: Final[Mapping[str, type]] = {field.name: type(field.default) for field in fields(Policy)}


def _typed(name: str, value: Any) -> Any:
    """Return the value as the type its field has; 2 is a good float, 2.0 a good integer, true is neither."""
    kind = _KINDS[name]
    if kind is bool:
        return value if isinstance(value, bool) else _refuse(name, "True or false is expected here.")
    if issubclass(kind, str):
        return str(value) if isinstance(value, str) else _refuse(name, "A text is expected here.")
    if isinstance(value, bool) or not isinstance(value, int | float):
        _refuse(name, "A number is expected here.")
    if not abs(value) < 1e300:
        _refuse(name, "A finite number is expected here.")
    if kind is int and value != int(value):
        _refuse(name, "A whole number is expected here.")
    return int(value) if kind is int else float(value)


def _refuse(name: str, detail: str) -> NoReturn:
    raise PolicyError(name, detail)


# The closed range each number must lie in. The ends are generous: they keep nonsense out, not opinions.
_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "version": (1, 2**31 - 1),
    "prior_strength": (0.01, 1000),
    "mass_decay": (0, 1),
    "discredit_threshold": (0, 1),
    "first_strike_wins": (0, 10_000),
    "verified_weight": (1, 100),
    "severity_success": (0, 100),
    "severity_minor_failure": (0, 100),
    "severity_failure": (0, 100),
    "severity_critical_failure": (0, 100),
    "validators": (0, 1000),
    "factor_success": (1, 10),
    "factor_minor_failure": (0, 1),
    "factor_failure": (0, 1),
    "factor_critical_failure": (0, 1),
    "uplift_floor": (0, 1),
    "uplift_shrink": (0, 100_000),
    "uplift_window": (1, 100_000),
    "uplift_days": (1, 36_500),
    "neutral_mass": (0.01, 1000),
    "label_share": (0, 1),
    "label_outcomes": (1, 10_000),
    "label_successes": (1, 10_000),
    "label_failures": (0, 10_000),
    "accepted_delta": (0, 1),
    "rejected_delta": (-1, 0),
    "archive_below": (0, 1),
    "review_below": (0, 1),
    "return_at": (0, 1),
    "hold_drop": (0, 1),
    "base_half_life": (0.01, 1_000_000),
    "type_factor_fact": (0.001, 1000),
    "type_factor_belief": (0.001, 1000),
    "type_factor_experience": (0.001, 1000),
    "type_factor_procedure": (0.001, 1000),
    "outcome_factor": (1, 1000),
    "feedback_floor": (0.01, 1),
    "half_life_cap": (1, 64),
    "daily_rate": (0.01, 1),
    "daily_cap": (1, 3_650_000),
    "freshness_floor": (2.0**-64, 0.5),
    "importance_weight": (0, 1000),
    "recency_weight": (0, 1000),
    "age_rate": (0, 100),
    "probation_days": (0, 3650),
    "hot_capacity": (0, 10_000_000),
    "warm_capacity": (0, 10_000_000),
    "keep_readings": (0, 36_500),
    "keep_events": (0, 36_500),
    "keep_traces": (0, 36_500),
}


def validate(policy: Policy) -> Policy:
    """Return the policy if it makes sense.

    :raises PolicyError: naming the first field that does not.
    """
    # With "@" and its version it stands on every version it moved, in 60 characters.
    if not policy.name.strip() or len(policy.name) > 48 or "@" in policy.name or not policy.name.isprintable():
        raise PolicyError("name", "A policy needs a name of at most 48 printable characters, without an @.")
    if policy.model not in set(Model):
        raise PolicyError("model", "It is either evidence or multiplicative.")
    if policy.decay not in set(DecayKind):
        raise PolicyError("decay", "It is either half_life or daily_rate.")
    if policy.secrets not in set(SecretsRule):
        raise PolicyError("secrets", f"It is one of {', '.join(SecretsRule)}.")
    for name, (low, high) in _RANGES.items():
        _within(name, getattr(policy, name), low, high)
    if not policy.archive_below <= policy.review_below <= policy.return_at:
        raise PolicyError("review_below", "The line of review lies between those of the archive and of the return.")
    if policy.importance_weight + policy.recency_weight == 0:
        raise PolicyError("importance_weight", "Importance and recency cannot both weigh nothing.")
    return policy


def _within(name: str, value: float, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PolicyError(name, "A number is expected here.")
    if isinstance(value, float) and not math.isfinite(value):
        raise PolicyError(name, "A finite number is expected here.")
    if not low <= value <= high:
        raise PolicyError(name, f"It must lie between {low:g} and {high:g}.")


DEFAULT: Final = Policy()
MULTIPLICATIVE: Final = Policy(name="multiplicative", model=Model.MULTIPLICATIVE)

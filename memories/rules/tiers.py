"""Priority, and the tier that a rank gives (RULES.md 5)."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from memories.rules.policy import DEFAULT, Policy

HOT, WARM, ARCHIVE = 1, 2, 3
# Ages count up to here (3,000 days at the default rate), so that no product underflows, which PostgreSQL raises.
AGE_CAP = 300.0
# An importance below this is 0 for the same reason.
FAINT = 1e-100
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Priority:
    """The parts of a priority: importance and recency weigh in, frequency and durability multiply."""

    importance: float
    recency: float
    frequency: float
    durability: float
    value: float


def age_days(written_at: datetime, now: datetime) -> float:
    """Return the age of a claim in days and fractions, 0 when it was written in the future."""
    return max(0.0, (now - written_at) / _DAY)


def priority(
    *,
    importance: float | None,
    effective: float,
    written_at: datetime,
    now: datetime,
    recall_count: int,
    policy: Policy = DEFAULT,
) -> Priority:
    """Return (I + R) * F * D with its parts; I is the importance score, or effective confidence where there is none."""
    aged = min(policy.age_rate * age_days(written_at, now), AGE_CAP)
    often = max(1.0, math.log(1 + recall_count))
    score = effective if importance is None else importance
    parts = (score if score >= FAINT else 0.0, math.exp(-aged), often, math.exp(-aged / often))
    weighed = policy.importance_weight * parts[0] + policy.recency_weight * parts[1]
    return Priority(*parts, value=weighed * parts[2] * parts[3])


def tier_for_rank(rank: int, policy: Policy = DEFAULT) -> int:
    """Return the tier of the active entry at this rank, 1 being the first of its account and branch."""
    if rank <= policy.hot_capacity:
        return HOT
    return WARM if rank <= policy.hot_capacity + policy.warm_capacity else ARCHIVE

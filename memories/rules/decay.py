"""How silence wears confidence down (RULES.md 4). Nothing here stores anything: decay is a function of time.

`kept` is the freshness an entry had left at its last access, in 0..1]; `last_access` and `now` are aware moments; the
keywords are those of `Traits`. decay_sql.py says the same in SQL, and a golden table holds both to it.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NotRequired, TypedDict, Unpack

from memories.rules.evidence import below
from memories.rules.policy import DEFAULT, DecayKind, MemoryType, Policy

_DAY = timedelta(days=1)
# A confidence below this is 0 for every purpose; times a freshness it would underflow, which PostgreSQL raises.
NOTHING = 1e-200


class Traits(TypedDict):
    """What the durability of an entry depends on; the policy is the default one unless given."""

    memory_type: MemoryType
    recall_count: int
    outcome_count: int
    positive: int
    negative: int
    pinned: bool
    policy: NotRequired[Policy]


def days_between(last_access: datetime, now: datetime) -> int:
    """Return the whole days of silence; 0 when the last access lies in the future."""
    return max(0, (now - last_access) // _DAY)


def feedback_factor(positive: int, negative: int, policy: Policy = DEFAULT) -> float:
    """Return what feedback makes of durability: 1 without any, else from 0.5 (all negative) to 1 (all positive)."""
    if positive + negative <= 0:
        return 1.0
    return policy.feedback_floor + (1 - policy.feedback_floor) * positive / (positive + negative)


def half_life(**traits: Unpack[Traits]) -> float:
    """Return the days of silence after which half the freshness is left."""
    policy = traits.get("policy", DEFAULT)
    return (
        policy.base_half_life
        * policy.type_factor(traits["memory_type"])
        * (1 + math.log(1 + traits["recall_count"]))
        * (policy.outcome_factor if traits["outcome_count"] > 0 else 1.0)
        * feedback_factor(traits["positive"], traits["negative"], policy)
    )


def daily_cap(policy: Policy) -> int:
    """Return the days after which a daily rate wears nothing down any more; beyond it PostgreSQL would underflow."""
    if policy.daily_rate == 1:
        return policy.daily_cap
    return min(policy.daily_cap, int(math.log(policy.freshness_floor) / math.log(policy.daily_rate)))


@dataclass(frozen=True, slots=True)
class _Wear:
    """Freshness by whole days of silence; `outside` is the factor that an access does not keep."""

    worn: Callable[[int], float]
    outside: float
    floor: float
    last_day: int
    day_of: Callable[[float], float]

    def earned(self, kept: float, days: int) -> float:
        return max(self.floor, kept * self.worn(days)) if days else max(self.floor, kept)

    def freshness(self, kept: float, days: int) -> float:
        return self.earned(kept, days) * self.outside if days else self.earned(kept, days)


def _wear(traits: Traits) -> _Wear:
    policy = traits.get("policy", DEFAULT)
    if traits["pinned"]:
        return _Wear(_unworn, 1.0, policy.freshness_floor, 0, float)
    if policy.decay == DecayKind.DAILY_RATE:
        return _daily(traits, policy)
    life, cap = half_life(**traits), policy.half_life_cap
    return _Wear(
        worn=lambda days: _halved(days, life, policy),
        outside=1.0,
        floor=policy.freshness_floor,
        last_day=math.ceil(cap * life),
        day_of=lambda left: -math.log2(left) * life,
    )


def _halved(days: int, life: float, policy: Policy) -> float:
    return float(0.5 ** min(days / life, policy.half_life_cap))


def _unworn(_days: int) -> float:
    return 1.0


def _daily(traits: Traits, policy: Policy) -> _Wear:
    rate, cap = policy.daily_rate, daily_cap(policy)
    outside = feedback_factor(traits["positive"], traits["negative"], policy)
    return _Wear(
        worn=lambda days: float(rate ** min(days, cap)),
        outside=outside,
        floor=policy.freshness_floor,
        last_day=cap,
        day_of=lambda left: math.log(left / outside) / math.log(rate) if rate < 1 else float(cap),
    )


def freshness(kept: float, last_access: datetime, now: datetime, **traits: Unpack[Traits]) -> float:
    """Return what silence left of an entry, in 0..1]; it never rises with `now` and never reaches 0."""
    days, policy = days_between(last_access, now), traits.get("policy", DEFAULT)
    # Asked of every candidate of every question: the usual ways are taken directly.
    if not days or traits["pinned"]:
        return max(policy.freshness_floor, kept)
    if policy.decay == DecayKind.HALF_LIFE:
        return max(policy.freshness_floor, kept * _halved(days, half_life(**traits), policy))
    return _wear(traits).freshness(kept, days)


def earned(kept: float, last_access: datetime, now: datetime, **traits: Unpack[Traits]) -> float:
    """Return the freshness that an access at `now` keeps: without the factor that `daily_rate` applies outside it."""
    return _wear(traits).earned(kept, days_between(last_access, now))


def effective(confidence: float, fresh: float) -> float:
    """Return effective confidence, which thresholds, filters and ranking use."""
    return confidence * fresh if confidence >= NOTHING else 0.0


@dataclass(frozen=True, slots=True)
class Touched:
    """What an access leaves on the head."""

    kept: float
    last_access: datetime
    recall_count: int


def touch(
    kept: float,
    last_access: datetime,
    now: datetime,
    *,
    recalls: int = 0,
    fresh: bool = False,
    **traits: Unpack[Traits],
) -> Touched:
    """Return what an access at `now` leaves: the freshness earned so far, and the count of days starting again.

    `recalls` is how many recalls it brings, 0 for any other access. `fresh` resets freshness to 1 (see
    `lifecycle.refreshes`). An access older than the last one only adds to the count, or refreshes.
    """
    recall_count = traits["recall_count"] + recalls
    left = 1.0 if fresh else kept
    if now <= last_access:
        return Touched(left, last_access, recall_count)
    return Touched(1.0 if fresh else earned(kept, last_access, now, **traits), now, recall_count)


def next_crossing(
    threshold: float,
    *,
    confidence: float,
    kept: float,
    last_access: datetime,
    inclusive: bool = False,
    **traits: Unpack[Traits],
) -> datetime | None:
    """Return the first moment at which effective confidence is below the threshold if nothing happens.

    It is `last_access` plus a whole number of days; `last_access` itself when it was below from the start; None when
    that never comes, or after the year 9999. `inclusive` asks for at or below.
    """
    wear = _wear(traits)

    def crossed(day: int) -> bool:
        value = effective(confidence, wear.freshness(kept, day))
        return not below(threshold, value) if inclusive else below(value, threshold)

    if crossed(0):
        return last_access
    if not crossed(wear.last_day):
        return None
    # Not crossed at first, crossed in the end: confidence and kept are positive, and so must be the threshold.
    near = math.ceil(wear.day_of(threshold / (confidence * kept))) if threshold > 0 else wear.last_day
    return _days_after(last_access, _first_day(crossed, near, wear.last_day))


def _first_day(crossed: Callable[[int], bool], near: int, last: int) -> int:
    """Return the first day in 1..last on which it is crossed, looking near the given day first."""
    no, yes = 0, last
    for day in (near - 1, near, near + 1):
        if no < day < yes:
            no, yes = (no, day) if crossed(day) else (day, yes)
    return bisect_left(range(no + 1, yes), True, key=crossed) + no + 1


def _days_after(moment: datetime, days: int) -> datetime | None:
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        return None

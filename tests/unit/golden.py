"""The golden table of decay: points and their values, written down from RULES.md 4 without the code under test.

The Python of decay.py and the SQL of decay_sql.py must both reproduce every point to a relative 1e-12. Values are
computed with 40 digits by the formulas as they stand in the rules, with their numbers.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from itertools import product

from memories.rules.policy import DEFAULT, DecayKind, MemoryType, Policy

DAILY = Policy(name="daily", decay=DecayKind.DAILY_RATE)
POLICIES = {"half_life": DEFAULT, "daily_rate": DAILY}
TOLERANCE = 1e-12
START = datetime(2026, 1, 31, 12, 30, 15, 250_000, tzinfo=UTC)

_TYPE = {"fact": Decimal(1), "belief": Decimal("0.5"), "experience": Decimal("1.5"), "procedure": Decimal(2)}
_FLOOR = Decimal(2) ** -64
_SILENCES = (
    timedelta(0),
    timedelta(hours=23, minutes=59, seconds=59, microseconds=999_999),
    timedelta(days=1),
    timedelta(days=1, hours=23, minutes=59),
    timedelta(days=2),
    timedelta(days=69),
    timedelta(days=400, hours=5),
    timedelta(days=4413),
    timedelta(days=4414),
    timedelta(days=36_525),
    timedelta(days=365_250),
    timedelta(hours=-1),
    timedelta(days=-400),
)


@dataclass(frozen=True, slots=True)
class Point:
    """One row: what an entry is and how long it was silent, and what must come of it."""

    policy: str
    memory_type: str
    kept: float
    confidence: float
    silence: timedelta
    recall_count: int
    outcome_count: int
    positive: int
    negative: int
    pinned: bool
    earned: float
    freshness: float
    effective: float

    @property
    def now(self) -> datetime:
        return START + self.silence


def points() -> list[Point]:
    """Return the table: every combination of the interesting values, then five hundred scattered ones."""
    with localcontext() as context:
        context.prec = 40
        return [_point(*row) for row in (*_corners(), *_scattered(500))]


def _corners() -> Iterator[tuple]:
    for policy, kind, silence in product(POLICIES, MemoryType, _SILENCES):
        for counts in ((0, 0, 0, 0), (1, 0, 0, 1), (0, 3, 2, 1), (1_000_000, 1, 5, 0)):
            yield policy, str(kind), 1.0, 0.8, silence, *counts, False
    for policy, silence in product(POLICIES, _SILENCES):
        for kept, confidence in ((0.25, 1.0), (2.0**-64, 0.5), (2.0**-63, 0.0), (1.0, 1e-310), (0.5, 5e-201)):
            yield policy, "fact", kept, confidence, silence, 2, 0, 0, 4, False
        yield policy, "belief", 0.5, 0.9, silence, 0, 0, 1, 1, True


def _scattered(count: int) -> Iterator[tuple]:
    chance = random.Random(4413)
    for _ in range(count):
        yield (
            chance.choice(list(POLICIES)),
            str(chance.choice(list(MemoryType))),
            chance.uniform(0.001, 1),
            chance.random(),
            timedelta(seconds=chance.uniform(0, 3 * 365 * 86_400)),
            chance.choice((0, 0, chance.randrange(1000))),
            chance.choice((0, chance.randrange(20))),
            chance.choice((0, chance.randrange(5))),
            chance.choice((0, chance.randrange(5))),
            chance.random() < 0.05,
        )


def _point(*row) -> Point:
    policy, kind, kept, confidence, silence, recalls, outcomes, positive, negative, pinned = row
    days = 0 if pinned else max(0, silence // timedelta(days=1))
    judged = positive + negative
    factor = Decimal("0.5") + Decimal("0.5") * positive / judged if judged else Decimal(1)
    outside = Decimal(1)
    if policy == "daily_rate":
        worn = Decimal("0.99") ** min(days, 4413)
        outside = factor if days >= 1 else outside
    else:
        half = 69 * _TYPE[kind] * (1 + Decimal(1 + recalls).ln()) * (2 if outcomes else 1) * factor
        worn = Decimal("0.5") ** min(Decimal(days) / half, Decimal(64))
    earned = max(_FLOOR, Decimal(kept) * worn)
    fresh = earned * outside
    effective = Decimal(confidence) * fresh if confidence >= 1e-200 else Decimal(0)
    return Point(*row, earned=float(earned), freshness=float(fresh), effective=float(effective))

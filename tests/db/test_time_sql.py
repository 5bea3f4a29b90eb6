"""What SQL says of the future is what Python says: next crossings, and the status that thresholds leave."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from memories.rules import decay_sql, forecast_sql, lifecycle
from memories.rules.decay_sql import Columns
from memories.rules.kinds import MemoryType, Status
from memories.rules.lifecycle import Cause, Place
from memories.rules.policy import DEFAULT, DecayKind, Policy
from memories.rules.silence import Silence
from memories.rules.state import State

DAILY = Policy(name="daily", decay=DecayKind.DAILY_RATE)
POLICIES = {
    "default": DEFAULT,
    "daily": DAILY,
    "fast": Policy(base_half_life=0.3),
    "slow": Policy(base_half_life=1_000_000, type_factor_procedure=1000),
    "capped": Policy(half_life_cap=1),
    "without an archive": Policy(archive_below=0),
    "without a hold": Policy(hold_drop=0),
    "strict": Policy(archive_below=0.6, review_below=0.9, return_at=1.0),
    "never worn": replace(DAILY, daily_rate=1.0),
    "worn at once": replace(DAILY, daily_rate=0.01, feedback_floor=0.01),
}
START = datetime(2026, 1, 31, 12, 30, 15, 250_000, tzinfo=UTC)
DAY = timedelta(days=1)
FIELDS = {
    "id": "int", "status": "text", "memory_type": "text", "confidence": "float8", "kept": "float8", "held_at": "float8",
    "recall_count": "int", "outcome_count": "int", "positive": "int", "negative": "int", "pinned": "bool",
    "last_access": "timestamptz",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    status: str
    memory_type: str
    confidence: float
    kept: float
    held_at: float | None
    recall_count: int
    outcome_count: int
    positive: int
    negative: int
    pinned: bool
    last_access: datetime

    @property
    def silence(self) -> Silence:
        state = State(
            memory_type=self.memory_type, status=self.status, confidence=self.confidence, held_at=self.held_at,
            outcome_count=self.outcome_count, positive_reinforcement=self.positive,
            negative_reinforcement=self.negative, pinned=self.pinned,
        )  # fmt: skip
        return Silence(state, self.kept, self.last_access, self.recall_count)


def cases() -> Iterator[Case]:
    chance = random.Random(7102)
    edges = (0.0, 1e-310, 5e-201, 1e-10, 0.05, 0.1, 0.1 + 1e-12, 0.2, 0.3, 0.3 + 4e-10, 0.6, 0.9, 1.0)
    held = (None, None, 0.05, 0.1, 0.4, 0.95, 1.0)
    for number in range(600):
        yield Case(
            status=chance.choice(("active", "active", "under_review", "archived", "superseded")),
            memory_type=str(chance.choice(list(MemoryType))),
            confidence=chance.choice(edges) if number % 2 else chance.random(),
            kept=chance.choice((1.0, 0.5, 2.0**-64, chance.uniform(0.01, 1))),
            held_at=chance.choice(held),
            recall_count=chance.choice((0, 1, 7, 1_000_000)),
            outcome_count=chance.choice((0, 3)),
            positive=chance.choice((0, 2)),
            negative=chance.choice((0, 1)),
            pinned=chance.random() < 0.05,
            last_access=START - chance.choice((0, 1, 3, 90, 36_500)) * DAY + chance.random() * DAY,
        )


CASES = list(cases())
COLUMNS = Columns(
    kept="g.kept", last_access="g.last_access", now="%(now)s::timestamptz", memory_type="g.memory_type",
    recall_count="g.recall_count", outcome_count="g.outcome_count", positive="g.positive", negative="g.negative",
    pinned="g.pinned",
)  # fmt: skip
WHERE = {"confidence": "g.confidence", "status": "g.status", "held_at": "g.held_at"}


def asked(expression: str) -> list:
    """Return what an expression says of each case."""
    given = ", ".join(f"%({name})s::{kind}[]" for name, kind in FIELDS.items())
    values = {name: [getattr(case, name) for case in CASES] for name in FIELDS if name != "id"}
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {expression} FROM unnest({given}) AS g({', '.join(FIELDS)}) ORDER BY g.id",
            {**values, "id": list(range(len(CASES))), "now": START},
        )
        return [value for (value,) in cursor.fetchall()]


@pytest.mark.django_db
@pytest.mark.parametrize("name", POLICIES)
def test_the_next_crossing_is_the_same_moment_in_sql_and_python(name):
    policy = POLICIES[name]
    found = asked(forecast_sql.due_sql(COLUMNS, **WHERE, policy=policy))
    for case, moment in zip(CASES, found, strict=True):
        assert moment == case.silence.due_at(policy), case


@pytest.mark.django_db
@pytest.mark.parametrize("name", POLICIES)
def test_the_moment_of_the_archive_is_the_same_in_sql_and_python(name):
    policy = POLICIES[name]
    found = asked(forecast_sql.archived_sql(COLUMNS, **WHERE, policy=policy))
    for case, moment in zip(CASES, found, strict=True):
        assert moment == case.silence.forecast(policy).archived_at, case


@pytest.mark.django_db
@pytest.mark.parametrize("name", POLICIES)
def test_thresholds_leave_the_same_status_in_sql_and_python(name):
    policy = POLICIES[name]
    effective = decay_sql.effective_sql("g.confidence", decay_sql.freshness_sql(COLUMNS, policy))
    found = asked(
        forecast_sql.status_sql(COLUMNS, status="g.status", held_at="g.held_at", effective=effective, policy=policy)
    )
    for case, status in zip(CASES, found, strict=True):
        value = case.silence.effective(START, policy)
        place = lifecycle.settle(Place(Status(case.status), case.held_at), value, cause=Cause.DECAY, policy=policy)
        assert status == (case.status if case.pinned else place.status), case


def test_the_cases_hold_what_is_asked_of_them():
    dues = [case.silence.due_at(DEFAULT) for case in CASES]
    assert dues.count(None) > 100
    assert len({due for due in dues if due}) > 200

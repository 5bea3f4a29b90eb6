"""The functions of decay.py as PostgreSQL expressions, so that sets of rows wear down without leaving the database.

Each argument is an SQL expression: a column, or a placeholder with its type. Numbers come from the policy as literals.
The result is float8 and never raises underflow. A golden table holds both forms to the same values.
"""

from dataclasses import dataclass

from memories.rules.decay import NOTHING, daily_cap
from memories.rules.evidence import DECIMALS
from memories.rules.policy import DecayKind, MemoryType, Policy


@dataclass(frozen=True, slots=True)
class Columns:
    """The expressions of what freshness depends on; `now` and `last_access` are timestamptz."""

    kept: str
    last_access: str
    now: str
    memory_type: str = "memory_type"
    recall_count: str = "recall_count"
    outcome_count: str = "outcome_count"
    positive: str = "positive_reinforcement"
    negative: str = "negative_reinforcement"
    pinned: str = "pinned"


def days_sql(columns: Columns) -> str:
    """Return the whole days of silence, 0 for a pinned entry or a moment in the future."""
    days = f"greatest(date_part('day', {columns.now} - {columns.last_access}), 0)"
    return f"(CASE WHEN {columns.pinned} THEN 0::float8 ELSE {days} END)"


def feedback_factor_sql(columns: Columns, policy: Policy) -> str:
    """Return what feedback makes of durability."""
    total = f"({columns.positive} + {columns.negative})"
    floor = policy.feedback_floor
    share = f"{number(floor)} + {number(1 - floor)} * {columns.positive} / {total}"
    return f"(CASE WHEN {total} > 0 THEN {share} ELSE 1::float8 END)"


def half_life_sql(columns: Columns, policy: Policy) -> str:
    """Return the days of silence after which half the freshness is left."""
    types = " ".join(f"WHEN '{kind}' THEN {number(policy.type_factor(kind))}" for kind in MemoryType)
    return (
        f"({number(policy.base_half_life)} * (CASE {columns.memory_type} {types} END)"
        f" * (1 + ln(1 + {columns.recall_count}::float8))"
        f" * (CASE WHEN {columns.outcome_count} > 0 THEN {number(policy.outcome_factor)} ELSE 1::float8 END)"
        f" * {feedback_factor_sql(columns, policy)})"
    )


def earned_sql(columns: Columns, policy: Policy) -> str:
    """Return the freshness that an access at `now` keeps."""
    days = days_sql(columns)
    if policy.decay == DecayKind.DAILY_RATE:
        worn = f"power({number(policy.daily_rate)}, least({days}, {number(daily_cap(policy))}))"
    else:
        worn = f"power(0.5::float8, least({days} / {half_life_sql(columns, policy)}, {number(policy.half_life_cap)}))"
    return f"greatest({number(policy.freshness_floor)}, {columns.kept} * {worn})"


def freshness_sql(columns: Columns, policy: Policy) -> str:
    """Return what silence left of an entry, in 0..1]."""
    earned = earned_sql(columns, policy)
    if policy.decay != DecayKind.DAILY_RATE:
        return earned
    factor = feedback_factor_sql(columns, policy)
    return f"({earned} * (CASE WHEN {days_sql(columns)} >= 1 THEN {factor} ELSE 1::float8 END))"


def effective_sql(confidence: str, fresh: str) -> str:
    """Return effective confidence."""
    return f"(CASE WHEN {confidence} >= {number(NOTHING)} THEN {confidence} * {fresh} ELSE 0::float8 END)"


def below_sql(value: str, threshold: float) -> str:
    """Return whether a value is below a threshold, both rounded to nine decimals."""
    return f"(round(({value})::numeric, {DECIMALS}) < {round(threshold, DECIMALS):.{DECIMALS}f})"


def number(value: float) -> str:
    """Return a number as a float8 literal."""
    return f"{float(value)!r}::float8"

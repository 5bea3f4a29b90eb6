"""Priority (tiers.py) as a PostgreSQL expression, so that a retier is one statement."""

from memories.rules.policy import Policy
from memories.rules.tiers import AGE_CAP, FAINT

PARTS = ("importance", "recency", "frequency", "durability")


def parts_sql(
    *, importance: str, effective: str, written_at: str, now: str, recall_count: str, policy: Policy
) -> dict[str, str]:
    """Return the parts of a priority by name, as float8; arguments are SQL expressions, `importance` may be null."""
    days = f"greatest(extract(epoch FROM {now} - {written_at})::float8 / 86400, 0)"
    aged = f"least({policy.age_rate!r}::float8 * {days}, {AGE_CAP!r}::float8)"
    often = f"greatest(1::float8, ln(1 + {recall_count}::float8))"
    score = f"coalesce({importance}, {effective})"
    return {
        "importance": f"(CASE WHEN {score} >= {FAINT!r}::float8 THEN {score} ELSE 0::float8 END)",
        "recency": f"exp(-{aged})",
        "frequency": often,
        "durability": f"exp(-{aged} / {often})",
    }


def priority_sql(
    *, importance: str, effective: str, written_at: str, now: str, recall_count: str, policy: Policy
) -> str:
    """Return (I + R) * F * D as float8; each argument is an SQL expression, `importance` may be null."""
    part = parts_sql(
        importance=importance,
        effective=effective,
        written_at=written_at,
        now=now,
        recall_count=recall_count,
        policy=policy,
    )
    alpha, beta = f"{policy.importance_weight!r}::float8", f"{policy.recency_weight!r}::float8"
    weighed = f"({alpha} * {part['importance']} + {beta} * {part['recency']})"
    return f"({weighed} * {part['frequency']} * {part['durability']})"


def tier_sql(rank: str, policy: Policy) -> str:
    """Return the tier that a rank (1 is the first) gives."""
    warm = policy.hot_capacity + policy.warm_capacity
    return f"(CASE WHEN {rank} <= {policy.hot_capacity} THEN 1 WHEN {rank} <= {warm} THEN 2 ELSE 3 END)"

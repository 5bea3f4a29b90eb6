"""Freshness of a head in SQL, over the aliases e (entry) and r (its recalls); the twin of memories.rules.silence."""

from functools import lru_cache
from typing import Any

from memories.rules import decay_sql, forecast_sql, tiers_sql
from memories.rules.decay_sql import Columns
from memories.rules.policy import Policy

NOW = "%(now)s::timestamptz"


def columns(now: str) -> Columns:
    return Columns(
        kept="(CASE WHEN r.accessed_at > e.accessed_at THEN r.freshness ELSE e.freshness END)",
        last_access="greatest(e.accessed_at, r.accessed_at)",
        now=now,
        memory_type="e.memory_type",
        recall_count="coalesce(r.recall_count, 0)",
        outcome_count="e.outcome_count",
        positive="e.positive_reinforcement",
        negative="e.negative_reinforcement",
        pinned="e.pinned",
    )


@lru_cache(maxsize=64)
def effective_of_head(policy: Policy, now: str = NOW) -> str:
    """Return the effective confidence of a head at `now`."""
    return decay_sql.effective_sql("e.confidence", decay_sql.freshness_sql(columns(now), policy))


@lru_cache(maxsize=64)
def earned_of_head(policy: Policy, now: str = NOW) -> str:
    """Return the freshness that an access of a head at `now` keeps."""
    return decay_sql.earned_sql(columns(now), policy)


@lru_cache(maxsize=64)
def priority_of_head(policy: Policy, now: str = NOW) -> str:
    """Return the priority of a head at `now`."""
    return tiers_sql.priority_sql(**priority_columns(policy, now))


@lru_cache(maxsize=64)
def parts_of_head(policy: Policy, now: str = NOW) -> str:
    """Return the four parts of a head's priority and the priority itself, as columns of a SELECT."""
    parts = tiers_sql.parts_sql(**priority_columns(policy, now))
    columns = [f"{parts[name]} AS {name}" for name in tiers_sql.PARTS]
    return ", ".join([*columns, f"{priority_of_head(policy, now)} AS priority"])


def priority_columns(policy: Policy, now: str) -> dict[str, Any]:
    return {
        "importance": "e.importance_score",
        "effective": effective_of_head(policy, now),
        "written_at": "e.written_at",
        "now": now,
        "recall_count": "coalesce(r.recall_count, 0)",
        "policy": policy,
    }


@lru_cache(maxsize=64)
def status_of_head(policy: Policy, now: str = NOW) -> str:
    """Return the status that thresholds alone leave a head at `now`."""
    effective = effective_of_head(policy, now)
    return forecast_sql.status_sql(
        columns(now), status="e.status", held_at="e.held_at", effective=effective, policy=policy
    )


@lru_cache(maxsize=64)
def due_of_head(policy: Policy) -> str:
    """Return the next moment at which silence alone changes a head's status, null for never."""
    return forecast_sql.due_sql(
        columns(NOW), confidence="e.confidence", status="e.status", held_at="e.held_at", policy=policy
    )


@lru_cache(maxsize=64)
def archived_of_head(policy: Policy) -> str:
    """Return the moment at which silence alone archives a head, null for never."""
    return forecast_sql.archived_sql(
        columns(NOW), confidence="e.confidence", status="e.status", held_at="e.held_at", policy=policy
    )

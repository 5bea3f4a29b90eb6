"""Who comes first in a branch, now or at a moment to come if nothing happens (RULES.md 5).

Ranks are found among those entries that can have them. A priority never exceeds (importance weight + recency weight)
times exp(-rate * age) unless an entry was recalled twice or more, so whatever is older than that allows is not read.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from memories.ageing import silence_sql
from memories.rules import tiers_sql
from memories.rules.policy import Policy
from memories.rules.tiers import AGE_CAP

# From the second recall on, frequency is above 1 (ln 3), and the bound by age no longer holds.
OFTEN = 2
NOW = silence_sql.NOW
BRANCHES = """
    SELECT DISTINCT s.branch FROM (SELECT account_id, branch FROM memories_counter UNION ALL
                                   SELECT account_id, branch FROM memories_counterdelta) s
     WHERE s.account_id = %s ORDER BY s.branch
"""


HEADS = "memories_entry e LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id"


@dataclass(frozen=True, slots=True)
class Branch:
    """The ranks of one branch of an account at a moment, under a policy.

    `settled` says that the stored moments of the next crossing are those of this policy.
    """

    account_id: int
    branch: str
    policy: Policy
    now: datetime
    settled: bool = True

    @property
    def active(self) -> str:
        """Return the condition on heads that take a rank: active and not pinned, not over, not below a line by then."""
        above = f"{silence_sql.status_of_head(self.policy)} = 'active'"
        if self.settled:
            above = f"(e.due_at IS NULL OR e.due_at > %(now)s OR {above})"
        return f"e.status = 'active' AND NOT e.pinned AND (e.ttl_at IS NULL OR e.ttl_at > %(now)s) AND {above}"

    @property
    def ranks(self) -> int:
        """Return how many ranks lie above the archive."""
        return self.policy.hot_capacity + self.policy.warm_capacity

    @property
    def values(self) -> dict[str, Any]:
        return {"account": self.account_id, "branch": self.branch, "now": self.now, "ranks": self.ranks}

    def floor(self) -> float | None:
        """Return a priority that the last rank above the archive surely has, None when there may be fewer entries."""
        sql = f"""
            SELECT count(*), min(s.priority) FROM (
                SELECT {silence_sql.priority_of_head(self.policy)} AS priority FROM {HEADS}
                 WHERE e.account_id = %(account)s AND e.branch = %(branch)s AND e.tier < 3 AND {self.active}
                 ORDER BY 1 DESC LIMIT %(ranks)s) s
        """
        count, least = fetch(sql, self.values)[0]
        return least if count and count == self.ranks else None

    def since(self, priority: float | None) -> datetime | None:
        """Return when an entry recalled less than twice must have been written to have a priority; None: any time."""
        policy = self.policy
        most = policy.importance_weight + policy.recency_weight
        if priority is None or priority <= 0 or policy.age_rate == 0:
            return None
        # A little more than the bound, so that rounding leaves nobody out; ages beyond the cap all count the same.
        days = max(0.0, math.log(most) - math.log(priority)) / policy.age_rate + 0.001
        return self.now - timedelta(days=days) if days * policy.age_rate < AGE_CAP and days < 36_500 else None

    def candidates(self, priority: float | None) -> tuple[str, dict[str, Any]]:
        """Return the condition on heads that may have a priority (None: any), and the values it binds."""
        since = self.since(priority)
        if since is None:
            return "TRUE", {}
        return (
            """e.id IN (SELECT c.id FROM memories_entry c
                         WHERE c.account_id = %(account)s AND c.branch = %(branch)s AND c.written_at > %(since)s
                        UNION ALL
                        SELECT o.entry_id FROM memories_recall o
                         WHERE o.account_id = %(account)s AND o.recall_count >= %(often)s)""",
            {"since": since, "often": OFTEN},
        )

    def first(self, priority: float | None) -> tuple[str, dict[str, Any]]:
        """Return the statement that gives (id, place) of those above the archive, and the values it binds.

        `priority` is one that the last of them surely has (see `floor`).
        """
        condition, values = self.candidates(priority)
        sql = f"""
            SELECT s.id, row_number() OVER (ORDER BY s.priority DESC, s.id) AS place FROM (
                SELECT e.id, {silence_sql.priority_of_head(self.policy)} AS priority FROM {HEADS}
                 WHERE e.account_id = %(account)s AND e.branch = %(branch)s AND {self.active} AND {condition}
                 ORDER BY 2 DESC, 1 LIMIT %(ranks)s) s
        """
        return sql, {**self.values, **values}

    def wanted(self) -> tuple[str, dict[str, Any]]:
        """Return the statement that gives (id, tier, place) of those whose tier may have to change."""
        ranked, values = self.first(self.floor())
        tier = f"coalesce({tiers_sql.tier_sql('k.place', self.policy)}, 3)"
        sql = f"""
            SELECT coalesce(k.id, e.id) AS id, k.place, {tier} AS tier
              FROM ({ranked}) k
              FULL JOIN (SELECT e.id FROM memories_entry e
                          WHERE e.account_id = %(account)s AND e.branch = %(branch)s AND e.tier < 3 AND NOT e.pinned) e
                ON e.id = k.id
        """
        return sql, values

    def rank(self, entry_id: int) -> int | None:
        """Return the rank of an entry at the moment, 1 being the first; None when it takes none."""
        mine = fetch(
            f"""SELECT {silence_sql.priority_of_head(self.policy)} FROM {HEADS}
                 WHERE e.account_id = %(account)s AND e.branch = %(branch)s AND e.id = %(id)s AND {self.active}""",
            {**self.values, "id": entry_id},
        )
        if not mine:
            return None
        priority = mine[0][0]
        condition, values = self.candidates(priority)
        sql = f"""
            SELECT count(*) FROM (SELECT e.id, {silence_sql.priority_of_head(self.policy)} AS priority FROM {HEADS}
                 WHERE e.account_id = %(account)s AND e.branch = %(branch)s AND {self.active} AND {condition}) s
             WHERE s.priority > %(priority)s OR (s.priority = %(priority)s AND s.id < %(id)s)
        """
        (before,) = fetch(sql, {**self.values, **values, "priority": priority, "id": entry_id})[0]
        return int(before) + 1


def branches(account_id: int) -> list[str]:
    """Return the branches of an account that ever held an entry."""
    return [branch for (branch,) in fetch(BRANCHES, [account_id])]


def fetch(sql: str, values: Sequence[Any] | dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()

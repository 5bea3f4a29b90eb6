"""What an operator watches of all accounts at once: sums, who waits longest, how the jobs went."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django_q.models import OrmQ

from memories.figures import SOURCE, SUMS, Totals
from memories.models import JobRun
from memories.models.time import JobState


def totals(account_ids: Sequence[int]) -> dict[int, Totals]:
    """Return the sums of each account over all its branches."""
    sql = f"SELECT s.account_id, {SUMS} FROM {SOURCE} WHERE s.account_id = ANY(%s) GROUP BY s.account_id"
    return {account: Totals(*(value or 0 for value in sums)) for account, *sums in rows(sql, list(account_ids))}


OLDEST = """
    SELECT e.account_id, min(CASE WHEN m.place_version = e.version THEN m.place_at ELSE e.changed_at END)
      FROM memories_entry e
      LEFT JOIN memories_reviewmark m ON m.account_id = e.account_id AND m.entry_id = e.id
     WHERE e.account_id = ANY(%s) AND e.status = 'under_review' GROUP BY e.account_id
"""


def waiting_since(account_ids: Sequence[int]) -> dict[int, datetime]:
    """Return since when the oldest entry under review waits, for each account that has one."""
    return dict(rows(OLDEST, list(account_ids)))


def last_runs(account_ids: Sequence[int]) -> list[JobRun]:
    """Return the last run of each job that ended, in each account."""
    ended = JobRun.objects.filter(account_id__in=list(account_ids), dry=False)
    ended = ended.filter(state__in=(JobState.DONE, JobState.FAILED))
    return list(ended.order_by("account_id", "job", "-id").distinct("account_id", "job"))


@dataclass(frozen=True, slots=True)
class Queue:
    """How many tasks wait for a worker, and since when the oldest does."""

    waiting: int
    since: datetime | None


def queue() -> Queue:
    # A task's lock is when it may be taken: when it came, or after it was taken, when it counts as lost.
    found = OrmQ.objects.order_by("lock").values_list("lock", flat=True)
    return Queue(found.count(), found.first())


def database_bytes() -> int:
    return int(rows("SELECT pg_database_size(current_database())")[0][0])


def rows(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()

"""Deletes readings, events and traces that are older than the account keeps them; what it learned stays for good.

They outgrow everything else, as clients report every read, and lie in a partition for each month. One that no account
keeps is dropped as a whole; what one account keeps shorter than another goes row by row, in batches. Versions, outcomes
and effects are never touched.
"""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import OperationalError, connection, transaction

from memories.jobs.runs import Run
from memories.viewers import account_policy
from senselab.accounts.models import Account

log = logging.getLogger(__name__)

# Few enough rows that nobody waits for the disk behind one batch.
BATCH = 5_000
# Readings go by whole months, as they are counted by month.
DELETES = {
    "keep_readings": """
        DELETE FROM memories_reading r
         WHERE r.account_id = %(account)s AND r.month < (%(before)s::timestamptz AT TIME ZONE 'UTC')::date
           AND (r.month, r.entry_id, r.version, r.agent_id, r.session_id) IN (
               SELECT o.month, o.entry_id, o.version, o.agent_id, o.session_id FROM memories_reading o
                WHERE o.account_id = %(account)s
                  AND o.month < date_trunc('month', %(before)s::timestamptz AT TIME ZONE 'UTC')::date
                ORDER BY o.month, o.entry_id, o.version, o.agent_id, o.session_id LIMIT %(batch)s)
    """,
    "keep_events": """
        DELETE FROM outcomes_event r
         WHERE r.account_id = %(account)s AND r.created_at < %(before)s AND r.id IN (
               SELECT o.id FROM outcomes_event o WHERE o.account_id = %(account)s AND o.created_at < %(before)s
                ORDER BY o.id LIMIT %(batch)s)
    """,
    "keep_traces": """
        DELETE FROM outcomes_trace r
         WHERE r.account_id = %(account)s AND r.created_at < %(before)s AND r.id IN (
               SELECT o.id FROM outcomes_trace o WHERE o.account_id = %(account)s AND o.created_at < %(before)s
                ORDER BY o.created_at LIMIT %(batch)s)
    """,
}


def turn_months() -> int:
    """Drop the partitions that no account keeps and make those of the months to come; return how many were dropped.

    Both are the owner's to do, by functions that decide by themselves. What somebody holds waits for another night.
    """
    turned: dict[str, list[str]] = {"drop": [], "make": []}
    for verb in turned:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"SELECT * FROM memories_{verb}_months()")
                turned[verb] = [name for (name,) in cursor.fetchall()]
        except OperationalError:
            log.warning("months are turned another night, as somebody holds one", exc_info=True)
    if any(turned.values()):
        log.info("partitions dropped: %s; made: %s", turned["drop"], turned["make"])
    return len(turned["drop"])


def retain(account: Account, now: datetime, run: Run | None = None) -> int:
    """Delete what the account's policy no longer keeps, batch by batch; what is left is found by the next run."""
    run, policy = run or Run(), account_policy(account)
    for field, statement in DELETES.items():
        days = getattr(policy, field)
        deleted = BATCH if days else 0
        while deleted == BATCH:
            deleted = delete(statement, account.pk, now - timedelta(days=days))
            run.step(looked=deleted, changed=deleted)
            run.terms[field] = run.terms.get(field, 0) + deleted
    return run.changed


@transaction.atomic
def delete(statement: str, account_id: int, before: datetime) -> int:
    values: dict[str, Any] = {"account": account_id, "before": before, "batch": BATCH}
    with connection.cursor() as cursor:
        # What comes back with a crash is deleted again.
        cursor.execute("SET LOCAL synchronous_commit = off")
        cursor.execute(statement, values)
        return cursor.rowcount

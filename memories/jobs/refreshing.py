"""Stores anew what drifts: effective confidence, for sorting; with another policy also the next crossing."""

from datetime import datetime
from typing import Any

from django.db import connection, transaction

from memories import silence_sql
from memories.jobs.runs import Run
from memories.rules.policy import Policy
from memories.viewers import account_policy
from senselab.accounts.models import Account

# Few enough rows that a writer who meets the lock on one waits a moment, many enough that statements cost nothing.
BATCH = 2_000
# Entries are looked through in stretches of ids, as the scan between two changed rows may be long.
STRETCH = 50_000
DRIFTED = "abs(e.settled_confidence - {worth}) > 1e-9"
DUE_MOVED = "e.due_at IS DISTINCT FROM {due}"
SOURCE = """
    FROM memories_entry e LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
   WHERE e.account_id = %(account)s AND e.id > %(after)s AND e.id <= %(last)s
"""
EDGES = """
    SELECT max(id), count(*) FROM (SELECT e.id FROM memories_entry e WHERE e.account_id = %s AND e.id > %s
                                    ORDER BY e.id LIMIT %s) s
"""


def refresh(account: Account, now: datetime, run: Run | None = None) -> int:
    """Store effective confidence anew where it drifted, for sorts and cursors; versions and labels stay."""
    run, policy = run or Run(), account_policy(account)
    run.total = count(account.pk)
    return store(account.pk, policy, now, run, with_due=False, after=run.terms.get("after", 0))


def store(account_id: int, policy: Policy, now: datetime, run: Run, *, with_due: bool, after: int = 0) -> int:
    """Go through the entries of an account by id, from `after` on, and write what drifted, a few rows at a time.

    An entry that somebody else holds is left to them: a write settles what it writes. How far this came is in
    run.terms["after"]; a long turn ends before the last entry and says so (run.ended).
    """
    while True:
        last, looked = stretch(account_id, after)
        if last is None:
            return run.changed
        changed = 0
        while ids := drifted(account_id, policy, now, (after, last), with_due=with_due):
            changed += write(account_id, policy, now, ids, with_due=with_due)
            if len(ids) < BATCH:
                break
            after = ids[-1]
        after = last
        run.terms["after"] = after
        run.step(looked=looked, changed=changed)
        if run.is_long:
            run.ended = False
            return run.changed


def count(account_id: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memories_entry e WHERE e.account_id = %s", [account_id])
        return int(cursor.fetchone()[0])


def stretch(account_id: int, after: int) -> tuple[int | None, int]:
    """Return the last id of the next stretch, None when there is none, and how many entries it holds."""
    with connection.cursor() as cursor:
        cursor.execute(EDGES, [account_id, after, STRETCH])
        last, count = cursor.fetchone()
        return last, int(count)


def differs(policy: Policy, *, with_due: bool) -> str:
    condition = DRIFTED.format(worth=silence_sql.effective_of_head(policy))
    return f"({condition} OR {DUE_MOVED.format(due=silence_sql.due_of_head(policy))})" if with_due else condition


def drifted(account_id: int, policy: Policy, now: datetime, between: tuple[int, int], *, with_due: bool) -> list[int]:
    """Return the ids of the next entries whose stored values are no longer right, ascending."""
    sql = f"SELECT e.id {SOURCE} AND {differs(policy, with_due=with_due)} ORDER BY e.id LIMIT {BATCH}"
    values: dict[str, Any] = {"account": account_id, "after": between[0], "last": between[1], "now": now}
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [entry_id for (entry_id,) in cursor.fetchall()]


@transaction.atomic
def write(account_id: int, policy: Policy, now: datetime, ids: list[int], *, with_due: bool) -> int:
    """Store what follows from the entries as they are now, those that somebody holds left out."""
    sets = f"settled_confidence = {silence_sql.effective_of_head(policy)}"
    sets += f", due_at = {silence_sql.due_of_head(policy)}" if with_due else ""
    # Locked in a statement of its own, so that what is computed is computed from what is locked.
    lock = """SELECT e.id FROM memories_entry e WHERE e.account_id = %s AND e.id = ANY(%s)
               ORDER BY e.id FOR NO KEY UPDATE SKIP LOCKED"""
    sql = f"""
        UPDATE memories_entry e SET {sets}
          FROM memories_entry o LEFT JOIN memories_recall r ON r.account_id = o.account_id AND r.entry_id = o.id
         WHERE e.account_id = %(account)s AND o.account_id = e.account_id AND o.id = e.id AND e.id = ANY(%(ids)s)
    """
    with connection.cursor() as cursor:
        cursor.execute(lock, [account_id, ids])
        mine = [entry_id for (entry_id,) in cursor.fetchall()]
        values: dict[str, Any] = {"account": account_id, "ids": mine, "now": now}
        cursor.execute(sql, values)
        return cursor.rowcount

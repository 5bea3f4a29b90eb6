"""Stores anew what drifts: effective confidence, for sorting; with another policy also the next crossing."""

import time
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from memories.ageing import silence_sql
from memories.jobs.runs import Run
from memories.rules.policy import Policy
from memories.viewers import account_policy
from senselab.accounts.models import Account

# Few enough rows that a writer who meets the lock on one waits a moment, many enough that statements cost nothing.
BATCH = 500
# Ids are fetched so many at a time; those that another policy moves are looked for in such stretches.
MOST = 200_000
STRETCH = 50_000
# After each batch the disk is left to others for this share of the time it took.
BREATH = 0.25
DAY = timedelta(days=1)
# The last refresh began when it began; what was written meanwhile is looked at twice.
OVERLAP = timedelta(minutes=10)
DRIFTED = "abs(e.settled_confidence - {worth}) > 1e-9"
DUE_MOVED = "e.due_at IS DISTINCT FROM {due}"
SOURCE = "FROM memories_entry e LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id"
# Freshness falls when another whole day of silence is over, so whatever drifts has ended one since the last refresh.
SINCE_LAST_DAY = """
    (date_part('epoch', %(now)s::timestamptz - greatest(e.accessed_at, r.accessed_at))
     - 86400 * floor(date_part('epoch', %(now)s::timestamptz - greatest(e.accessed_at, r.accessed_at)) / 86400))
"""
EDGES = """
    SELECT max(id), count(*) FROM (SELECT e.id FROM memories_entry e WHERE e.account_id = %s AND e.id > %s
                                    ORDER BY e.id LIMIT %s) s
"""
COUNT = """
    SELECT coalesce(sum(s.entries + s.superseded + s.archived), 0)
      FROM (SELECT account_id, entries, superseded, archived FROM memories_counter
             UNION ALL SELECT account_id, entries, superseded, archived FROM memories_counterdelta) s
     WHERE s.account_id = %s
"""


def refresh(account: Account, now: datetime, run: Run | None = None) -> int:
    """Store effective confidence anew where it drifted, for sorts and cursors; versions and labels stay.

    What did not end a day of silence since the last refresh cannot have drifted and is passed over; once a day
    everything is looked at all the same.
    """
    run, policy = run or Run(), account_policy(account)
    since = run.since if run.since is not None and run.since.date() == now.date() else None
    while ids := drifted(account.pk, policy, now, since):
        run.total = run.looked + len(ids)
        before = run.changed
        handled = write_all(account.pk, policy, now, ids, run, looks=True)
        if handled < len(ids):
            # The next turn finds what is left by looking again.
            run.ended = False
            return run.changed
        if len(ids) < MOST or run.changed == before:
            break
    run.looked = max(run.looked, count(account.pk))
    return run.changed


def drifted(account_id: int, policy: Policy, now: datetime, since: datetime | None) -> list[int]:
    """Return the ids of entries whose stored value is no longer right, ascending; at most MOST of them."""
    values: dict[str, Any] = {"account": account_id, "now": now}
    ended = "TRUE"
    if since is not None and timedelta(0) <= now - since < DAY - OVERLAP:
        ended = f"{SINCE_LAST_DAY} <= %(span)s"
        values["span"] = (now - since + OVERLAP).total_seconds()
    condition = differs(policy, with_due=False)
    sql = f"SELECT e.id {SOURCE} WHERE e.account_id = %(account)s AND {ended} AND {condition} LIMIT {MOST}"
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return sorted(entry_id for (entry_id,) in cursor.fetchall())


def write_all(
    account_id: int,
    policy: Policy,
    now: datetime,
    ids: list[int],
    run: Run,
    *,
    with_due: bool = False,
    looks: bool = False,
) -> int:
    """Write entries batch by batch, each a transaction of its own, and return how many were handled.

    That is fewer than all when the turn lasted too long. `looks` counts them as looked at, too.
    """
    for start in range(0, len(ids), BATCH):
        batch, began = ids[start : start + BATCH], time.monotonic()
        written = write(account_id, policy, now, batch, with_due=with_due)
        run.step(looked=len(batch) if looks else 0, changed=written)
        if run.id is not None:
            time.sleep(BREATH * (time.monotonic() - began))
        if run.is_long:
            return start + len(batch)
    return len(ids)


def store(account_id: int, policy: Policy, now: datetime, run: Run, *, after: int = 0) -> None:
    """Go through the entries of an account by id, from `after` on, and write what follows from another policy.

    An entry that somebody else holds is left to them: a write settles what it writes. How far this came is in
    run.terms["after"]; a long turn ends before the last entry and says so (run.ended).
    """
    while True:
        last, looked = stretch(account_id, after)
        if last is None:
            return
        moved = moved_by_policy(account_id, policy, now, (after, last))
        if write_all(account_id, policy, now, moved, run, with_due=True) < len(moved):
            run.ended = False
            return
        run.step(looked=looked)
        run.terms["after"] = after = last
        if run.is_long:
            run.ended = False
            return


def stretch(account_id: int, after: int) -> tuple[int | None, int]:
    """Return the last id of the next stretch, None when there is none, and how many entries it holds."""
    with connection.cursor() as cursor:
        cursor.execute(EDGES, [account_id, after, STRETCH])
        last, found = cursor.fetchone()
        return last, int(found)


def count(account_id: int) -> int:
    """Return how many entries an account holds, from its sums."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [account_id])
        return int(cursor.fetchone()[0])


def differs(policy: Policy, *, with_due: bool) -> str:
    condition = DRIFTED.format(worth=silence_sql.effective_of_head(policy))
    return f"({condition} OR {DUE_MOVED.format(due=silence_sql.due_of_head(policy))})" if with_due else condition


def moved_by_policy(account_id: int, policy: Policy, now: datetime, between: tuple[int, int]) -> list[int]:
    """Return the ids of entries of a stretch whose stored values are no longer right, ascending."""
    sql = f"""SELECT e.id {SOURCE} WHERE e.account_id = %(account)s AND e.id > %(after)s AND e.id <= %(last)s
                 AND {differs(policy, with_due=True)} ORDER BY e.id"""
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
        # What is lost with the machine is computed again: no writer waits for this to reach the disk.
        cursor.execute("SET LOCAL synchronous_commit = off")
        cursor.execute(lock, [account_id, ids])
        mine = [entry_id for (entry_id,) in cursor.fetchall()]
        values: dict[str, Any] = {"account": account_id, "ids": mine, "now": now}
        cursor.execute(sql, values)
        return cursor.rowcount

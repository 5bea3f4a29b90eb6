"""What time does: recalls aside, everything that happens to entries without anybody asking for it.

Each job goes account by account, under an advisory lock of its own, and can be repeated, missed or run twice at once
without changing the result: what it writes follows from the clock and the entries alone.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.utils import timezone

from memories import figures, heads, silence_sql
from memories.heads import Head
from memories.rules import lifecycle, tiers_sql
from memories.rules.kinds import Change, Status
from memories.rules.lifecycle import Cause, Place
from memories.rules.policy import Policy
from memories.rules.silence import Silence
from memories.services import ledger
from memories.services.ledger import Act, Actor, Move, Next
from memories.viewers import account_policy
from senselab.accounts.models import Account

log = logging.getLogger(__name__)

BATCH = 1_000
LOCKS = {"expire": 7101, "decay": 7102, "retier": 7103, "fold": 7104, "refresh": 7105}
KEPT_ANSWERS = timedelta(hours=24)

DUE = {
    "expire": "e.ttl_at <= %s AND NOT (e.status = 'archived' AND e.confidence = 0)",
    "decay": "e.due_at <= %s",
}


@contextmanager
def alone(job: str, account_id: int) -> Iterator[bool]:
    """Hold the lock of a job on an account, or say that somebody else does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCKS[job], account_id])
        held = bool(cursor.fetchone()[0])
        try:
            yield held
        finally:
            if held:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCKS[job], account_id])


def everywhere(job: str, work: Callable[[Account, datetime], int]) -> int:
    """Do a job in every account and return how many entries it changed."""
    changed = 0
    for account in Account.objects.order_by("id"):
        with alone(job, account.pk) as held:
            if held:
                changed += work(account, timezone.now())
    if changed:
        log.info("%s changed %d", job, changed)
    return changed


def due(job: str, account_id: int, now: datetime) -> list[int]:
    """Return the ids of the next entries a job has to look at, oldest due first."""
    column = "ttl_at" if job == "expire" else "due_at"
    sql = f"SELECT e.id FROM memories_entry e WHERE e.account_id = %s AND {DUE[job]} ORDER BY e.{column} LIMIT {BATCH}"
    with connection.cursor() as cursor:
        cursor.execute(sql, [account_id, now])
        return [entry_id for (entry_id,) in cursor.fetchall()]


Plan = Callable[[Head, Policy, datetime], Next | None]


def transitions(job: str, account: Account, now: datetime, plan: Plan) -> int:
    """Write what is due, batch by batch, each batch one change set; what needs no version gets its next moment."""
    policy, changed = account_policy(account), 0
    while ids := due(job, account.pk, now):
        with transaction.atomic():
            # Somebody may have been there between the look and the lock: only what is still due counts.
            found = heads.by_ids(account.pk, ids, lock=True)
            planned = [(head, plan(head, policy, now)) for head in found]
            moves = [Move(steps=[step], head=head, access=False) for head, step in planned if step is not None]
            if moves:
                ledger.append(account.pk, Act(job, Actor("job", job), now, policy), moves)
            settle_due(account.pk, [head for head, step in planned if step is None], policy, now)
        changed += len(moves)
    return changed


def settle_due(account_id: int, unmoved: list[Head], policy: Policy, now: datetime) -> None:
    """Store anew when entries are due that turned out not to be: a recall has kept them fresh."""
    rows = [(head.id, head.version, later(head, policy, now)) for head in unmoved]
    if not rows:
        return
    ids, versions, moments = zip(*rows, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE memories_entry e SET due_at = g.due_at
                 FROM unnest(%s::bigint[], %s::int[], %s::timestamptz[]) AS g(id, version, due_at)
                WHERE e.account_id = %s AND e.id = g.id AND e.version = g.version""",
            [list(ids), list(versions), list(moments), account_id],
        )


def later(head: Head, policy: Policy, now: datetime) -> datetime | None:
    moment = Silence(head.state, head.kept, head.accessed_at, head.recall_count).due_at(policy)
    # What is due and yet needs no version will not need one before another day has passed.
    return moment if moment is None or moment > now else now + timedelta(days=1)


def expired(head: Head, policy: Policy, now: datetime) -> Next | None:
    """Return the version that says a time to live is over (RULES.md 4), None when it is not, or was said already."""
    del policy
    state = head.state
    if state.ttl_at is None or state.ttl_at > now or (state.status == Status.ARCHIVED and state.confidence == 0):
        return None
    gone = replace(state, status=Status.ARCHIVED.value, confidence=0.0, held_at=None)
    return Next(Change.EXPIRED, gone, before=state.confidence)


def decayed(head: Head, policy: Policy, now: datetime) -> Next | None:
    """Return the version that says silence has worn an entry down below a threshold, None when it has not."""
    state = head.state
    silence = Silence(state, head.kept, head.accessed_at, head.recall_count)
    moment = silence.due_at(policy)
    if moment is None or moment > now:
        return None
    effective = silence.effective(now, policy)
    place = lifecycle.settle(Place(Status(state.status), state.held_at), effective, cause=Cause.DECAY, policy=policy)
    if place.status == state.status:
        return None
    worn = replace(state, status=place.status.value, held_at=place.held_at, freshness=silence.freshness(now, policy))
    return Next(Change.DECAYED, worn, before=state.confidence)


def expire() -> int:
    """Archive what outlived its time to live. Each minute."""
    return everywhere("expire", lambda account, now: transitions("expire", account, now, expired))


def decay() -> int:
    """Move what silence wore down below a threshold, and refresh what lists are sorted by. Each hour."""
    changed = everywhere("decay", lambda account, now: transitions("decay", account, now, decayed))
    everywhere("refresh", refresh)
    return changed


def refresh(account: Account, now: datetime) -> int:
    """Store effective confidence anew where it drifted, for sorts and cursors; versions and labels stay."""
    effective = silence_sql.effective_of_head(account_policy(account))
    sql = f"""
        WITH now AS (
            SELECT e.id, e.version, {effective} AS worth
              FROM memories_entry e
              LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
             WHERE e.account_id = %(account)s
        )
        UPDATE memories_entry e SET settled_confidence = now.worth FROM now
         WHERE e.account_id = %(account)s AND e.id = now.id AND e.version = now.version
           AND abs(e.settled_confidence - now.worth) > 1e-9
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, {"account": account.pk, "now": now})
        return cursor.rowcount


def retier(account: Account, now: datetime) -> int:
    """Rank active entries of each branch by priority and store the tiers that change (RULES.md 5)."""
    policy = account_policy(account)
    # Pinned entries hold their place: they neither change tier nor take a rank from others.
    sql = f"""
        WITH ranked AS (
            SELECT e.id, row_number() OVER (
                       PARTITION BY e.branch ORDER BY {silence_sql.priority_of_head(policy)} DESC, e.id) AS place
              FROM memories_entry e
              LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
             WHERE e.account_id = %(account)s AND e.status = 'active' AND NOT e.pinned
               AND (e.ttl_at IS NULL OR e.ttl_at > %(now)s)
        ),
        wanted AS (
            SELECT e.id, coalesce({tiers_sql.tier_sql("ranked.place", policy)}, 3) AS tier
              FROM memories_entry e LEFT JOIN ranked ON ranked.id = e.id
             WHERE e.account_id = %(account)s AND NOT e.pinned AND (ranked.place <= %(ranks)s OR e.tier < 3)
        )
        UPDATE memories_entry e SET tier = wanted.tier FROM wanted
         WHERE e.account_id = %(account)s AND e.id = wanted.id AND e.tier IS DISTINCT FROM wanted.tier
    """
    ranks = policy.hot_capacity + policy.warm_capacity
    with connection.cursor() as cursor:
        cursor.execute(sql, {"account": account.pk, "now": now, "ranks": ranks})
        return cursor.rowcount


def tiers() -> int:
    """Put first what is likely needed. Each minute."""
    return everywhere("retier", retier)


def fold() -> int:
    """Fold what writes added to the sums, and drop answers kept for repeats that nobody will repeat. Each minute."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM accounts_keptanswer WHERE created_at < %s", [timezone.now() - KEPT_ANSWERS])
    return everywhere("fold", lambda account, _: figures.fold(account.pk))


SCHEDULES = {
    "expire": ("memories.jobs.expire", 1),
    "tiers": ("memories.jobs.tiers", 1),
    "fold": ("memories.jobs.fold", 1),
    "decay": ("memories.jobs.decay", 60),
}

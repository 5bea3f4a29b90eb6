"""What time does to the place of entries in life: what expired, what silence wore down; batch by batch, as versions."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import connection, transaction

from memories import heads
from memories.heads import Head
from memories.jobs.runs import Run
from memories.rules import lifecycle
from memories.rules.kinds import Change, Status
from memories.rules.lifecycle import Cause, Place
from memories.rules.policy import Policy
from memories.rules.silence import Silence
from memories.services import ledger
from memories.services.ledger import Act, Actor, Move, Next
from memories.viewers import account_policy
from senselab.accounts.models import Account

BATCH = 500
DUE = {
    "expire": "e.ttl_at <= %s AND NOT (e.status = 'archived' AND e.confidence = 0)",
    "decay": "e.due_at <= %s",
}
Plan = Callable[[Head, Policy, datetime], Next | None]


def due(job: str, account_id: int, now: datetime) -> list[int]:
    """Return the ids of the next entries a job has to look at, oldest due first."""
    column = "ttl_at" if job == "expire" else "due_at"
    sql = f"SELECT e.id FROM memories_entry e WHERE e.account_id = %s AND {DUE[job]} ORDER BY e.{column} LIMIT {BATCH}"
    with connection.cursor() as cursor:
        cursor.execute(sql, [account_id, now])
        return [entry_id for (entry_id,) in cursor.fetchall()]


def transitions(job: str, account: Account, now: datetime, plan: Plan, run: Run | None = None) -> int:
    """Write what is due, batch by batch, each batch one change set; what needs no version gets its next moment."""
    run = run or Run()
    act = Act(job, Actor("job", job), now, account_policy(account))
    while ids := due(job, account.pk, now):
        moved = move(account.pk, ids, plan, act)
        run.step(looked=len(ids), changed=moved)
    return run.changed


@transaction.atomic
def move(account_id: int, ids: list[int], plan: Plan, act: Act) -> int:
    """Write what a plan makes of some entries, and return of how many."""
    # Somebody may have been there between the look and the lock: only what is still due counts.
    found = heads.by_ids(account_id, ids, lock=True)
    planned = [(head, plan(head, act.policy, act.at)) for head in found]
    moves = [Move(steps=[step], head=head, access=False) for head, step in planned if step is not None]
    if moves:
        ledger.append(account_id, act, moves)
    settle_due(account_id, [head for head, step in planned if step is None], act.policy, act.at)
    return len(moves)


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
                WHERE e.account_id = %s AND e.id = g.id AND e.version = g.version
                  AND e.due_at IS DISTINCT FROM g.due_at""",
            [list(ids), list(versions), list(moments), account_id],
        )


def silence_of(head: Head) -> Silence:
    return Silence(head.state, head.kept, head.accessed_at, head.recall_count)


def later(head: Head, policy: Policy, now: datetime) -> datetime | None:
    moment = silence_of(head).due_at(policy)
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
    moment = silence_of(head).due_at(policy)
    return None if moment is None or moment > now else settled(head, policy, now)


def settled(head: Head, policy: Policy, now: datetime) -> Next | None:
    """Return the version that moves an entry to where thresholds put it now, None when it stands there."""
    state, silence = head.state, silence_of(head)
    if state.pinned:
        return None
    effective = silence.effective(now, policy)
    place = lifecycle.settle(Place(Status(state.status), state.held_at), effective, cause=Cause.DECAY, policy=policy)
    if place.status == state.status:
        return None
    worn = replace(state, status=place.status.value, held_at=place.held_at, freshness=silence.freshness(now, policy))
    return Next(Change.DECAYED, worn, before=state.confidence)


def expire(account: Account, now: datetime, run: Run | None = None) -> int:
    return transitions("expire", account, now, expired, run)


def decay(account: Account, now: datetime, run: Run | None = None) -> int:
    return transitions("decay", account, now, decayed, run)

"""A bulk run at work: a worker takes it batch by batch, and whoever asked can watch, cancel, and ask again."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from django.db import Error, connection, transaction
from django.db.models import F
from django.utils import timezone

from memories.models import ChangeSet
from memories.models.review import BulkRun
from memories.rules.decisions import Item, Word
from memories.services import bulk
from memories.services import review as deciding
from memories.services.acts import Act, Actor
from memories.services.decisions import Decision
from memories.services.review import Decided, Failed
from memories.viewers import Viewer, account_policy
from senselab.accounts.models import Account
from senselab.errors import Conflict, NotFound, Refusal

log = logging.getLogger(__name__)

LOCK = 7202
BATCH = 250
NEXT = """
    SELECT i.entry_id, i.version, i.to_version FROM memories_bulkitem i
     WHERE i.account_id = %s AND i.run_id = %s AND i.state = 'waiting' AND i.entry_id > %s ORDER BY i.entry_id LIMIT %s
"""
TOLD = """
    UPDATE memories_bulkitem i SET state = CASE WHEN g.why = '' THEN 'done' ELSE 'failed' END, why = g.why
      FROM unnest(%s::bigint[], %s::text[]) AS g(entry_id, why)
     WHERE i.account_id = %s AND i.run_id = %s AND i.entry_id = g.entry_id
"""
# Asked again, an entry is taken as it is now: whoever asks has read why it failed. What goes back to an earlier version
# does not overrun what somebody changed since.
BACK = (Word.UNDO, Word.RESTORE)
AGAIN = """
    UPDATE memories_bulkitem i
       SET state = 'waiting', why = '', version = CASE WHEN %s THEN i.version ELSE e.version END FROM memories_entry e
     WHERE i.account_id = %s AND i.run_id = %s AND i.state = 'failed' AND e.account_id = i.account_id
       AND e.id = i.entry_id
"""


def work(account_id: int, run_id: int, clock: Callable[[], datetime] = timezone.now) -> int:
    """Do what is left of a run and return how many entries were decided about; a job. Twice at once it runs once.

    Each batch happens when it happens, so that the job is handed a clock instead of a moment.
    """
    with alone(run_id) as held:
        run = BulkRun.objects.filter(account_id=account_id, pk=run_id, finished_at=None).first() if held else None
        if run is None:
            return 0
        viewer, decision = viewer_of(run), bulk.decision_of(run.decision, run.terms)
        _save(run, state="running", started_at=run.started_at or clock())
        done, after = 0, 0
        while items := _next(run, after):
            run.refresh_from_db(from_queryset=BulkRun.objects.filter(account_id=account_id))
            if run.cancelled:
                break
            try:
                done += len(_batch(run, viewer, decision, items, clock()).done)
            except Error as error:
                log.warning("a batch of run %d failed", run.pk, exc_info=True)
                _fail(run, items, f"The database refused: {type(error).__name__}.", clock())
            after = items[-1].entry_id
        _save(run, state="cancelled" if run.cancelled else "finished", finished_at=clock())
        return done


@contextmanager
def alone(run_id: int) -> Iterator[bool]:
    """Hold the lock of a run, or say that another worker does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, run_id % 2**31])
        held = bool(cursor.fetchone()[0])
        try:
            yield held
        finally:
            if held:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK, run_id % 2**31])


def viewer_of(run: BulkRun) -> Viewer:
    """Return the one who decided, as they were then."""
    policy = account_policy(Account.objects.get(pk=run.account_id))
    agent_id = "" if run.sees_all else run.actor
    return Viewer(run.account_id, policy, agent_id, run.sees_all)


def _next(run: BulkRun, after: int) -> list[Item]:
    with connection.cursor() as cursor:
        cursor.execute(NEXT, [run.account_id, run.pk, after, BATCH])
        return [Item(*row) for row in cursor.fetchall()]


@transaction.atomic
def _batch(run: BulkRun, viewer: Viewer, decision: Decision, items: Sequence[Item], now: datetime) -> Decided:
    actor = Actor(run.actor_kind, run.actor, request_id=run.request_id)
    act = Act(run.kind, actor, now, viewer.policy, run.reason, run.cause, run.undoes)
    decided = _apply(run, viewer, decision, items, act)
    reasons = {failed.entry_id: failed.why for failed in decided.failed}
    with connection.cursor() as cursor:
        ids = [item.entry_id for item in items]
        cursor.execute(TOLD, [ids, [reasons.get(entry_id, "") for entry_id in ids], run.account_id, run.pk])
    run.change_set_id = run.change_set_id or decided.change_set_id
    counts = {"done": F("done") + len(decided.done), "failed": F("failed") + len(decided.failed)}
    _save(run, change_set_id=run.change_set_id, moved_at=now, **counts)
    return decided


def _fail(run: BulkRun, items: Sequence[Item], why: str, now: datetime) -> None:
    """Say of a whole batch why it failed, so that the run goes on and can be asked again."""
    with connection.cursor() as cursor:
        cursor.execute(TOLD, [[item.entry_id for item in items], [why] * len(items), run.account_id, run.pk])
    _save(run, moved_at=now, failed=F("failed") + len(items))


def _apply(run: BulkRun, viewer: Viewer, decision: Decision, items: Sequence[Item], act: Act) -> Decided:
    try:
        return deciding.apply(viewer, items, decision, act=act, author=run.author, change_set_id=run.change_set_id)
    except Refusal as refusal:
        return Decided(None, [], [Failed(item.entry_id, "", "", refusal) for item in items])


def _save(run: BulkRun, **values: object) -> None:
    BulkRun.objects.filter(account_id=run.account_id, pk=run.pk).update(**values)


@transaction.atomic
def again(viewer: Viewer, run_id: int, now: datetime) -> int:
    """Decide once more about those entries of a run that failed, and about no others; return how many those are.

    They join the run's change set, unless that was undone.

    :raises NotFound: there is no such run.
    :raises Conflict: it is still at work, or nothing failed.
    """
    run = _locked(viewer, run_id)
    if run.finished_at is None:
        raise Conflict("It is still at work.")
    with connection.cursor() as cursor:
        cursor.execute(AGAIN, [run.decision in BACK, run.account_id, run.pk])
        asked = cursor.rowcount
    if not asked:
        raise Conflict("Nothing of it failed.")
    undone = ChangeSet.objects.filter(account_id=run.account_id, undoes_id=run.change_set_id).exists()
    _save(
        run,
        state="waiting",
        cancelled=False,
        failed=0,
        finished_at=None,
        moved_at=now,
        change_set_id=None if undone else run.change_set_id,
    )
    bulk.hand_over(run)
    return asked


@transaction.atomic
def cancel(viewer: Viewer, run_id: int, now: datetime) -> None:
    """Stop a run after the batch it is at; what is done stays done, and can be undone.

    :raises NotFound: there is no such run.
    :raises Conflict: it is over.
    """
    run = _locked(viewer, run_id)
    if run.finished_at is not None:
        raise Conflict("It is over already.")
    # Nobody is at work on a run that waits, or whose worker died: then it is over at once.
    with alone(run_id) as idle:
        _save(run, cancelled=True, **({"state": "cancelled", "finished_at": now} if idle else {}))


def _locked(viewer: Viewer, run_id: int) -> BulkRun:
    run = BulkRun.objects.select_for_update().filter(account_id=viewer.account_id, pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    return run

"""Asking for a run of a job, and for its end; the worker does the rest (memories.jobs.asking)."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django_q.tasks import async_task

from memories.models import JobRun
from memories.models.time import JobState
from senselab.errors import Conflict, NotFound

# Seconds after which a turn counts as stuck: a whole import is one turn.
LONGEST = 3600


@transaction.atomic
def ask(
    account_id: int, job: str, *, by: str, now: datetime, dry: bool = False, terms: dict[str, Any] | None = None
) -> int:
    """Ask for a run of a job and return its id; one that waits already takes the new one's place and terms.

    The worker is told when the transaction ends; a minute later it would look by itself.
    """
    waiting = JobRun.objects.filter(account_id=account_id, job=job, dry=dry, state=JobState.WAITING, asked_by=by)
    row = waiting.select_for_update().first()
    if row is not None:
        # Whatever it had come to, it begins anew, as what it was asked to do may be another thing.
        begun = {"started_at": None, "looked": 0, "changed": 0, "total": None, "failures": 0, "error": ""}
        JobRun.objects.filter(account_id=account_id, id=row.pk).update(terms=terms or {}, created_at=now, **begun)
    else:
        row = JobRun.objects.create(
            account_id=account_id,
            job=job,
            state=JobState.WAITING,
            asked_by=by,
            dry=dry,
            terms=terms or {},
            created_at=now,
        )
    transaction.on_commit(lambda: async_task("memories.jobs.asked", timeout=LONGEST))
    return row.pk


def amend(account_id: int, run_id: int, *, terms: dict[str, Any]) -> None:
    """Say more of what a run that waits was asked to do."""
    JobRun.objects.filter(account_id=account_id, id=run_id, state=JobState.WAITING).update(terms=terms)


@transaction.atomic
def cancel(account_id: int, run_id: int, now: datetime) -> None:
    """Stop a run: one that waits at once, one that works after its present batch, what it did so far stays.

    :raises NotFound: there is no such run.
    :raises Conflict: it has ended, or a policy would be left half applied.
    """
    row = JobRun.objects.select_for_update().filter(account_id=account_id, id=run_id).first()
    if row is None:
        raise NotFound("There is no such run.")
    if row.state not in {JobState.WAITING, JobState.RUNNING}:
        raise Conflict("That run has ended.")
    if row.job == "policy":
        raise Conflict(
            "A policy is applied to its end, or half the store would follow another; save the old one again."
        )
    mine = JobRun.objects.filter(account_id=account_id, id=run_id)
    mine.update(cancelled=True)
    mine.filter(state=JobState.WAITING).update(state=JobState.CANCELLED, finished_at=now)

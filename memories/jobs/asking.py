"""Runs that somebody asked for: a job now, a dry run, a policy that was saved; in turns, one going on from another."""

from datetime import datetime

from django.utils import timezone
from django_q.tasks import async_task

from memories.jobs.accounts import Gathered, Work, in_account
from memories.jobs.catalogue import JOBS, Foresee
from memories.jobs.runs import UNDER_WAY, Run
from memories.models import JobRun
from memories.models.time import JobState
from memories.services import bulk, running
from senselab.accounts.models import Account


def asked() -> int:
    """Give every run that was asked for a turn, account by account, and return what they changed.

    A run whose worker ended is taken up again, decisions about many too. Each is tried three times.

    :raises ExceptionGroup: some failed.
    """
    changed, gathered, goes_on = 0, Gathered(), False
    for account in Account.objects.order_by("id"):
        with gathered:
            bulk.take_up(account.pk, timezone.now())
        waiting = JobRun.objects.filter(account_id=account.pk, state__in=UNDER_WAY).exclude(asked_by="")
        for run in waiting.order_by("id"):
            with gathered:
                changed += turn(account, run)
            goes_on = goes_on or left(account.pk, run)
    if goes_on:
        async_task("memories.jobs.asked", timeout=running.LONGEST)
    gathered.raise_all("asked")
    return changed


def left(account_id: int, run: JobRun) -> bool:
    """Tell whether a run did its turn well and waits for the next."""
    return JobRun.objects.filter(account_id=account_id, id=run.pk, state=JobState.WAITING, error="").exists()


def turn(account: Account, run: JobRun) -> int:
    """Give one run a turn and return what it changed by now; a dry run counts and changes nothing."""
    job = JOBS[run.job]
    if not run.dry:
        return in_account(job.name, account, job.work, run.pk)
    if job.foresee is not None:
        in_account(job.name, account, foreseen(job.foresee), run.pk)
    return 0


def foreseen(foresee: Foresee) -> Work:
    """Return the work that only counts."""

    def count(account: Account, now: datetime, run: Run) -> None:
        run.looked, run.changed = foresee(account, now)

    return count

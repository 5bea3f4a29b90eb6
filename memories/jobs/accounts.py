"""How a job goes through accounts: one after the other, each under its lock, one's trouble not the others'."""

import logging
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import Self

from django.utils import timezone

from memories.jobs.locks import alone
from memories.jobs.runs import FAILURES, UNDER_WAY, Recorded, Run, interrupted, last_run, rest_until
from memories.models import JobRun
from memories.models.time import JobState
from senselab.accounts.models import Account

log = logging.getLogger(__name__)

Work = Callable[[Account, datetime, Run], object]


class Gathered:
    """Keeps errors until everything else is done, and raises them then."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self.errors.append(error)
        return True

    def raise_all(self, job: str) -> None:
        """:raises ExceptionGroup: there were errors."""
        if self.errors:
            raise ExceptionGroup(f"{job} failed in {len(self.errors)} account(s)", self.errors)


def everywhere(job: str, work: Work) -> int:
    """Do a job in every account and return how many rows it changed.

    :raises ExceptionGroup: it failed in some accounts; it was done in the others.
    """
    changed, gathered = 0, Gathered()
    for account in Account.objects.order_by("id"):
        with gathered:
            changed += in_account(job, account, work)
    if changed:
        log.info("%s changed %d", job, changed)
    gathered.raise_all(job)
    return changed


def in_account(job: str, account: Account, work: Work, asked_id: int | None = None) -> int:
    """Do a job in one account, unless somebody else is at it or it rests after failures; return what it changed.

    `asked_id` is the row of a run that somebody asked for, which is done if it is still to be done.
    """
    with alone(job, account.pk) as held:
        if not held:
            return 0
        # Read again under the lock: the policy may have changed since the accounts were listed.
        account = Account.objects.get(pk=account.pk)
        asked = still_asked(account.pk, asked_id)
        last = last_run(account.pk, job)
        if last is not None and last.state == JobState.RUNNING and last.pk != asked_id:
            interrupted(last)
        if asked is None and (asked_id is not None or is_resting(last)):
            return 0
        recorded = Recorded(account, job, last=last, asked=asked)
        with recorded as run:
            work(account, timezone.now(), run)
        return recorded.run.changed


def is_resting(last: JobRun | None) -> bool:
    until = rest_until(last)
    return until is not None and timezone.now() < until


def still_asked(account_id: int, asked_id: int | None) -> JobRun | None:
    """Return a run that waits for a turn, or did when its worker ended; we hold its lock, so it does not run now."""
    row = JobRun.objects.filter(account_id=account_id, id=asked_id or 0, state__in=UNDER_WAY).first()
    if row is None or row.state == JobState.WAITING:
        return row
    interrupted(row)
    return row if row.failures < FAILURES else None

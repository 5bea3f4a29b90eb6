"""What is kept of a run while it works and after: counts, progress, how it ended, how often it failed in a row."""

import logging
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any

from django.utils import timezone

from memories.models import JobRun
from memories.models.time import JobState
from senselab.accounts.models import Account
from senselab.errors import Refusal

log = logging.getLogger(__name__)

# Progress is written at most this often; a turn longer than this leaves the rest to the next one.
TELL_SECONDS = 1.0
TURN_SECONDS = 15.0
# What failed so often in a row is not tried again at once: it rests, an hour at first and at most a day.
FAILURES = 3
REST, LONGEST_REST = timedelta(hours=1), timedelta(days=1)
LONGEST_ERROR = 4_000
# Of these nobody wants to know each time that they did something.
ROUTINE = frozenset({"fold"})
# Runs are kept for a while, those by schedule that went well only as long as moves between tiers.
KEPT, KEPT_WELL = timedelta(days=30), timedelta(days=2)
UNDER_WAY = (JobState.WAITING, JobState.RUNNING)
INTERRUPTED = "It was interrupted: the worker that ran it ended."


class Cancelled(Exception):
    """Somebody asked for the run to stop."""


@dataclass(slots=True)
class Run:
    """What a job tells while it works; without an id nobody listens, and nothing is written.

    `terms` say what it was asked to do and how far it came; `ended` is False when another turn has to go on. `since` is
    when the run before began, if that went well; `before` are its terms, however it went.
    """

    account_id: int = 0
    id: int | None = None
    terms: dict[str, Any] = field(default_factory=dict)
    asked_by: str = ""
    since: datetime | None = None
    before: dict[str, Any] = field(default_factory=dict)
    looked: int = 0
    changed: int = 0
    total: int | None = None
    ended: bool = True
    began: float = field(default_factory=time.monotonic)
    told: float = field(default_factory=time.monotonic)

    def step(self, *, looked: int = 0, changed: int = 0) -> None:
        """Count what a batch did; call it between transactions.

        :raises Cancelled: somebody wants the run to stop.
        """
        self.looked += looked
        self.changed += changed
        if self.id is None or time.monotonic() - self.told < TELL_SECONDS:
            return
        self.told = time.monotonic()
        mine = JobRun.objects.filter(account_id=self.account_id, id=self.id)
        mine.update(moved_at=timezone.now(), **self.figures)
        if mine.filter(cancelled=True).exists():
            raise Cancelled

    def keep(self) -> None:
        """Write the terms now, so that the next run goes on there however this one ends."""
        if self.id is not None:
            update(self.account_id, self.id, terms=self.terms)

    @property
    def figures(self) -> dict[str, Any]:
        return {"looked": self.looked, "changed": self.changed, "total": self.total, "terms": self.terms}

    @property
    def is_long(self) -> bool:
        """Tell whether a run that somebody asked for has lasted so long that the rest is left to another turn."""
        return self.asked_by != "" and time.monotonic() - self.began > TURN_SECONDS


def last_run(account_id: int, job: str) -> JobRun | None:
    """Return the newest run of a job that was no dry one and does not wait."""
    runs = JobRun.objects.filter(account_id=account_id, job=job, dry=False)
    return runs.exclude(state=JobState.WAITING).order_by("-id").first()


def rest_until(run: JobRun | None) -> datetime | None:
    """Return until when a job rests whose last run is given; None when it does not."""
    if run is None or run.state != JobState.FAILED or run.failures < FAILURES or run.finished_at is None:
        return None
    return run.finished_at + min(LONGEST_REST, REST * 2 ** min(run.failures - FAILURES, 10))


def is_quiet(run: JobRun) -> bool:
    """Tell whether a run left nothing worth a row of its own: the next one takes its place."""
    return run.state == JobState.DONE and not run.asked_by and (not run.changed or run.job in ROUTINE)


def interrupted(run: JobRun) -> None:
    """Note that a run ended with its worker; whoever holds the job's lock knows that."""
    run.state, run.error, run.failures = JobState.FAILED, INTERRUPTED, run.failures + 1
    run.finished_at = run.moved_at or run.started_at
    update(run.account_id, run.pk, state=run.state, error=run.error, failures=run.failures, finished_at=run.finished_at)


def forget(account_id: int, now: datetime) -> None:
    """Drop the runs that nobody looks at any more."""
    ended = JobRun.objects.filter(account_id=account_id).exclude(state__in=UNDER_WAY)
    ended.filter(created_at__lt=now - KEPT).delete()
    ended.filter(created_at__lt=now - KEPT_WELL, state=JobState.DONE, asked_by="", job__in=("retier", "fold")).delete()


def update(account_id: int, run_id: int | None, **values: Any) -> None:
    JobRun.objects.filter(account_id=account_id, id=run_id or 0).update(**values)


class Recorded:
    """Keeps the row of a run from its start to its end, however it ends; a cancelled run is no error.

    `last` is the run before it. `asked` is the row that waits for it, where somebody asked: that one is tried three
    times, and goes on in further turns until it says that it has ended.
    """

    def __init__(self, account: Account, job: str, *, last: JobRun | None, asked: JobRun | None = None) -> None:
        self.account, self.job, self.last, self.asked = account, job, last, asked
        before = asked or last
        self.failures = before.failures if before is not None else 0
        went_well = last is not None and last.state == JobState.DONE
        self.run = Run(account.pk, since=last.started_at if last is not None and went_well else None)
        self.run.before = dict(last.terms) if last is not None else {}

    def __enter__(self) -> Run:
        now = timezone.now()
        begun: dict[str, Any] = {"state": JobState.RUNNING, "moved_at": now, "finished_at": None}
        row, asked = self.asked, self.asked
        if asked is not None:
            begun["started_at"] = asked.started_at or now
            self.run.looked, self.run.changed, self.run.total = asked.looked, asked.changed, asked.total
        else:
            begun |= {"started_at": now, "created_at": now, "looked": 0, "changed": 0, "total": None, "terms": {}}
            row = self.last if self.last is not None and is_quiet(self.last) else None
        if row is None:
            row = JobRun.objects.create(account=self.account, job=self.job, **begun)
        else:
            update(self.account.pk, row.pk, **begun)
        self.run.id, self.run.terms, self.run.asked_by = row.pk, dict(asked.terms) if asked else {}, row.asked_by
        return self.run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        update(self.account.pk, self.run.id, **self.run.figures, **self._end(error))
        if error is not None and not isinstance(error, Cancelled | Refusal):
            log.error("the job %s failed", self.job, exc_info=error)
        return isinstance(error, Cancelled)

    def _end(self, error: BaseException | None) -> dict[str, Any]:
        ended: dict[str, Any] = {"finished_at": timezone.now(), "failures": 0, "error": ""}
        if error is None:
            goes_on = {"state": JobState.WAITING, "finished_at": None, "failures": self.failures}
            return ended | ({"state": JobState.DONE} if self.run.ended else goes_on)
        if isinstance(error, Cancelled):
            return ended | {"state": JobState.CANCELLED}
        ended |= {"failures": self.failures + 1, "error": words_of(error)}
        # What the product refuses it would refuse again.
        tried_enough = self.asked is None or ended["failures"] >= FAILURES or isinstance(error, Refusal)
        return ended | ({"state": JobState.FAILED} if tried_enough else {"state": JobState.WAITING})


def words_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".replace("\0", "")[:LONGEST_ERROR]

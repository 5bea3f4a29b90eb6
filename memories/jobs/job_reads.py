"""What the jobs of an account do, did and will do, as a page and the API tell it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django_q.models import Schedule

from memories.jobs.catalogue import JOBS, SCHEDULES, Job
from memories.jobs.runs import FAILURES, UNDER_WAY, rest_until
from memories.models import JobRun
from memories.models.time import JobState
from senselab import cursors

PAGE = 30
# A run that works tells of itself each second or so; after this long without a word something is wrong.
SILENT = timedelta(minutes=5)
KINDS = {"changed": Q(changed__gt=0), "failed": Q(state=JobState.FAILED), "asked": ~Q(asked_by="")}


def latest(account_id: int, job: str) -> JobRun | None:
    """Return the newest run of a job on an account, None when it never ran there."""
    return JobRun.objects.filter(account_id=account_id, job=job).order_by("-id").first()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come: rows a second, the share that is done (None: of how many is not known), seconds left."""

    rate: float
    share: float | None
    left: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """One job: its last run that ended, the one under way, its last dry run, and when the schedule runs it next."""

    job: Job
    last: JobRun | None
    under_way: JobRun | None
    dry: JobRun | None
    next_at: datetime | None
    now: datetime

    @property
    def is_red(self) -> bool:
        return self.last is not None and self.last.state == JobState.FAILED and self.last.failures >= FAILURES

    @property
    def rests_until(self) -> datetime | None:
        until = rest_until(self.last)
        return until if until is not None and until > self.now and self.job.schedule else None

    @property
    def is_silent(self) -> bool:
        """Tell whether a run that should work has not told anything for long."""
        run = self.under_way
        return run is not None and run.state == JobState.RUNNING and self.now - (run.moved_at or self.now) > SILENT

    @property
    def progress(self) -> Progress | None:
        return progress(self.under_way) if self.under_way is not None else None


def progress(run: JobRun) -> Progress | None:
    """Return how far a run has come, None before it told anything."""
    if run.started_at is None or run.moved_at is None or run.moved_at <= run.started_at or not run.looked:
        return None
    rate = run.looked / (run.moved_at - run.started_at).total_seconds()
    if not run.total:
        return Progress(rate, None, None)
    rest = max(0, run.total - run.looked)
    return Progress(rate, min(1.0, run.looked / run.total), rest / rate)


def duration(run: JobRun) -> float | None:
    """Return how many seconds a run took, None while it works."""
    if run.started_at is None or run.finished_at is None:
        return None
    return max(0.0, (run.finished_at - run.started_at).total_seconds())


def lines(account_id: int, now: datetime) -> list[Line]:
    """Return a line for each job; five statements."""
    newest = newest_runs(account_id)
    last = ended(account_id)
    under_way = {run.job: run for run in newest.filter(state__in=UNDER_WAY)}
    dry = {run.job: run for run in newest.filter(dry=True, state=JobState.DONE)}
    coming = next_runs()
    return [
        Line(job, last.get(name), under_way.get(name), dry.get(name), coming.get(job.schedule), now)
        for name, job in JOBS.items()
    ]


def newest_runs(account_id: int) -> QuerySet[JobRun]:
    return JobRun.objects.filter(account_id=account_id).order_by("job", "-id").distinct("job")


def ended(account_id: int) -> dict[str, JobRun]:
    """Return the last run of each job that ended, by job; dry ones apart."""
    return {run.job: run for run in newest_runs(account_id).filter(dry=False).exclude(state__in=UNDER_WAY)}


def red(account_id: int, now: datetime) -> list[Line]:
    """Return the jobs whose last three runs failed; one statement."""
    found = [Line(JOBS[name], run, None, None, None, now) for name, run in ended(account_id).items() if name in JOBS]
    return [line for line in found if line.is_red]


def next_runs() -> dict[str, datetime]:
    """Return when each job is due next, by the name of the schedule that says so; two of one job count as one."""
    functions = {function: name for name, (function, _) in reversed(SCHEDULES.items())}
    coming: dict[str, datetime] = {}
    for function, moment in Schedule.objects.order_by("-next_run").values_list("func", "next_run"):
        if function in functions:
            coming[functions[function]] = moment
    return coming


@dataclass(frozen=True, slots=True)
class Page:
    """Some runs, newest first, and the cursor after them ('' on the last page)."""

    runs: list[JobRun]
    next: str


def history(account_id: int, *, job: str = "", kind: str = "", cursor: str = "") -> Page:
    """Return runs that ended, newest first; `kind` narrows them to those that changed, failed or were asked for.

    :raises BadCursor: the cursor cannot be read.
    """
    runs = JobRun.objects.filter(account_id=account_id).exclude(state__in=UNDER_WAY)
    if job:
        runs = runs.filter(job=job)
    if kind:
        runs = runs.filter(KINDS[kind])
    if cursor:
        runs = runs.filter(id__lt=cursors.read(cursor, int)[0])
    found = list(runs.order_by("-id")[: PAGE + 1])
    return Page(found[:PAGE], cursors.make(found[PAGE - 1].pk) if len(found) > PAGE else "")

"""Whether the worker does its work, in plain words: what django-q keeps of its tasks and schedules tells."""

from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

from memories.jobs import job_reads
from senselab import wording

# Jobs are due each minute and looked for each half; twice that and a bit is late.
LATE = timedelta(minutes=3)
START = "start it with the product (make run), or by itself: manage.py qcluster"


WORKER = """
    SELECT (SELECT count(*) FROM django_q_schedule),
           (SELECT count(*) FROM django_q_schedule WHERE next_run < %(late)s),
           (SELECT max(stopped) FROM django_q_task),
           (SELECT count(*) FROM django_q_ormq WHERE lock < %(late)s)
"""


def states(now: datetime) -> dict[str, list[str]]:
    """Return what is wrong with the worker and with its queue, a sentence each; nothing where all is in time."""
    with connection.cursor() as cursor:
        cursor.execute(WORKER, {"late": now - LATE})
        schedules, overdue, last, waiting = cursor.fetchone()
    down = []
    if not schedules:
        down = [f"No job is scheduled, as the product was never started; {START}."]
    elif overdue:
        since = f"nothing has run for {span(now - last)}" if last else "it has not run anything yet"
        down = [f"The worker is down: {since}, and {jobs(overdue)} due; {START}."]
    late = [f"The worker is late: {jobs(waiting)} waiting for more than {span(LATE)}."] if waiting else []
    return {"worker": down, "queue": late}


def worker_words(now: datetime | None = None) -> list[str]:
    """Return what is wrong with the worker; a queue that is long while it is down is no news."""
    found = states(now or timezone.now())
    return found["worker"] or found["queue"]


def account_words(account_id: int, now: datetime | None = None) -> list[str]:
    """Return which jobs of an account failed three times or more, a sentence each."""
    told = []
    for line in job_reads.red(account_id, now or timezone.now()):
        if line.last is not None:
            rests = f" It rests until {line.rests_until:%H:%M} UTC unless somebody runs it." if line.rests_until else ""
            told.append(f"{line.job.word} failed {line.last.failures} times in a row ({line.last.error[:200]}).{rests}")
    return told


def words(account_id: int, now: datetime | None = None) -> list[str]:
    """Return all that is wrong with the jobs of an account, a sentence each."""
    return [*worker_words(now), *account_words(account_id, now)]


def jobs(count: int) -> str:
    return "1 job is" if count == 1 else f"{count} jobs are"


def span(time: timedelta) -> str:
    return wording.elapsed(time.total_seconds()) if time >= timedelta(minutes=1) else "less than a minute"

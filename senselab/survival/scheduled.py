"""Copies under the settings there are: when somebody asks, or by the worker every BACKUP_HOURS."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from senselab.survival import backups, copies
from senselab.survival.copies import Copy

NAME = "backup"
LONGEST = {NAME: 6 * 3600}


def schedules() -> dict[str, tuple[str, int]]:
    """Return the schedule of copies (function and rhythm in minutes), none when none are wanted."""
    hours = settings.BACKUP_HOURS
    return {NAME: ("senselab.survival.scheduled.backup", hours * 60)} if hours > 0 else {}


def backup() -> str:
    """Make a copy and prove it, and return its name; the worker calls this.

    :raises CannotBackUp: it cannot be made, or does not hold.
    """
    return make()[0].path.name


def make(*, prove: bool = True) -> tuple[Copy, int]:
    """Make a copy, drop what there are too many of, and return the copy and how many were dropped.

    :raises CannotBackUp: it cannot be made, or does not hold.
    """
    made = backups.make_and_prove(settings.DATABASE_URL, settings.BACKUP_DIR, clock=timezone.now, prove=prove)
    found = copies.listed(settings.BACKUP_DIR)
    spare = copies.spare(found, keep=settings.BACKUP_KEEP, days=settings.BACKUP_DAYS, now=timezone.now())
    for copy in spare:
        copies.drop(copy)
    return made, len(spare)


def words(now: datetime) -> list[str]:
    """Return what is wrong with the copies, a sentence each; nothing where none are made by themselves."""
    if settings.BACKUP_HOURS <= 0:
        return []
    proven = next((copy for copy in copies.listed(settings.BACKUP_DIR) if copy.proven), None)
    if proven is None:
        return ["No copy of the database has been proven yet; manage.py backup makes one."]
    age = now - proven.note.made_at
    if age > 2 * timedelta(hours=settings.BACKUP_HOURS):
        hours = int(age.total_seconds() // 3600)
        return [f"The newest proven copy of the database is {hours} hours old; manage.py backup says why."]
    return []

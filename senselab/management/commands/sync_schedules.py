"""Make the schedules of the jobs what the code says; run at every start, so that nobody has to set one."""

from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone
from django_q.models import Schedule

from memories.jobs import HOURS, LONGEST, OFFSETS, SCHEDULES
from senselab.survival import scheduled


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        schedules = SCHEDULES | scheduled.schedules()
        for name, (function, minutes) in schedules.items():
            said = {"func": function, "schedule_type": Schedule.MINUTES, "minutes": minutes, "repeats": -1}
            longest = (LONGEST | scheduled.LONGEST).get(name)
            said["kwargs"] = f"q_options={{'timeout': {longest}}}" if longest else None
            first = first_run(name, now)
            Schedule.objects.update_or_create(name=name, defaults=said, create_defaults={**said, "next_run": first})
        Schedule.objects.exclude(name__in=schedules).delete()


def first_run(name: str, now: datetime) -> datetime:
    """Return when a schedule runs for the first time: at its hour of the day, or at once, or a little later."""
    if name not in HOURS:
        return now + timedelta(seconds=OFFSETS.get(name, 0))
    today = now.replace(hour=HOURS[name], minute=0, second=0, microsecond=0)
    return today if today > now else today + timedelta(days=1)

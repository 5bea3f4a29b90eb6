"""Make the schedules of the jobs what the code says; run at every start, so that nobody has to set one."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone
from django_q.models import Schedule

from memories.jobs import OFFSETS, SCHEDULES


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        for name, (function, minutes) in SCHEDULES.items():
            said = {"func": function, "schedule_type": Schedule.MINUTES, "minutes": minutes, "repeats": -1}
            first = now + timedelta(seconds=OFFSETS.get(name, 0))
            Schedule.objects.update_or_create(name=name, defaults=said, create_defaults={**said, "next_run": first})
        Schedule.objects.exclude(name__in=SCHEDULES).delete()

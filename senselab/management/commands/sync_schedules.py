"""Make the schedules of the jobs what the code says; run at every start, so that nobody has to set one."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone
from django_q.models import Schedule

from memories.jobs import SCHEDULES


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        for name, (function, minutes) in SCHEDULES.items():
            Schedule.objects.update_or_create(
                name=name,
                defaults={"func": function, "schedule_type": Schedule.MINUTES, "minutes": minutes, "repeats": -1},
                create_defaults={
                    "func": function,
                    "schedule_type": Schedule.MINUTES,
                    "minutes": minutes,
                    "repeats": -1,
                    "next_run": timezone.now(),
                },
            )
        Schedule.objects.exclude(name__in=SCHEDULES).delete()

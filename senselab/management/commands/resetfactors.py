"""Take away a person's second factors, for when even the last admin lost theirs; their sessions end."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from senselab.accounts import factors
from senselab.accounts.audit import SYSTEM
from senselab.accounts.models import Person


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", help="whose")

    def handle(self, *args: Any, **options: Any) -> None:
        person = Person.objects.filter(username=options["username"]).first()
        if person is None:
            raise CommandError(f"Nobody is called {options['username']!r} here.")
        factors.forget(person, by=SYSTEM, now=timezone.now())
        self.stdout.write(f"{person.username} logs in with the password alone now.")

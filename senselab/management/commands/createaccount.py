"""Make an account and print its slug, alone, on stdout."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from senselab.accounts import services
from senselab.errors import Refusal


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="1 to 63 lower-case letters, digits and inner hyphens")
        parser.add_argument("--name", default="", help="what people see (the slug)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            account = services.create_account(options["slug"], name=options["name"])
        except Refusal as error:
            raise CommandError(str(error)) from error
        self.stdout.write(account.slug)

"""Make an API key and print it, alone, on stdout; it cannot be shown again."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories.rules import names
from senselab.accounts import services
from senselab.accounts.globs import Glob
from senselab.accounts.models import Scope
from senselab.errors import Refusal


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="what the key is for")
        parser.add_argument("--account", default=services.DEFAULT_ACCOUNT, help="slug of the account (default)")
        parser.add_argument("--agent", default="", help="the one agent this key may speak for")
        parser.add_argument(
            "--scope", action="append", choices=Scope.values, help="may be given several times (read and write)"
        )
        parser.add_argument(
            "--glob",
            action="append",
            default=[],
            metavar="PERMISSION:PATTERN",
            help="entity paths the key reaches, such as read:shop/** or read_write:shop/checkout; several times (all)",
        )
        parser.add_argument("--rate", type=int, default=6000, help="calls a minute (6000)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            key = services.create_key(
                services.find_account(options["account"]),
                name=options["name"],
                agent_id=names.clean_name(options["agent"], pointer="--agent") if options["agent"] else "",
                scopes=tuple(options["scope"] or (Scope.READ, Scope.WRITE)),
                globs=[glob_of(text) for text in options["glob"]],
                rate_per_minute=options["rate"],
            )
        except Refusal as error:
            raise CommandError(str(error)) from error
        self.stdout.write(key)


def glob_of(text: str) -> Glob:
    permission, _, pattern = text.partition(":")
    return Glob(pattern, permission)

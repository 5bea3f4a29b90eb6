"""Write one of an account's lists as CSV for a spreadsheet."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memories.transfer import tabular
from memories.transfer.lists import LISTS
from senselab.accounts import audit
from senselab.accounts import services as accounts
from senselab.errors import Refusal


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("account", metavar="SLUG", help="the account")
        parser.add_argument("list", metavar="LIST", choices=LISTS, help=", ".join(LISTS))
        parser.add_argument("--output", metavar="FILE", type=Path, help="where to; standard output without it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            account = accounts.find_account(options["account"])
        except Refusal as error:
            raise CommandError(str(error)) from error
        now, name, target = timezone.now(), options["list"], options["output"]
        audit.record(account.pk, "exported", by=audit.SYSTEM, at=now, target=f"list of {name}")
        try:
            out = target.open("wb") if target else sys.stdout.buffer
            for piece in tabular.pieces(account, name, now):
                out.write(piece)
            out.flush()
        except OSError as error:
            raise CommandError(f"{target} cannot be written: {error.strerror}.") from error
        if target:
            out.close()
            self.stdout.write(f"{target}: {target.stat().st_size:,} bytes")

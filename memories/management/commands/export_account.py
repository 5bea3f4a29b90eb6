"""Write an account's whole history as lines of JSON, by natural names; import_account takes it in elsewhere."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memories.management.progress import bar
from memories.transfer import leaving
from senselab.accounts import audit
from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from senselab.errors import Refusal


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("account", metavar="SLUG", help="the account")
        parser.add_argument("--output", metavar="FILE", type=Path, help="where to; standard output without it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            account = accounts.find_account(options["account"])
        except Refusal as error:
            raise CommandError(str(error)) from error
        audit.record(account.pk, "exported", by=audit.SYSTEM, at=timezone.now(), target="history")
        target: Path | None = options["output"]
        if target is None:
            write(sys.stdout.buffer, leaving.export(account))
            return
        try:
            save(account, target)
        except OSError as error:
            raise CommandError(f"{target} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"{target}: {target.stat().st_size:,} bytes")


def write(out: BinaryIO, pieces: Iterator[bytes]) -> None:
    for piece in pieces:
        out.write(piece)


def save(account: Account, target: Path) -> None:
    """Write the file beside its place and move it there when it is whole."""
    part = target.with_name(f"{target.name}.part")
    try:
        with part.open("wb") as file, bar(f"Exporting {account.slug}", leaving.size(account.pk)) as tell:
            lines = 0
            for piece in leaving.export(account):
                file.write(piece)
                lines += piece.count(b"\n")
                tell(lines)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)

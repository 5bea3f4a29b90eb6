"""Write an account's whole history as lines of JSON, by natural names; import_account takes it in elsewhere."""

import os
import sys
from collections.abc import Iterator
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memories.checking.verify_reads import one_view
from memories.management.progress import bar
from memories.transfer import leaving, resuming
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
        except KeyboardInterrupt as error:
            raise CommandError("Stopped; the same command goes on from here unless something was written.") from error
        self.stdout.write(f"{target}: {target.stat().st_size:,} bytes")


def write(out: BinaryIO, pieces: Iterator[bytes]) -> None:
    for piece in pieces:
        out.write(piece)


def save(account: Account, target: Path) -> None:
    """Write the file beside its place and move it there when it is whole; go on with one that was interrupted."""
    with one_view():
        part = target.with_name(f"{target.name}.{resuming.mark(account.pk)}.part")
        for other in target.parent.glob(f"{escape(target.name)}.*.part"):
            if other != part:
                other.unlink()
        try:
            go_on(account, part)
        except OSError:
            part.unlink(missing_ok=True)
            raise
    part.replace(target)


def go_on(account: Account, part: Path) -> None:
    part.touch()
    with part.open("r+b") as file, bar(f"Exporting {account.slug}", leaving.size(account.pk)) as tell:
        begun = resuming.begun(file)
        file.seek(begun.size)
        file.truncate()
        lines = begun.lines
        for piece in leaving.export(account, begun):
            file.write(piece)
            lines += piece.count(b"\n")
            tell(lines)
        file.flush()
        os.fsync(file.fileno())

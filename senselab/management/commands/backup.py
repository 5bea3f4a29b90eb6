"""Copy the whole database into a file, prove the copy by restoring it elsewhere, and drop old ones."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from senselab.survival import copies, scheduled
from senselab.survival.programs import CannotBackUp


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--unproven", action="store_true", help="do not restore the copy to see whether it holds")
        parser.add_argument("--list", action="store_true", help="only say which copies there are")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if not options["list"]:
                self.make(prove=not options["unproven"])
        except CannotBackUp as error:
            raise CommandError(str(error)) from error
        for copy in copies.listed(settings.BACKUP_DIR):
            proof = f"proven, {copy.note.looked}" if copy.proven else "not proven"
            self.stdout.write(f"{copy.path}  {copy.note.bytes:,} bytes  {proof}")

    def make(self, *, prove: bool) -> None:
        """Make a copy under the settings there are.

        :raises CannotBackUp: it cannot be made, or does not hold.
        """
        made, dropped = scheduled.make(prove=prove)
        more = f"; {dropped} older dropped" if dropped else ""
        self.stdout.write(f"{made.path.name} made{more}.")

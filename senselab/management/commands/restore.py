"""Put a copy in the place of the database: the newest, or the file given; the database it replaces is kept."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections
from django.utils import timezone

from senselab.survival import backups, copies
from senselab.survival.copies import Copy
from senselab.survival.programs import CannotBackUp


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", nargs="?", type=Path, help="a copy; without it, the newest")
        parser.add_argument("--drop-replaced", action="store_true", help="drop the databases earlier restores replaced")

    def handle(self, *args: Any, **options: Any) -> None:
        connections.close_all()
        try:
            if options["drop_replaced"]:
                for name in backups.drop_replaced(settings.DATABASE_URL):
                    self.stdout.write(f"{name} is dropped.")
                return
            copy = chosen(options["file"])
            self.stdout.write(f"Restoring {copy.path.name}, made {copy.note.made_at:%d %b %Y %H:%M} UTC.")
            with backups.alone(settings.BACKUP_DIR):
                replaced = backups.bring_back(settings.DATABASE_URL, copy, now=timezone.now())
        except CannotBackUp as error:
            raise CommandError(f"{error} The database is as it was.") from error
        # A copy of an earlier release is brought up to this one.
        call_command("migrate", interactive=False, verbosity=0)
        kept = f" What was there before stays as the database {replaced}." if replaced else ""
        self.stdout.write(f"{copy.path.name} is restored.{kept}")


def chosen(path: Path | None) -> Copy:
    """:raises CannotBackUp: there is no such copy."""
    found = copies.listed(path.parent if path else settings.BACKUP_DIR)
    fitting = [copy for copy in found if path is None or copy.path.name == path.name]
    if not fitting:
        where = path or settings.BACKUP_DIR
        raise CannotBackUp(f"There is no copy at {where}; a copy is a .dump file and the .json file beside it.")
    return fitting[0]

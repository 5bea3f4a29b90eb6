"""Take in an exported history: into an empty account, or a new one of that slug; all of it or nothing."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memories.management.progress import bar
from memories.rules.policy import DEFAULT
from memories.services import arriving, importing
from memories.viewers import account_policy
from senselab.accounts import audit
from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from senselab.accounts.services import NoSuchAccount
from senselab.errors import Refusal


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("account", metavar="SLUG", help="the account, made when there is none")
        parser.add_argument("file", metavar="FILE", type=Path, help="what export_account wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            count = take_in(options["account"], path)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except Refusal as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt as error:
            raise CommandError("Stopped; the same command goes on from here. Nothing shows until all is in.") from error
        self.stdout.write(f"{options['account']}: {count:,} lines taken in; manage.py verify checks every one.")


def take_in(slug: str, path: Path) -> int:
    found = existing(slug)
    if found is not None:
        importing.refuse_unless_empty(found.pk)
    size = path.stat().st_size
    with path.open("rb") as file, bar(f"Importing {slug}", size) as tell:
        # A line is never longer than what is refused as too long.
        lines = iter(lambda: file.readline(arriving.LONGEST + 1), b"")
        return importing.take_in_as(
            slug,
            lambda: noted(found or accounts.create_account(slug), path),
            lines,
            own=account_policy(found) if found else DEFAULT,
            tell=lambda count: tell(file.tell()),
            source=f"{path.resolve()} {size}",
        )


def existing(slug: str) -> Account | None:
    try:
        return accounts.find_account(slug)
    except NoSuchAccount:
        return None


def noted(account: Account, path: Path) -> Account:
    audit.record(account.pk, "imported", by=audit.SYSTEM, at=timezone.now(), target=f"history from {path.name}")
    return account

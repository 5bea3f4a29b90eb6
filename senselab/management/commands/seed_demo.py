"""Fill the account `demo` with six weeks of plausible agent life that end now; --remove drops it whole."""

import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from senselab import launch
from senselab.accounts.models import Account
from senselab.demo import seeding
from senselab.demo.script import DAYS, SEED
from senselab.errors import Refusal


def share(text: str) -> float:
    value = float(text)
    if not 0 < value <= 10:
        raise ArgumentTypeError("a share lies above 0 and up to 10")
    return value


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--remove", action="store_true", help="drop the demo and everything in it")
        parser.add_argument("--seed", type=int, default=SEED, help="what chance is drawn from (%(default)s)")
        parser.add_argument("--share", type=share, default=1.0, help="of the usual number of tasks (1.0)")

    def handle(self, *args: Any, **options: Any) -> None:
        self.prepare()
        try:
            account = seeding.existing()
            if options["remove"]:
                self.remove(account)
            elif account is not None:
                made = seeding.made(account)
                self.stdout.write(
                    f"The demo is there already: {made.entries:,} entries, {made.outcomes:,} outcomes."
                    " Nothing was added; seed_demo --remove drops it."
                )
            else:
                self.seed(options["seed"], options["share"])
        except Refusal as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt as error:
            raise CommandError("Stopped; nothing was changed.") from error

    def prepare(self) -> None:
        """Do what the first start would, when nothing has been started here yet."""
        if is_prepared():
            return
        self.stdout.write("Preparing the database; the first time that takes a little.")
        made = launch.prepare()
        if made:
            self.stdout.write(f"person     {made.person}\npassword   {made.password}\nAPI key    {made.key}")
            self.stdout.write("Keep the password and the key: they are shown this once.")

    def remove(self, account: Account | None) -> None:
        if account is None:
            self.stdout.write("There is no demo; nothing was removed.")
            return
        seeding.remove(account)
        self.stdout.write("The demo is gone, and everything in it.")

    def seed(self, seed: int, of_usual: float) -> None:
        began = time.monotonic()
        with bar() as progress:
            made = seeding.seed(timezone.now(), seed=seed, share=of_usual, progress=progress)
        self.stdout.write(
            f"The account {seeding.SLUG} holds {made.entries:,} entries and {made.outcomes:,} outcomes,"
            f" made in {time.monotonic() - began:.0f} s. Choose it in the header; seed_demo --remove drops it."
        )


def is_prepared() -> bool:
    """Tell whether all migrations have been applied and the first account made."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes()) and Account.objects.exists()


@contextmanager
def bar() -> Iterator[Callable[[float], None]]:
    """Show how far the six weeks have come, on a terminal; yield what to call with the day."""
    columns = (TextColumn("Six weeks of agent life"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("days", total=DAYS)
        yield lambda day: progress.update(task, completed=day)

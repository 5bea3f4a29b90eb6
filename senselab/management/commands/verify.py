"""Recompute every entry from its ledger, and every seal, and name what does not fit."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memories.checking import verify_reads
from memories.checking.verify import Finding
from memories.checking.verify_reads import Tally
from senselab.accounts import sealing, services
from senselab.accounts.models import Account
from senselab.errors import Refusal


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--account", metavar="SLUG", help="look at this account alone")

    def handle(self, *args: Any, **options: Any) -> None:
        tally, found, trail = Tally(), 0, 0
        for account in accounts(options["account"]):
            with verify_reads.one_view():
                for where, finding in verify_reads.account_findings(account, tally):
                    found += 1
                    self.stdout.write(line(account, where, finding))
                for words in sealing.findings(account.pk):
                    found += 1
                    self.stdout.write(f"{account.slug}: {words}")
                trail += sealing.records(account.pk)
                waiting = sealing.open_words(account.pk, timezone.now())
                if waiting:
                    self.stdout.write(f"{account.slug}: {waiting}")
        looked = f"{tally.entries:,} entries, {tally.versions:,} versions"
        if trail:
            looked += f", {trail:,} audit record{'' if trail == 1 else 's'}"
        if found:
            self.stdout.write(f"{looked}, {found:,} {'thing does' if found == 1 else 'things do'} not fit")
            sys.exit(1)
        if tally.unknown:
            looked += f" ({tally.unknown:,} by their seals alone, as their policy is no longer kept)"
        self.stdout.write(f"{looked}, all fit")


def accounts(slug: str | None) -> list[Account]:
    """:raises CommandError: there is no such account."""
    if slug is None:
        return list(Account.objects.order_by("slug"))
    try:
        return [services.find_account(slug)]
    except Refusal as error:
        raise CommandError(str(error)) from error


def line(account: Account, where: str, finding: Finding) -> str:
    version = "" if finding.version is None else f" v{finding.version}"
    return f"{account.slug}: {where}{version}: {finding.words}"

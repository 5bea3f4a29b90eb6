"""Check the entries of an account after one, in the view of the process that asks for it (memories.checking.halves)."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection, transaction
from psycopg import sql

from memories.checking import halves, verify_reads
from memories.checking.verify_reads import Tally
from senselab.accounts.models import Account


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("account_id", type=int)
        parser.add_argument("after", type=int)
        parser.add_argument("snapshot")

    def handle(self, *args: Any, account_id: int, after: int, snapshot: str, **options: Any) -> None:
        tally = Tally()
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                cursor.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)))
            account = Account.objects.get(pk=account_id)

            def tell() -> None:
                self.stdout.write(halves.line_of(looked=(tally.entries, tally.versions, tally.unknown)))
                self.stdout.flush()

            for where, finding in verify_reads.entry_findings(account, tally, tell, after=after):
                self.stdout.write(halves.line_of(found=(where, finding.version, finding.words)))

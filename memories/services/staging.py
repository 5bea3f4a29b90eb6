"""Where a history waits until all of it has come: tables in a schema of their own, filled in committed batches.

An import that was interrupted, be it by a crash of the database, goes on after its last batch. Nobody sees anything
of it until one transaction moves all rows into their tables and drops the schema.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from memories.services import arriving_sql
from memories.transfer.tables import TABLES
from senselab.errors import Conflict

LOCK = 7122
LEFT = timedelta(days=7)


class UnderWay(Conflict):
    """Another process takes a history into the same account."""


@dataclass(slots=True)
class Kept:
    """How far an import came: batches, the file's digest up to there, what came of each kind, the account's line."""

    source: str = ""
    batches: int = 0
    sha256: str = ""
    came: str = "{}"
    account_line: str = ""


class Stage:
    """The schema for the history of one account, named by its slug, as the account may not be there yet."""

    def __init__(self, slug: str, source: str) -> None:
        digest = hashlib.sha256(slug.encode()).digest()
        self.schema, self.key = f"arriving_{digest.hex()[:16]}", int.from_bytes(digest[:4], "big", signed=True)
        self.kept = Kept(source)

    def open(self) -> None:
        """Go on with what is here of the same source; anything else is dropped and begun anew."""
        with connection.cursor() as cursor:
            found = None
            if self.is_there(cursor):
                cursor.execute(f"SELECT source, batches, sha256, came, account_line FROM {self.schema}.kept")
                found = cursor.fetchone()
        if found is not None and self.kept.source and found[0] == self.kept.source:
            self.kept = Kept(*found)
            return
        with transaction.atomic(), connection.cursor() as cursor:
            self.drop(cursor)
            cursor.execute(f"CREATE SCHEMA {self.schema}")
            self.enter(cursor)
            for statement in arriving_sql.notes_kept():
                cursor.execute(statement)
            for table in TABLES:
                cursor.execute(COLUMNS, [table.db_table])
                for statement in arriving_sql.room_for(table, [name for (name,) in cursor.fetchall()]):
                    cursor.execute(statement)
            cursor.execute(KEEP, [self.kept.source])

    def is_there(self, cursor: Any) -> bool:
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [self.schema])
        return cursor.fetchone() is not None

    def enter(self, cursor: Any) -> None:
        """Find tables here first, until the transaction ends."""
        path = "SELECT set_config('search_path', %s || ', ' || current_setting('search_path'), true)"
        cursor.execute(path, [self.schema])

    @contextmanager
    def batch(self) -> Iterator[Any]:
        """Store one batch and note how far that was, both or neither; nobody waits for the disk."""
        with transaction.atomic(), connection.cursor() as cursor:
            self.enter(cursor)
            cursor.execute("SET LOCAL synchronous_commit = off")
            for name in arriving_sql.SETTINGS:
                cursor.execute(f"SET LOCAL {name} = off")
            yield cursor
            kept = self.kept
            cursor.execute(NOTE, [kept.batches, kept.sha256, kept.came, kept.account_line])

    def unload(self, cursor: Any, account_id: int) -> None:
        """Move all rows into their tables, in the transaction that is open, and leave nothing here."""
        self.enter(cursor)
        for name in arriving_sql.SETTINGS:
            cursor.execute(f"SET LOCAL {name} = on")
        cursor.execute("SET CONSTRAINTS entry_names_a_claim_of_its_account_claim_id DEFERRED")
        for table in TABLES:
            cursor.execute(arriving_sql.unload(table), {"account": account_id})
        for statement in (arriving_sql.UNLOAD_FIGURES, arriving_sql.UNLOAD_WORDS):
            cursor.execute(statement, {"account": account_id})
        self.drop(cursor)

    def drop(self, cursor: Any) -> None:
        cursor.execute(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let one process at a time fill this stage; what is here outlives it only when the process did not end well.

        :raises UnderWay: another does already.
        """
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, self.key])
            if not cursor.fetchone()[0]:
                raise UnderWay("A history is coming into this account already.")
            try:
                yield
            finally:
                if connection.connection is not None and not connection.needs_rollback:
                    cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK, self.key])


COLUMNS = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
KEEP = "INSERT INTO kept (source, batches, sha256, came, account_line, at) VALUES (%s, 0, '', '{}', '', now())"
NOTE = "UPDATE kept SET batches = %s, sha256 = %s, came = %s, account_line = %s, at = now()"


def drop_left(now: datetime) -> None:
    """Drop what interrupted imports left that nobody went on with for a week."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ '^arriving_[0-9a-f]{16}$'")
        for (schema,) in cursor.fetchall():
            cursor.execute(f"SELECT 1 FROM {schema}.kept WHERE at < %s", [now - LEFT])
            if cursor.fetchone():
                cursor.execute(f"DROP SCHEMA {schema} CASCADE")

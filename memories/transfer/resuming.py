"""Goes on with a file whose writing was interrupted: what of it is whole, and whether the account is as it was."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.db import connection

from memories.transfer.tables import ACCOUNT, FIGURES, TABLES, all_types

# As the file has them, each kind by one statement.
KINDS = (ACCOUNT, *(table.kind for table in TABLES), FIGURES)
COUNTERS = ("memories_counter", "memories_counterdelta")
# Where each row lies and who wrote it: another sum as soon as one was written, changed or deleted.
ROWS = "SELECT count(*), sum(hashtextextended(concat(tableoid, ctid, xmin), 0))::text FROM"


@dataclass(slots=True)
class Begun:
    """What is there of a file: the lines of so many statements, their bytes and their digest."""

    statements: int = 0
    lines: int = 0
    size: int = 0
    sha256: Any = field(default_factory=hashlib.sha256)

    def add(self, line: bytes) -> None:
        self.lines, self.size = self.lines + 1, self.size + len(line)
        self.sha256.update(line)

    def before(self, kind: str) -> "Begun":
        return Begun(KINDS.index(kind), self.lines, self.size, self.sha256.copy())


class Line(msgspec.Struct):
    line: str


def begun(lines: Iterable[bytes]) -> Begun:
    """Return what of a file stays: all before its last kind of lines, as of that some may be missing."""
    seen, kept, present = Begun(), Begun(), "header"
    for line in lines:
        if not line.endswith(b"\n"):
            break
        kind = msgspec.json.decode(line, type=Line).line
        if kind != present and kind in KINDS:
            kept, present = seen.before(kind), kind
        seen.add(line)
    return kept


def mark(account_id: int) -> str:
    """Return what is another as soon as anything changed that a file of the account says."""
    told = [repr(all_types())]
    sources = [(table.db_table, "account_id") for table in TABLES]
    sources += [*((table, "account_id") for table in COUNTERS), ("accounts_account", "id")]
    with connection.cursor() as cursor:
        for table, column in sources:
            cursor.execute(f"{ROWS} {table} WHERE {column} = %s", [account_id])
            told.append(repr(cursor.fetchone()))
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]

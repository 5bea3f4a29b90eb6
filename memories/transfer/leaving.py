"""Reads an account's whole history as lines of JSON, as of one moment, few rows in memory at a time.

PostgreSQL writes each row as JSON, which it reads back to the last bit: floats by their shortest form, moments with
microseconds, bytes as hex. The last line says how many there are and their SHA-256, so that a file cut short shows.
"""

from collections.abc import Iterator
from itertools import chain, islice

import msgspec
from django.db import connection

from memories.checking.verify_reads import one_view
from memories.transfer.resuming import Begun
from memories.transfer.tables import (
    ACCOUNT,
    FIGURE_TYPES,
    FIGURES,
    FIRSTS,
    FORMAT,
    SCHEMA,
    SETS,
    TABLES,
    Table,
    account_types,
    all_types,
)
from senselab import unmasking
from senselab.accounts.models import Account

ROWS = 1_000


def quoted(name: str) -> str:
    return f'"{name}"'


def select(table: Table) -> str:
    """Return the statement that reads a table's lines."""
    own = table.own
    said = [f"'{table.kind}' AS line", *(f"{ref.said} AS {quoted(ref.name)}" for ref in table.refs)]
    said += [f"{own.said} AS number"] if own is not None and own.said else []
    said += [f"t.{quoted(name)}" for name in table.columns]
    joins = [ref.leaving for ref in table.refs]
    # An entry's line stands before its claims', which are joined by it.
    joins += [own.leaving] if own is not None and own.leaving else []
    text = " ".join(joins)
    needed = [sql for word, sql in ((" sets ", SETS), (" firsts ", FIRSTS)) if word in text]
    return (
        f"{'WITH ' + ', '.join(needed) if needed else ''} SELECT row_to_json(r)::text FROM ("
        f"SELECT {', '.join(said)} FROM {table.db_table} t {text}"
        f" WHERE t.account_id = %(account)s ORDER BY {table.order}) r"
    )


SUMMED = "branch, entity_path, agent_id, owner"
FIGURES_SQL = f"""
    SELECT row_to_json(r)::text FROM (
        SELECT '{FIGURES}' AS line, {SUMMED}, sum(recalls)::bigint AS recalls, sum(tokens_saved)::bigint AS tokens_saved
          FROM (SELECT account_id, {", ".join(FIGURE_TYPES)} FROM memories_counter
                 UNION ALL SELECT account_id, {", ".join(FIGURE_TYPES)} FROM memories_counterdelta) s
         WHERE s.account_id = %(account)s GROUP BY {SUMMED}
        HAVING sum(recalls) <> 0 OR sum(tokens_saved) <> 0 ORDER BY {SUMMED}
    ) r
"""


def statements() -> Iterator[str]:
    columns = ", ".join(f"t.{quoted(name)}" for name in account_types())
    yield (
        f"SELECT row_to_json(r)::text FROM (SELECT '{ACCOUNT}' AS line, {columns}"
        " FROM accounts_account t WHERE t.id = %(account)s) r"
    )
    yield from (select(table) for table in TABLES)
    yield FIGURES_SQL


def rows(account_id: int, first: int = 0) -> Iterator[list[str]]:
    """Yield the lines of the statements from `first` on, many at a time."""
    for sql in islice(statements(), first, None):
        with connection.chunked_cursor() as cursor:
            cursor.execute(sql, {"account": account_id})
            while found := cursor.fetchmany(ROWS):
                yield [line for (line,) in found]


def header() -> str:
    kinds = {kind: list(types) for kind, types in all_types().items()}
    return msgspec.json.encode({"line": "header", "format": FORMAT, "schema": SCHEMA, "columns": kinds}).decode()


def export(account: Account, begun: Begun | None = None) -> Iterator[bytes]:
    """Yield the account's history in pieces of whole lines, from where one has begun; the same gives the same bytes."""
    begun = begun or Begun()
    sha256, count = begun.sha256, begun.lines
    with one_view():
        hash_joins_only()
        for lines in chain([] if count else [[header()]], rows(account.pk, begun.statements)):
            piece, count = _piece(lines), count + len(lines)
            sha256.update(piece)
            yield piece
    yield msgspec.json.encode({"line": "end", "lines": count, "sha256": sha256.hexdigest()}) + b"\n"


def hash_joins_only() -> None:
    """Keep the planner from looking up row by row what is read as a whole, be the account new and not analysed yet."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_nestloop = off")


def _piece(lines: list[str]) -> bytes:
    # As exact as any JSON; whoever looks into the file is not misled either.
    return unmasking.in_json("".join(f"{line}\n" for line in lines)).encode()


def size(account_id: int) -> int:
    """Return how many lines there will be, but for a few: what progress is told by."""
    with connection.cursor() as cursor:
        total = 0
        for table in TABLES:
            cursor.execute(f"SELECT count(*) FROM {table.db_table} WHERE account_id = %s", [account_id])
            total += cursor.fetchone()[0]
    return total

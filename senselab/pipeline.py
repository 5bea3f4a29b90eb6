"""Statements that belong together travel together: one round trip for several queries."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from psycopg import _queries

Query = tuple[str, Sequence[Any] | dict[str, Any]]
Rows = list[tuple[Any, ...]]
BEGIN: Query = ("BEGIN", ())
COMMIT: Query = ("COMMIT", ())

# Statements longer than this psycopg reads anew each time, which took 0.4 ms of each write; ours are few and the same.
_queries.MAX_CACHED_STATEMENT_LENGTH = 16_384


def fetch(*queries: Query) -> list[Rows]:
    """Run queries in one pipeline flush and return the rows of each."""
    if not queries:
        return []
    if len(queries) == 1:
        with connection.cursor() as cursor:
            cursor.execute(*queries[0])
            return [_rows(cursor)]
    connection.ensure_connection()
    with ExitStack() as stack:
        cursors = [stack.enter_context(connection.cursor()) for _ in queries]
        # Rows asked for inside the pipeline would cost a flush of their own, and leaving it another.
        with connection.wrap_database_errors, connection.connection.pipeline():
            for cursor, (sql, parameters) in zip(cursors, queries, strict=True):
                cursor.execute(sql, parameters)
        return [_rows(cursor) for cursor in cursors]


def _rows(cursor: Any) -> Rows:
    return cursor.fetchall() if cursor.description else []


@dataclass(frozen=True, slots=True)
class Begun:
    """A transaction under way: what its first queries found, and whether it ends with this block."""

    found: list[Rows]
    is_own: bool

    def finish(self, *queries: Query) -> list[Rows]:
        """Run the last queries; COMMIT travels with them unless the transaction is a caller's."""
        return fetch(*queries, *[COMMIT] * self.is_own)[: len(queries)]


@contextmanager
def begun(*queries: Query) -> Iterator[Begun]:
    """Begin a transaction with queries, in one round trip; left without `finish` it commits, a fault undoes it."""
    is_own = not connection.in_atomic_block
    with transaction.atomic():
        # Left to begin by itself, psycopg would wait for that before it sends anything else.
        if is_own:
            connection.connection.autocommit = True
        found = fetch(*[BEGIN] * is_own, *queries)
        yield Begun(found[is_own:], is_own)


@contextmanager
def planned_anew(needed: bool = True) -> Iterator[None]:
    """Let what runs meanwhile be planned for its own values: how best to find a word depends on how rare it is."""
    connection.ensure_connection()
    usual = connection.connection.prepare_threshold
    if needed:
        connection.connection.prepare_threshold = None
    try:
        yield
    finally:
        connection.connection.prepare_threshold = usual

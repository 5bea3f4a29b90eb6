"""Statements that belong together travel together: one round trip for several queries."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from django.db import connection

Query = tuple[str, Sequence[Any] | dict[str, Any]]


def fetch(*queries: Query) -> list[list[tuple[Any, ...]]]:
    """Run queries in one pipeline flush and return the rows of each."""
    connection.ensure_connection()
    with ExitStack() as stack:
        cursors = [stack.enter_context(connection.cursor()) for _ in queries]
        # Rows asked for inside the pipeline would cost a flush of their own, and leaving it another.
        with connection.wrap_database_errors, connection.connection.pipeline():
            for cursor, (sql, parameters) in zip(cursors, queries, strict=True):
                cursor.execute(sql, parameters)
        return [cursor.fetchall() for cursor in cursors]


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

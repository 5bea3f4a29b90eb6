"""Statements that belong together travel together: one round trip for several queries."""

from collections.abc import Sequence
from contextlib import ExitStack
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

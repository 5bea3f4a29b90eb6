"""Statements that belong together travel together: one round trip for several queries."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import local
from typing import Any

from django.db import connection, transaction
from psycopg import _queries

Query = tuple[str, Sequence[Any] | dict[str, Any]]
Rows = list[tuple[Any, ...]]
BEGIN: Query = ("BEGIN", ())
COMMIT: Query = ("COMMIT", ())

# Statements longer than this psycopg reads anew each time, which took 0.4 ms of each write; ours are few and the same.
_queries.MAX_CACHED_STATEMENT_LENGTH = 16_384


class Passenger:
    """A query that travels with the first read of a call, or before its first other statement.

    :param arrived: hears its rows before anybody hears of others', and may raise.
    """

    def __init__(self, query: Query, arrived: Callable[[Rows], None]) -> None:
        self.query, self.arrived = query, arrived
        self.is_waiting = True

    def travel(self, *queries: Query) -> list[Rows]:
        """Return the rows of queries that travel along. Whoever did not arrive goes on waiting."""
        is_there, self.is_waiting = False, False
        try:
            found, *others = fetch(self.query, *queries)
            is_there = True
        finally:
            self.is_waiting = not is_there
        self.arrived(found)
        return others

    def go(self) -> None:
        """Travel alone, unless that is done."""
        if self.is_waiting:
            self.travel()

    def first(self, execute: Callable[..., Any], *statement: Any) -> Any:
        """Go before a statement that may do more than read: an execute wrapper of Django's."""
        self.go()
        return execute(*statement)


_station = local()


@contextmanager
def carrying(passenger: Passenger) -> Iterator[None]:
    """Let a query travel with what is asked meanwhile in this thread; it has arrived when this ends well."""
    _station.passenger = passenger
    try:
        with connection.execute_wrapper(passenger.first):
            yield
            passenger.go()
    finally:
        _station.passenger = None


def waiting() -> Passenger | None:
    passenger: Passenger | None = getattr(_station, "passenger", None)
    return passenger if passenger is not None and passenger.is_waiting else None


def read(*queries: Query) -> list[Rows]:
    """Return the rows of queries in one round trip; who waits travels with them.

    They do nothing but read, or stand in a transaction: an arrival that raises comes too late to stop them.
    """
    passenger = waiting()
    return fetch(*queries) if passenger is None else passenger.travel(*queries)


def fetch(*queries: Query) -> list[Rows]:
    """Run queries in one pipeline flush and return the rows of each."""
    if not queries:
        return []
    go_alone()
    connection.ensure_connection()
    if len(queries) == 1:
        with connection.cursor() as cursor:
            cursor.execute(*queries[0])
            return [_rows(cursor)]
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
        found = read(*[BEGIN] * is_own, *queries)
        yield Begun(found[is_own:], is_own)


def go_alone() -> None:
    """Let who waits travel now."""
    if (passenger := waiting()) is not None:
        passenger.go()


@contextmanager
def planned_anew(needed: bool = True) -> Iterator[None]:
    """Let what runs meanwhile be planned for its own values: how best to find a word depends on how rare it is."""
    connection.ensure_connection()
    usual = connection.connection.prepare_threshold
    if needed:
        go_alone()
        connection.connection.prepare_threshold = None
    try:
        yield
    finally:
        connection.connection.prepare_threshold = usual

"""Processes that race: each has its own connection, and all begin at the same moment."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg

PROCESSES = 8
PATIENCE = 30
_lines: dict[int, Any] = {}


def _arrive(database_url: str, barriers: dict[int, Any]) -> None:
    os.environ |= {"DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": "senselab.settings"}
    import django

    django.setup()
    _lines.update(barriers)


def _run(runners: int, work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    from senselab.errors import Refusal

    _lines[runners].wait(PATIENCE)
    try:
        return work(*arguments)
    except Refusal as refusal:
        return type(refusal).__name__


class Race:
    """Eight processes that wait for a start."""

    def __init__(self, database_url: str) -> None:
        spawn = multiprocessing.get_context("spawn")
        barriers = {runners: spawn.Barrier(runners) for runners in range(1, PROCESSES + 1)}
        self.pool = ProcessPoolExecutor(PROCESSES, spawn, _arrive, (database_url, barriers))

    def run(self, work: Callable[..., Any], runners: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return what each runner made of the work, in their order; a refusal is told by its name."""
        started = [self.pool.submit(_run, len(runners), work, arguments) for arguments in runners]
        return [future.result(2 * PATIENCE) for future in started]

    @contextmanager
    def started(self, work: Callable[..., Any], runners: Sequence[tuple[Any, ...]]) -> Iterator[list[Any]]:
        """Let runners go while the body holds them up; the list is filled when they are through."""
        results: list[Any] = []
        started = [self.pool.submit(_run, len(runners), work, arguments) for arguments in runners]
        yield results
        results.extend(future.result(2 * PATIENCE) for future in started)


def wait_for(holder: psycopg.Connection, waiters: int) -> None:
    """Return when so many backends of this database wait for a lock.

    :raises AssertionError: they never come.
    """
    watched = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pg_blocking_pids(pid) <> '{}'"
    )
    ends = time.monotonic() + PATIENCE
    found = 0
    while time.monotonic() < ends:
        (found,) = holder.execute(watched).fetchone() or (0,)
        if found >= waiters:
            return
    raise AssertionError(f"{waiters} should wait for a lock; {found} do")

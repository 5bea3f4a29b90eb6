"""Progress of a run whose own transaction stays open to its end: told over a connection of its own."""

import time
from types import TracebackType
from typing import Any, Self

from django.db import connection
from django.utils import timezone

from memories.jobs.runs import TELL_SECONDS, Cancelled, Run

TOLD = """
    UPDATE memories_jobrun SET looked = %s, moved_at = %s WHERE account_id = %s AND id = %s RETURNING cancelled
"""


class Telling:
    """Called with how much was looked at; at most once a second it is written down for others to see."""

    def __init__(self, run: Run) -> None:
        self.run, self.told = run, time.monotonic()

    def __enter__(self) -> Self:
        self.apart: Any = connection.copy()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.apart.close()

    def __call__(self, looked: int) -> None:
        """:raises Cancelled: somebody wants the run to stop."""
        self.run.looked = looked
        if time.monotonic() - self.told < TELL_SECONDS:
            return
        self.told = time.monotonic()
        with self.apart.cursor() as cursor:
            cursor.execute(TOLD, [looked, timezone.now(), self.run.account_id, self.run.id])
            if any(cancelled for (cancelled,) in cursor.fetchall()):
                raise Cancelled

"""How bulk runs are getting on: done, failed, left and how fast; and the entries that failed, each with its reason."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from memories.models.review import BulkRun
from memories.rules.decisions import Item
from memories.viewers import Viewer
from senselab import cursors
from senselab.errors import NotFound

PAGE = 200
# A run that has not moved for so long has lost its worker; another takes it up when the queue hands it out again.
STALLED = timedelta(minutes=2)
FAILURES = """
    SELECT i.entry_id, e.branch, e.entity_path, e.key, e.owner, e.version, i.why
      FROM memories_bulkitem i
      JOIN memories_entry e ON e.account_id = i.account_id AND e.id = i.entry_id
     WHERE i.account_id = %(account)s AND i.run_id = %(run)s AND i.state = 'failed' AND i.entry_id > %(after)s
       AND {visible}
     ORDER BY i.entry_id LIMIT %(limit)s
"""
BEYOND = """
    SELECT EXISTS (SELECT 1 FROM memories_bulkitem i
                    WHERE i.account_id = %(account)s AND i.run_id = %(run)s AND NOT EXISTS (
                        SELECT 1 FROM memories_entry e WHERE e.account_id = i.account_id AND e.id = i.entry_id
                           AND {visible}))
"""


@dataclass(frozen=True, slots=True)
class Failure:
    """An entry that a run left alone, and why; `version` is its current one."""

    entry_id: int
    branch: str
    entity_path: str
    key: str
    owner: str
    version: int
    why: str

    @property
    def item(self) -> Item:
        return Item(self.entry_id, self.version)


@dataclass(frozen=True, slots=True)
class Failures:
    """Some failures, and the cursor that goes on after them ('' on the last page)."""

    rows: list[Failure]
    next: str


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at a moment; `rate` is entries a second, None before the first batch."""

    run: BulkRun
    now: datetime

    @property
    def left(self) -> int:
        return max(0, self.run.total - self.run.done - self.run.failed)

    @property
    def is_over(self) -> bool:
        return self.run.finished_at is not None

    @property
    def is_stalled(self) -> bool:
        last = self.run.moved_at or self.run.started_at or self.run.created_at
        return not self.is_over and self.now - last > STALLED

    @property
    def rate(self) -> float | None:
        started, last = self.run.started_at, self.run.finished_at or self.run.moved_at
        if started is None or last is None or last <= started:
            return None
        return (self.run.done + self.run.failed) / (last - started).total_seconds()

    def told(self) -> dict[str, Any]:
        run = self.run
        return {
            "run": run.pk,
            "decision": run.decision,
            "selected": run.selected,
            "state": run.state,
            "total": run.total,
            "done": run.done,
            "failed": run.failed,
            "left": self.left,
            "rate": self.rate,
            "by": run.actor,
            "change_set": run.change_set_id,
            "created_at": run.created_at,
            "finished_at": run.finished_at,
        }


def progress(viewer: Viewer, run_id: int, now: datetime) -> Progress:
    """:raises NotFound: there is no such run, or a part of it lies outside the globs of the viewer's key."""
    run = BulkRun.objects.filter(account_id=viewer.account_id, pk=run_id).first()
    if run is None or not is_within(viewer, run_id):
        raise NotFound("There is no such run.")
    return Progress(run, now)


def is_within(viewer: Viewer, run_id: int) -> bool:
    """Tell whether a key with globs reaches every entry of a run."""
    if not viewer.reaches:
        return True
    with connection.cursor() as database:
        database.execute(BEYOND.format(visible=viewer.visible()), {**viewer.parameters, "run": run_id})
        return not database.fetchone()[0]


def recent(viewer: Viewer, now: datetime, *, most: int = 20) -> list[Progress]:
    """Return the newest runs, newest first."""
    runs = BulkRun.objects.filter(account_id=viewer.account_id).order_by("-id")[:most]
    return [Progress(run, now) for run in runs]


def failures(viewer: Viewer, run_id: int, *, cursor: str = "", limit: int = PAGE) -> Failures:
    """Return a page of what a run left alone.

    :raises BadCursor: the cursor cannot be read.
    """
    after = cursors.read(cursor, int)[0] if cursor else 0
    values = {**viewer.parameters, "run": run_id, "after": after, "limit": limit + 1}
    with connection.cursor() as database:
        database.execute(FAILURES.format(visible=viewer.visible()), values)
        found = [Failure(*row) for row in database.fetchall()]
    return Failures(found[:limit], cursors.make(found[limit - 1].entry_id) if len(found) > limit else "")

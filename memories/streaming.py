"""What was written since a place in the order of transactions, so that a stream loses nothing (contract.md 2.17).

A row is told once its transaction is older than every one still open: what is still open may commit later with a
smaller number, and a reader who had gone past it would never see it.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection

from memories import rows
from memories.rows import Row
from memories.rules.kinds import Change
from memories.viewers import Viewer

# What gives an entry its value; outcomes, feedback and decay leave that alone.
WRITES = [change.value for change in (Change.CREATED, Change.WRITTEN, Change.ROLLBACK, Change.MERGED)]
BATCH = 200
NOW = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"
PLACED = rows.VERSIONS.replace("SELECT", "SELECT s.xact::text, v.id,", 1)
SINCE = f"""
    {PLACED} JOIN memories_changeset s ON s.account_id = v.account_id AND s.id = v.change_set_id
     WHERE {{visible}} AND v.account_id = %(account)s AND s.account_id = %(account)s
       AND s.xact >= %(xact)s::text::xid8 AND (s.xact > %(xact)s::text::xid8 OR v.id > %(id)s)
       AND s.xact < pg_snapshot_xmin(pg_current_snapshot()) AND v.change = ANY(%(changes)s) AND e.branch = %(branch)s
       AND (%(path)s::text IS NULL OR e.entity_path = %(path)s)
     ORDER BY s.xact, v.id LIMIT {BATCH}
"""


class Place(NamedTuple):
    """How far a stream has come: a transaction and a version in it."""

    xact: int
    id: int

    def __str__(self) -> str:
        return f"{self.xact}-{self.id}"


@dataclass(frozen=True, slots=True)
class Written:
    """One version that was written, and the place of it."""

    place: Place
    row: Row


def here() -> Place:
    """Return the place after which nothing has been told."""
    with connection.cursor() as cursor:
        cursor.execute(NOW)
        return Place(int(cursor.fetchone()[0]), 0)


def since(viewer: Viewer, place: Place, *, branch: str, path: str | None) -> list[Written]:
    """Return what was written after a place, in order, at most 200; what is still open is left for the next time."""
    values: dict[str, Any] = {
        "xact": str(place.xact),
        "id": place.id,
        "branch": branch,
        "path": path,
        "changes": WRITES,
    }
    with connection.cursor() as cursor:
        cursor.execute(SINCE.format(visible=viewer.visible()), {**viewer.parameters, **values})
        found = cursor.fetchall()
    return [Written(Place(int(xact), version), rows.row_of(row)) for xact, version, *row in found]

"""What a change set did, entry by entry, and how much of it an undo could still take back."""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from memories.changes import change_reads
from memories.changes.change_reads import Shown
from memories.viewers import Viewer
from senselab import cursors

PAGE = 100


@dataclass(frozen=True, slots=True)
class Move:
    """One version a change set made of an entry, beside the version before it (None: it was the first)."""

    id: int
    branch: str
    entity_path: str
    key: str
    owner: str
    memory_type: str
    version: int
    head_version: int
    change: str
    before: float | None
    after: float
    evidence_before: str | None
    evidence_status: str
    status_before: str | None
    status: str
    is_rewritten: bool

    @property
    def is_first(self) -> bool:
        return self.version == 1

    @property
    def previous(self) -> int:
        return self.version - 1

    @property
    def later(self) -> int:
        """Return how many versions came after this one."""
        return self.head_version - self.version


@dataclass(frozen=True, slots=True)
class Page:
    """Some moves of a change set, in the order they were written, and the cursor after them ('' on the last page)."""

    rows: list[Move]
    next: str


@dataclass(frozen=True, slots=True)
class Reach:
    """Of the entries a change set touched, how many still stand as it left them."""

    entries: int
    untouched: int

    @property
    def changed_since(self) -> int:
        return self.entries - self.untouched


@dataclass(frozen=True, slots=True)
class Sample:
    """One entry of a change set, to name the set by."""

    branch: str
    entity_path: str
    key: str
    owner: str
    before: float | None
    after: float


@dataclass(frozen=True, slots=True)
class Titled:
    """A change set as a list shows it, with one of its entries; `others` counts the versions beside that one."""

    change_set: Shown
    sample: Sample | None

    @property
    def others(self) -> int:
        return self.change_set.size - 1


@dataclass(frozen=True, slots=True)
class Listed:
    """Some change sets, newest first, and the cursor that goes on after them ('' on the last page)."""

    rows: list[Titled]
    next: str


TITLED = """
    SELECT p.*, one.* FROM ({page}) p
      LEFT JOIN LATERAL (
        SELECT e.branch, e.entity_path, e.key, e.owner, v.before, v.confidence
          FROM memories_entryversion v
          JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
         WHERE v.account_id = %(account)s AND {visible} AND v.change_set_id = p.id LIMIT 1) one ON true
     ORDER BY p.at DESC, p.id DESC
"""


def listed(viewer: Viewer, *, limit: int = change_reads.PAGE, **asked: Any) -> Listed:
    """Return a page of change sets (change_reads.statement) with an entry each to name them by; one statement.

    :raises Refusal: the cursor cannot be read.
    """
    sql, values = change_reads.statement(viewer, limit=limit, **asked)
    with connection.cursor() as database:
        database.execute(TITLED.format(page=sql, visible=viewer.visible()), values)
        found = database.fetchall()
    samples = {row[0]: Sample(*row[-6:]) for row in found if row[-6] is not None}
    page = change_reads.paged([Shown(*row[:-6]) for row in found], limit)
    return Listed([Titled(one, samples.get(one.id)) for one in page.rows], page.next)


def page(viewer: Viewer, change_set_id: int, *, cursor: str = "", limit: int = PAGE) -> Page:
    """Return a page of what a change set did.

    :raises BadCursor: the cursor cannot be read.
    """
    after = cursors.read(cursor, int)[0] if cursor else 0
    sql = f"""
        SELECT v.id, e.branch, e.entity_path, e.key, e.owner, v.memory_type, v.number, e.version, v.change,
               p.confidence, v.confidence, p.evidence_status, v.evidence_status, p.status, v.status,
               v.claim_id IS DISTINCT FROM p.claim_id
          FROM memories_entryversion v
          JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
          LEFT JOIN memories_entryversion p
            ON p.account_id = v.account_id AND p.entry_id = v.entry_id AND p.number = v.number - 1
         WHERE v.account_id = %(account)s AND {viewer.visible()} AND v.change_set_id = %(id)s AND v.id > %(after)s
         ORDER BY v.id LIMIT %(limit)s
    """
    values: dict[str, Any] = {**viewer.parameters, "id": change_set_id, "after": after, "limit": limit + 1}
    with connection.cursor() as database:
        database.execute(sql, values)
        found = [Move(*row) for row in database.fetchall()]
    return Page(found[:limit], cursors.make(found[limit - 1].id) if len(found) > limit else "")


def reach(viewer: Viewer, change_set_id: int) -> Reach:
    """Return how much of a change set an undo could take back now."""
    sql = f"""
        SELECT count(*), count(*) FILTER (WHERE e.version = s.last)
          FROM (SELECT v.entry_id, max(v.number) AS last FROM memories_entryversion v
                 WHERE v.account_id = %(account)s AND v.change_set_id = %(id)s GROUP BY v.entry_id) s
          JOIN memories_entry e ON e.account_id = %(account)s AND e.id = s.entry_id
         WHERE {viewer.visible()}
    """
    with connection.cursor() as database:
        database.execute(sql, {**viewer.parameters, "id": change_set_id})
        return Reach(*database.fetchone())

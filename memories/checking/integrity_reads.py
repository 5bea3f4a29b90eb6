"""Whether values and chains still fit their hashes, of what the viewer may see (contract.md 3.15)."""

from dataclasses import dataclass, field
from typing import Any

from memories import rows
from memories.rows import Row
from memories.rules import integrity
from memories.viewers import Viewer

VERSIONS, PAGE, BYTES = 20_000, 250, 64 * 1024 * 1024


@dataclass(slots=True)
class Report:
    """What was checked and what does not fit; `complete` is False where there was more than is checked at once."""

    total_checked: int = 0
    valid: int = 0
    corrupted: list[dict[str, Any]] = field(default_factory=list)
    chain_breaks: list[dict[str, Any]] = field(default_factory=list)
    complete: bool = True
    bytes: int = 0

    def told(self) -> dict[str, Any]:
        return {
            "total_checked": self.total_checked,
            "valid": self.valid,
            "corrupted": self.corrupted,
            # A version without its entry or claim cannot be: foreign keys refuse it.
            "orphaned": [],
            "chain_breaks": self.chain_breaks,
            "complete": self.complete,
        }

    def check(self, row: Row, previous: Row | None) -> None:
        self.total_checked += 1
        self.bytes += len(row.value)
        named = {"entity_path": row.entity_path, "key": row.key, "version": row.version}
        fits = not row.content_hash or integrity.content_hash(row.value) == row.content_hash
        before = previous.integrity_chain if previous and previous.entry_id == row.entry_id else None
        links = not row.content_hash or integrity.chain(row.content_hash, before) == row.integrity_chain
        self.valid += fits and links
        if not fits:
            self.corrupted.append(named)
        if not links:
            self.chain_breaks.append(named)


def report(viewer: Viewer, branch: str, entity_path: str | None) -> Report:
    """Return what recomputing hashes and chains finds, entry by entry; at most 20,000 versions or 64 MiB of values."""
    made, previous = Report(), None
    while made.total_checked < VERSIONS and made.bytes < BYTES:
        found = _page(viewer, branch, entity_path, previous)
        for row in found:
            made.check(row, previous)
            previous = row
        if len(found) < PAGE:
            return made
    made.complete = False
    return made


def _page(viewer: Viewer, branch: str, entity_path: str | None, after: Row | None) -> list[Row]:
    where = f"{viewer.visible()} AND e.branch = %(branch)s AND (e.id, v.number) > (%(id)s, %(number)s)"
    if entity_path:
        where += " AND e.entity_path = %(path)s"
    sql = f"{rows.VERSIONS} WHERE {where} AND v.account_id = %(account)s ORDER BY e.id, v.number LIMIT %(limit)s"
    place = {"id": after.entry_id if after else 0, "number": after.version if after else 0}
    return rows.select(sql, {**viewer.parameters, **place, "branch": branch, "path": entity_path, "limit": PAGE})

"""Pairs of entries that say nearly the same, or the opposite, for somebody to decide which stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from memories import reads
from memories.rows import Row
from memories.viewers import Viewer
from senselab import cursors

PAGE = 20
COUNTED = 1_000
# Only while both claims stand and both entries are in use.
STANDING = """
      FROM memories_alikepair p
      JOIN memories_entry a ON a.account_id = p.account_id AND a.id = p.one_id AND a.claim_id = p.one_claim
      JOIN memories_entry b ON b.account_id = p.account_id AND b.id = p.other_id AND b.claim_id = p.other_claim
     WHERE p.account_id = %(account)s AND p.dismissed_at IS NULL AND a.status = 'active' AND b.status = 'active'
       AND (a.ttl_at IS NULL OR a.ttl_at > %(now)s) AND (b.ttl_at IS NULL OR b.ttl_at > %(now)s)
       AND {one} AND {other}
"""
AFTER = "AND (p.found_at, p.one_id, p.other_id) < (%(at)s::timestamptz, %(one)s::bigint, %(other)s::bigint)"
ORDER = "ORDER BY p.found_at DESC, p.one_id DESC, p.other_id DESC LIMIT %(most)s"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entries that are alike, the surer one first, and why."""

    kind: str
    score: float
    why: str
    found_at: datetime
    sides: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Page:
    """Some pairs, the newest first, and the cursor after them ('' on the last page)."""

    pairs: list[Pair]
    next: str


def page(viewer: Viewer, now: datetime, *, cursor: str = "") -> Page:
    """Return pairs that nobody dismissed.

    :raises BadCursor: the cursor cannot be read.
    """
    values: dict[str, Any] = {**viewer.parameters, "now": now, "most": PAGE + 1}
    sql = f"SELECT p.one_id, p.other_id, p.kind, p.score, p.why, p.found_at {_standing(viewer)}"
    if cursor:
        at, one, other = cursors.read(cursor, datetime.fromisoformat, int, int)
        values |= {"at": at, "one": one, "other": other}
        sql = f"{sql} {AFTER}"
    with connection.cursor() as database:
        database.execute(f"{sql} {ORDER}", values)
        found = database.fetchall()
    ids = sorted({entry_id for row in found[:PAGE] for entry_id in row[:2]})
    known = {row.entry_id: row for row in reads.entries_by_ids(viewer, ids)}
    pairs = [
        Pair(kind, score, why, found_at, _sides(known[one], known[other]))
        for one, other, kind, score, why, found_at in found[:PAGE]
    ]
    last = found[PAGE - 1] if len(found) > PAGE else None
    return Page(pairs, cursors.make(last[5].isoformat(), last[0], last[1]) if last else "")


def count(viewer: Viewer, now: datetime) -> int:
    """Return how many pairs wait to be looked at, up to COUNTED."""
    sql = f"SELECT count(*) FROM (SELECT 1 {_standing(viewer)} LIMIT {COUNTED}) s"
    with connection.cursor() as database:
        database.execute(sql, {**viewer.parameters, "now": now})
        return int(database.fetchone()[0])


def _standing(viewer: Viewer) -> str:
    return STANDING.format(one=viewer.visible("a"), other=viewer.visible("b"))


def _sides(one: Row, other: Row) -> list[Row]:
    return sorted((one, other), key=lambda row: (-row.settled_confidence, row.entry_id))

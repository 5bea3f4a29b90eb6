"""The review queue: what waits for a person, and why; any page of it takes the same number of statements.

What is under review waits, unless somebody put it off; active entries wait when they are contested, discredited,
rejected by a user or about to expire, until somebody decides. Then only new evidence against them brings them back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import connection

from memories import rows
from memories.queue import review_steps, review_words
from memories.rows import Row
from memories.rules.decisions import EXPIRING
from memories.rules.kinds import SUCCESSES
from memories.viewers import Viewer
from senselab import cursors

PAGE = 50
COUNTED = 10_000
EXCERPT = 700


class Reason(StrEnum):
    """Why an entry waits for a person."""

    UNDER_REVIEW = "under_review"
    DISCREDITED = "discredited"
    CONTESTED = "contested"
    REJECTED = "rejected"
    EXPIRING = "expiring"


# As the predicate of the index entries_in_question says it.
DOUBTED = "(e.evidence_status IN ('contested', 'discredited') OR e.negative_reinforcement > 0)"
QUESTION = f"(e.status = 'under_review' OR (e.status = 'active' AND {DOUBTED}))"
ENDING = f"e.status = 'active' AND e.ttl_at <= %(soon)s AND NOT {DOUBTED}"
AGAINST = (
    "((v.change = 'outcome' AND v.last_outcome <> ALL(%(successes)s)) OR (v.change = 'evidence' AND v.weight < 0))"
)
REFUSED = "(v.change = 'feedback' AND v.weight < 0)"
# What an entry is in the queue for, with and without the mark that the last decision left.
FLAGS = f"""
    SELECT e.id, e.version, e.settled_confidence, e.entity_path, e.agent_id,
           CASE WHEN m.place_version = e.version THEN m.place_at ELSE e.changed_at END AS since,
           e.status = 'under_review' AS under_review,
           e.evidence_status = 'discredited' AND (m.seen_version IS NULL OR n.failed) AS discredited,
           e.evidence_status = 'contested' AND (m.seen_version IS NULL OR n.failed) AS contested,
           e.negative_reinforcement > 0 AND (m.seen_version IS NULL OR n.refused) AS rejected,
           coalesce(e.ttl_at <= %(soon)s AND e.ttl_at IS DISTINCT FROM m.seen_expiry, false) AS expiring,
           m.snoozed_version IS NULL OR coalesce(m.snoozed_until <= %(now)s, false) OR n.woken AS awake,
           m.snoozed_version IS NOT NULL AS snoozed, m.snoozed_until, m.claimed_by, m.claimed_until
      FROM memories_entry e
      LEFT JOIN memories_reviewmark m ON m.account_id = e.account_id AND m.entry_id = e.id
      LEFT JOIN LATERAL (
          SELECT coalesce(bool_or({AGAINST} AND v.number > m.seen_version), false) AS failed,
                 coalesce(bool_or({REFUSED} AND v.number > m.seen_version), false) AS refused,
                 coalesce(bool_or(({AGAINST} OR {REFUSED}) AND v.number > m.snoozed_version), false) AS woken
            FROM memories_entryversion v
           WHERE v.account_id = e.account_id AND v.entry_id = e.id
             AND v.number > least(m.seen_version, m.snoozed_version)
      ) n ON true
     WHERE {{visible}} AND (e.ttl_at IS NULL OR e.ttl_at > %(now)s) AND {{where}}
"""
ANY = " OR ".join(f"q.{reason}" for reason in Reason)
COLUMNS = f"""q.id, q.since, q.settled_confidence, {", ".join(f"q.{reason}" for reason in Reason)}, q.snoozed,
    q.snoozed_until, q.claimed_by, q.claimed_until"""
ORDERS = {"doubt": "q.settled_confidence, q.id", "oldest": "q.since, q.id"}
AFTER = {
    "doubt": "(q.settled_confidence, q.id) > (%(after_0)s::float8, %(after_1)s::bigint)",
    "oldest": "(q.since, q.id) > (%(after_0)s::timestamptz, %(after_1)s::bigint)",
}


@dataclass(frozen=True, slots=True)
class Queue:
    """What of the queue is asked for: entries with any of the reasons, under a path and below it, by author, by age."""

    reasons: tuple[str, ...] = ()
    entity_path: str = ""
    agent_id: str = ""
    older_than: timedelta | None = None
    younger_than: timedelta | None = None
    branch: str = "main"
    sort: str = "doubt"
    cursor: str = ""
    limit: int = PAGE

    @property
    def is_everything(self) -> bool:
        """Tell whether nothing narrows it down."""
        ages = self.older_than is not None or self.younger_than is not None
        return not (self.reasons or self.entity_path or self.agent_id or ages)

    def told(self) -> str:
        """Return the filter in words."""
        parts = [" or ".join(reason.replace("_", " ") for reason in self.reasons)]
        parts += [f"under {self.entity_path}"] if self.entity_path else []
        parts += [f"by {self.agent_id}"] if self.agent_id else []
        parts += [f"waiting for {self.older_than.days} days or longer"] if self.older_than else []
        parts += [f"waiting for at most {self.younger_than.days} days"] if self.younger_than else []
        return ", ".join(part for part in parts if part) or "everything in the queue"

    def values(self, viewer: Viewer, now: datetime) -> dict[str, Any]:
        path = self.entity_path.rstrip("/")
        return {
            **viewer.parameters,
            "now": now,
            "soon": now + EXPIRING,
            "successes": [str(word) for word in SUCCESSES],
            "branch": self.branch,
            "path": path,
            "below": f"{path}/",
            # '0' is the character after '/': every path that begins with "path/", down the index.
            "beyond": f"{path}0",
            "author": self.agent_id,
            "oldest": now - self.younger_than if self.younger_than is not None else None,
            "youngest": now - self.older_than if self.older_than is not None else None,
        }

    @property
    def chosen(self) -> str:
        """Return the condition on what is in the queue that reasons and ages make."""
        reasons = " OR ".join(f"q.{Reason(reason)}" for reason in self.reasons) or ANY
        older = " AND q.since <= %(youngest)s" if self.older_than is not None else ""
        return f"({reasons}){older}" + (" AND q.since >= %(oldest)s" if self.younger_than is not None else "")

    def members(self, viewer: Viewer, columns: str, *, also: str = "", tail: str = "") -> str:
        """Return the statement over what is in the queue; `also` narrows it, `tail` orders and limits each half."""
        where = "e.branch = %(branch)s AND {half}"
        if self.entity_path:
            where += " AND (e.entity_path = %(path)s OR (e.entity_path >= %(below)s AND e.entity_path < %(beyond)s))"
        where += " AND e.agent_id = %(author)s" if self.agent_id else ""
        outer = f"q.awake AND {self.chosen}" + (f" AND {also}" if also else "")
        halves = (
            f"(SELECT {columns} FROM ({FLAGS.format(visible=viewer.visible(), where=where.format(half=half))}) q"
            f" WHERE {outer} {tail})"
            for half in (QUESTION, ENDING)
        )
        return " UNION ALL ".join(halves)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry in the queue. `why` is the sentence that says how it got there; `since` is when.

    `claimed_by` has it open until `claimed_until`; '' when nobody has.
    """

    row: Row
    effective: float
    reasons: tuple[Reason, ...]
    why: str
    since: datetime
    claimed_by: str
    claimed_until: datetime | None
    snoozed: bool = False
    snoozed_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the queue in its order, and the cursor that goes on after it ('' on the last page).

    `open` is the item that was asked for, in the queue or not, its value whole; the first where none was.
    """

    items: list[Waiting]
    next: str
    open: Waiting | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many wait: in all, and for each reason (an entry may have several). None: more than anybody counts."""

    total: int | None
    by_reason: dict[Reason, int | None]
    # How many the whole filter selects, where all were counted.
    matching: int | None = None


def page(
    asked: Queue, viewer: Viewer, now: datetime, *, letters: int | None = EXCERPT, item: int | None = None
) -> Page:
    """Return a page of the queue, values cut at so many letters (None: whole), and `item` beside it. Three statements.

    :raises BadCursor: the cursor cannot be read.
    """
    values = asked.values(viewer, now) | {"limit": asked.limit + 1, "item": item}
    also = ""
    if asked.cursor:
        kind = float if asked.sort == "doubt" else datetime.fromisoformat
        after = cursors.read(asked.cursor, kind, int)
        also = AFTER[asked.sort]
        values |= {"after_0": after[0], "after_1": after[1]}
    order = f"ORDER BY {ORDERS[asked.sort]} LIMIT %(limit)s"
    members = asked.members(viewer, COLUMNS, also=also, tail=order)
    sql = f"(SELECT true, q.* FROM ({members}) q {order})"
    if item is not None:
        sql += f" UNION ALL SELECT false, {COLUMNS} FROM ({_flags_of_one(viewer)}) q"
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows_found = cursor.fetchall()
    found = [row[1:] for row in rows_found if row[0]]
    beside = [row[1:] for row in rows_found if not row[0]]
    shown, last = found[: asked.limit], found[asked.limit - 1] if len(found) > asked.limit else None
    chosen = item if item is not None else shown[0][0] if shown else None
    listed = {row[0] for row in shown}
    made = waiting(viewer, [*shown, *(row for row in beside if row[0] not in listed)], now, letters, whole=chosen)
    place = "" if last is None else cursors.make(last[2] if asked.sort == "doubt" else last[1].isoformat(), last[0])
    return Page(made[: len(shown)], place, next((one for one in made if one.row.entry_id == chosen), None))


def _flags_of_one(viewer: Viewer) -> str:
    return FLAGS.format(visible=viewer.visible(), where="e.id = %(item)s")


def one(viewer: Viewer, entry_id: int, now: datetime) -> Waiting | None:
    """Return one entry as the queue shows it, whole, whether it waits or not; None when it is not there or is over."""
    with connection.cursor() as cursor:
        values = {**Queue().values(viewer, now), "item": entry_id}
        cursor.execute(f"SELECT {COLUMNS} FROM ({_flags_of_one(viewer)}) q", values)
        found = cursor.fetchall()
    shown = waiting(viewer, found, now, None)
    return shown[0] if shown else None


def counts(asked: Queue, viewer: Viewer, now: datetime, *, most: int = COUNTED) -> Counts:
    """Return how many wait for what, and how many of them `asked` selects; one statement, which counts up to `most`."""
    everything = Queue(entity_path=asked.entity_path, agent_id=asked.agent_id, branch=asked.branch)
    flags = ", ".join(f"q.{reason}" for reason in Reason)
    members = everything.members(viewer, f"{flags}, q.since", tail=f"LIMIT {most + 1}")
    sums = ", ".join(f"count(*) FILTER (WHERE q.{reason})" for reason in Reason)
    sql = f"SELECT count(*), count(*) FILTER (WHERE {asked.chosen}), {sums} FROM ({members}) q"
    with connection.cursor() as cursor:
        cursor.execute(sql, asked.values(viewer, now))
        total, selected, *each = cursor.fetchone()
    known = total <= most
    by_reason = {reason: number if known else None for reason, number in zip(Reason, each, strict=True)}
    return Counts(total if known else None, by_reason, selected if known else None)


def matching(asked: Queue, viewer: Viewer, now: datetime) -> int:
    """Return how many entries a filter selects, all of them."""
    with connection.cursor() as cursor:
        members = asked.members(viewer, "q.id")
        cursor.execute(f"SELECT count(*) FROM ({members}) q", asked.values(viewer, now))
        return int(cursor.fetchone()[0])


# A list shows a line of each value, but the whole of the one that is open.
CUT = "CASE WHEN e.id = %(whole)s THEN c.value ELSE left(c.value, %(letters)s) END,"


def waiting(
    viewer: Viewer, found: Sequence[Sequence[Any]], now: datetime, letters: int | None, *, whole: int | None = None
) -> list[Waiting]:
    """Return rows of the queue with their entries and the sentences that say why they are here."""
    ids = [row[0] for row in found]
    if not ids:
        return []
    heads = rows.HEADS if letters is None else rows.HEADS.replace("c.value,", CUT)
    shown = rows.select(
        f"{heads} WHERE {viewer.visible()} AND e.id = ANY(%(ids)s)",
        {**viewer.parameters, "ids": ids, "letters": letters, "whole": whole},
    )
    by_id, past = {row.entry_id: row for row in shown}, review_steps.newest(viewer.account_id, ids)
    items = []
    for entry_id, since, _, *flags, snoozed, snoozed_until, claimed_by, claimed_until in found:
        row = by_id[entry_id]
        effective = row.state.confidence * row.freshness(now, viewer.policy)
        reasons = tuple(reason for reason, holds in zip(Reason, flags, strict=True) if holds)
        why = review_words.why(row, reasons, past.get(entry_id, []), effective, now)
        held = claimed_until is not None and claimed_until > now
        by, until = (claimed_by, claimed_until) if held else ("", None)
        items.append(Waiting(row, effective, reasons, why, since, by, until, snoozed, snoozed_until))
    return items

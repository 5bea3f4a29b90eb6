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
from memories.queue import review_words
from memories.queue.review_words import Step
from memories.rows import Row
from memories.rules.decisions import EXPIRING
from memories.rules.kinds import SUCCESSES
from memories.viewers import Viewer
from senselab import cursors

PAGE = 50
COUNTED = 10_000
STEPS = 20
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

    def members(self, viewer: Viewer, columns: str, *, also: str = "", tail: str = "") -> str:
        """Return the statement over what is in the queue; `also` narrows it, `tail` orders and limits each half."""
        where = "e.branch = %(branch)s AND {half}"
        if self.entity_path:
            where += " AND (e.entity_path = %(path)s OR (e.entity_path >= %(below)s AND e.entity_path < %(beyond)s))"
        where += " AND e.agent_id = %(author)s" if self.agent_id else ""
        chosen = " OR ".join(f"q.{Reason(reason)}" for reason in self.reasons) or ANY
        outer = f"q.awake AND ({chosen})"
        outer += " AND q.since <= %(youngest)s" if self.older_than is not None else ""
        outer += " AND q.since >= %(oldest)s" if self.younger_than is not None else ""
        outer += f" AND {also}" if also else ""
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
    """Some of the queue in its order, and the cursor that goes on after it ('' on the last page)."""

    items: list[Waiting]
    next: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How many wait: in all, and for each reason (an entry may have several). None: more than anybody counts."""

    total: int | None
    by_reason: dict[Reason, int | None]


def page(asked: Queue, viewer: Viewer, now: datetime, *, letters: int | None = EXCERPT) -> Page:
    """Return a page of the queue, values cut at so many letters (None: whole). Three statements.

    :raises BadCursor: the cursor cannot be read.
    """
    values = asked.values(viewer, now) | {"limit": asked.limit + 1}
    also = ""
    if asked.cursor:
        kind = float if asked.sort == "doubt" else datetime.fromisoformat
        after = cursors.read(asked.cursor, kind, int)
        also = AFTER[asked.sort]
        values |= {"after_0": after[0], "after_1": after[1]}
    order = f"ORDER BY {ORDERS[asked.sort]} LIMIT %(limit)s"
    members = asked.members(viewer, COLUMNS, also=also, tail=order)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM ({members}) q {order}", values)
        found = cursor.fetchall()
    shown = found[: asked.limit]
    if len(found) <= asked.limit:
        return Page(waiting(viewer, shown, now, letters), "")
    last = shown[-1]
    place = last[2] if asked.sort == "doubt" else last[1].isoformat()
    return Page(waiting(viewer, shown, now, letters), cursors.make(place, last[0]))


def one(viewer: Viewer, entry_id: int, now: datetime) -> Waiting | None:
    """Return one entry as the queue shows it, whole, whether it waits or not; None when it is not there or is over."""
    flags = FLAGS.format(visible=viewer.visible(), where="e.id = %(id)s")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {COLUMNS} FROM ({flags}) q", {**Queue().values(viewer, now), "id": entry_id})
        found = cursor.fetchall()
    shown = waiting(viewer, found, now, None)
    return shown[0] if shown else None


def counts(asked: Queue, viewer: Viewer, now: datetime, *, most: int = COUNTED) -> Counts:
    """Return how many wait for what, whatever reasons `asked` names; one statement, which counts up to `most`."""
    everything = Queue(entity_path=asked.entity_path, agent_id=asked.agent_id, branch=asked.branch)
    flags = ", ".join(f"q.{reason}" for reason in Reason)
    members = everything.members(viewer, flags, tail=f"LIMIT {most + 1}")
    sums = ", ".join(f"count(*) FILTER (WHERE q.{reason})" for reason in Reason)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*), {sums} FROM ({members}) q", everything.values(viewer, now))
        total, *each = cursor.fetchone()
    known = total <= most
    by_reason = {reason: number if known else None for reason, number in zip(Reason, each, strict=True)}
    return Counts(total if known else None, by_reason)


def matching(asked: Queue, viewer: Viewer, now: datetime) -> int:
    """Return how many entries a filter selects, all of them."""
    with connection.cursor() as cursor:
        members = asked.members(viewer, "q.id")
        cursor.execute(f"SELECT count(*) FROM ({members}) q", asked.values(viewer, now))
        return int(cursor.fetchone()[0])


def waiting(viewer: Viewer, found: Sequence[Sequence[Any]], now: datetime, letters: int | None) -> list[Waiting]:
    """Return rows of the queue with their entries and the sentences that say why they are here."""
    ids = [row[0] for row in found]
    if not ids:
        return []
    heads = rows.HEADS if letters is None else rows.HEADS.replace("c.value,", "left(c.value, %(letters)s),")
    shown = rows.select(
        f"{heads} WHERE {viewer.visible()} AND e.id = ANY(%(ids)s)",
        {**viewer.parameters, "ids": ids, "letters": letters},
    )
    by_id, past = {row.entry_id: row for row in shown}, steps(viewer.account_id, ids)
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


NEWEST = f"""
    SELECT g.entry_id, v.number, v.change, v.at, v.before, v.confidence, v.weight, v.last_outcome, s.kind, s.actor,
           s.cause, s.reason
      FROM unnest(%(ids)s::bigint[]) AS g(entry_id)
      CROSS JOIN LATERAL (
          SELECT v.* FROM memories_entryversion v
           WHERE v.account_id = %(account)s AND v.entry_id = g.entry_id ORDER BY v.number DESC LIMIT {STEPS}
      ) v
      JOIN memories_changeset s ON s.account_id = %(account)s AND s.id = v.change_set_id
     ORDER BY g.entry_id, v.number DESC
"""


def steps(account_id: int, ids: Sequence[int]) -> dict[int, list[Step]]:
    """Return the newest steps of entries, newest first."""
    found: dict[int, list[Step]] = {}
    with connection.cursor() as cursor:
        cursor.execute(NEWEST, {"account": account_id, "ids": list(ids)})
        for entry_id, *step in cursor.fetchall():
            found.setdefault(entry_id, []).append(Step(*step))
    return found

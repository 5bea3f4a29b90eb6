"""Everything a reviewer decides by, for one entry; the number of statements is the same for any history."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from memories import reads
from memories.entry import history, why
from memories.entry.history import Landmarks, Mark, Reader
from memories.entry.why import Effect
from memories.queue.review import Waiting
from memories.rows import Row
from memories.rules import diff
from memories.rules.diff import Change
from memories.rules.kinds import SUCCESSES
from memories.viewers import Viewer

EFFECTS = 5
RELIED = 50
COMMENTS = 50
# So many entries of the same entity are compared with, by as many letters of what they say.
NEIGHBOURS = 1_000
LETTERS = 500
ALIKE = 0.1


@dataclass(frozen=True, slots=True)
class Reach:
    """Who relies on the present claim: which agents read it how often, and the newest outcomes since it was made.

    `tasks` and `failed` count the steps of all outcomes since, those in `relied` and older ones.
    """

    readers: list[Reader]
    relied: list[Effect]
    tasks: int
    failed: int

    @property
    def reads(self) -> int:
        return sum(reader.reads for reader in self.readers)


@dataclass(frozen=True, slots=True)
class Similar:
    """The entry of the same entity that is most like this one; `likeness` lies in 0..1."""

    row: Row
    likeness: float


@dataclass(frozen=True, slots=True)
class Said:
    """A comment."""

    actor: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Detail:
    """An item of the queue, open.

    `against` is the last validated version and `changes` what differs from it to the present one, both empty when there
    is none.
    """

    item: Waiting
    marks: Landmarks
    against: Row | None
    changes: list[Change]

    @property
    def row(self) -> Row:
        return self.item.row

    @property
    def recommended(self) -> Mark | None:
        """Return the version that a rollback would go to."""
        return self.marks.recommended(self.row.state.evidence_status)


@dataclass(frozen=True, slots=True)
class Aside:
    """What else a reviewer decides by; `effects` are those of the newest outcomes, newest first."""

    effects: list[Effect]
    reach: Reach
    similar: Similar | None
    comments: list[Said]


def detail(viewer: Viewer, item: Waiting) -> Detail:
    """Return an item with what it says now and said when outcomes last bore it out; two statements."""
    marks = history.landmarks(viewer, item.row.entry_id)
    mark = marks.recommended(item.row.state.evidence_status)
    against = reads.version(viewer, item.row.entry_id, mark.number) if mark else None
    return Detail(item, marks, against, diff.diff(against.value, item.row.value) if against else [])


def aside(viewer: Viewer, row: Row, marks: Landmarks, now: datetime) -> Aside:
    """Return who relies on an item, what is like it and what was said of it; six statements."""
    return Aside(
        effects=history.effects(viewer, row.entry_id, most=EFFECTS),
        reach=reach(viewer, row, marks, now),
        similar=similar(viewer, row),
        comments=comments(viewer, row.entry_id),
    )


RELYING = f"""
    SELECT count(*) OVER (), count(*) FILTER (WHERE f.outcome_type <> ALL(%s)) OVER (), {why.COLUMNS}
      FROM memories_effect f
     WHERE f.account_id = %s AND f.entry_id = %s AND f.at >= %s AND f.skipped = ''
     ORDER BY f.at DESC, f.id DESC LIMIT {RELIED}
"""


def reach(viewer: Viewer, row: Row, marks: Landmarks, now: datetime) -> Reach:
    """Return who relies on the present claim of an entry."""
    readers = history.readers(
        viewer, row.entry_id, first=marks.claim_since, last=row.version, since=marks.claim_at, until=now
    )
    with connection.cursor() as cursor:
        cursor.execute(RELYING, [[str(word) for word in SUCCESSES], viewer.account_id, row.entry_id, marks.claim_at])
        found = cursor.fetchall()
    tasks, failed = found[0][:2] if found else (0, 0)
    return Reach(readers, [Effect(*line[2:]) for line in found], tasks, failed)


SIMILAR = f"""
    SELECT o.id, greatest(similarity(o.key, %(key)s), similarity(left(c.value, {LETTERS}), %(text)s)) AS likeness
      FROM (
          SELECT e.id, e.key, e.claim_id FROM memories_entry e
           WHERE {{visible}} AND e.branch = %(branch)s AND e.entity_path = %(path)s AND e.id <> %(id)s
             AND e.status IN ('active', 'under_review') LIMIT {NEIGHBOURS}
      ) o
      JOIN memories_claim c ON c.account_id = %(account)s AND c.id = o.claim_id
     ORDER BY likeness DESC, o.id LIMIT 1
"""


def similar(viewer: Viewer, row: Row) -> Similar | None:
    """Return the most similar other entry of the entity, by the trigrams of key and value; None when none is."""
    values: dict[str, Any] = {
        **viewer.parameters,
        "branch": row.branch,
        "path": row.entity_path,
        "id": row.entry_id,
        "key": row.key,
        "text": row.value[:LETTERS],
    }
    with connection.cursor() as cursor:
        cursor.execute(SIMILAR.format(visible=viewer.visible()), values)
        found = cursor.fetchone()
    if found is None or found[1] < ALIKE:
        return None
    shown = reads.entries_by_ids(viewer, [found[0]])
    return Similar(shown[0], found[1]) if shown else None


# A comment whose change set was undone is out of sight.
COMMENTED = f"""
    SELECT c.actor, c.text, c.at FROM memories_comment c
     WHERE c.account_id = %s AND c.entry_id = %s
       AND NOT EXISTS (SELECT 1 FROM memories_changeset u WHERE u.account_id = %s AND u.undoes_id = c.change_set_id)
     ORDER BY c.id DESC LIMIT {COMMENTS}
"""


def comments(viewer: Viewer, entry_id: int) -> list[Said]:
    """Return the newest comments on an entry, newest first."""
    with connection.cursor() as cursor:
        cursor.execute(COMMENTED, [viewer.account_id, entry_id, viewer.account_id])
        return [Said(*row) for row in cursor.fetchall()]

"""The page on going back: the versions to choose from, and what the chosen one would bring."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from memories.entry import history, portrait
from memories.entry.comparison import Field, Other, fields, words_of
from memories.entry.history import Mark
from memories.heads import Name
from memories.rows import Row
from memories.rules import decay
from memories.rules.diff import Piece
from memories.rules.kinds import EvidenceStatus, Status
from memories.rules.policy import Policy
from memories.services import rollback_preview
from memories.services.rollback_preview import FieldChange, Preview
from memories.viewers import Viewer
from senselab.errors import Conflict

CANDIDATES = 12


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version to go back to; `same` tells whether it says what the entry says now."""

    number: int
    at: datetime
    evidence_status: str
    confidence: float
    same: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """What would happen: `preview` of going back to `to`, `row` as it stands, `effective` its confidence now."""

    row: Row
    to: int
    preview: Preview
    candidates: list[Candidate]
    recommended: Mark | None
    effective: float
    policy: Policy

    @property
    def fields(self) -> list[Field]:
        return fields(self.preview.changes)

    @property
    def words(self) -> list[Piece]:
        """Return both texts woven into one; none unless both values are texts."""
        return words_of(self.row.value, self.preview.target.value)

    @property
    def others(self) -> list[Other]:
        """Return what changes beside the value."""
        return [told(change) for change in self.preview.fields]

    @property
    def current(self) -> str:
        return str(self.row.version)

    @property
    def coming(self) -> str:
        return str(self.next)

    @property
    def next(self) -> int:
        return self.row.version + 1

    @property
    def reads(self) -> int:
        return sum(reader.reads for reader in self.preview.reach)

    @property
    def served(self) -> tuple[str, str]:
        """Return how agents get the entry now, and how they would."""
        state, after = self.row.state, self.preview.after
        return served(state.status, state.evidence_status), served(after.status, after.evidence_status)


WORDS = {"agent_id": "author", "pattern_refs": "references", "artifact_refs": "artifacts"}


def told(change: FieldChange) -> Other:
    """Return a change as people read it: references as one line."""
    old, new = (listed(value) if isinstance(value, list) else value for value in (change.old, change.new))
    return Other(WORDS.get(change.field, change.field), old, new)


def listed(values: list[Any]) -> str:
    return ", ".join(str(value.get("uri", "")) if isinstance(value, dict) else str(value) for value in values)


def served(status: str, evidence_status: str) -> str:
    if status in {Status.ARCHIVED, Status.SUPERSEDED}:
        return "only by exact key"
    if status == Status.UNDER_REVIEW or evidence_status == EvidenceStatus.DISCREDITED:
        return "as a warning"
    return "as knowledge"


CANDIDATE = """
    WITH steps AS (
        SELECT v.number, v.at, v.evidence_status, v.confidence, c.digest = now.digest AS same,
               c.digest IS DISTINCT FROM lead(c.digest) OVER (ORDER BY v.number) AS ends
          FROM memories_entry e
          JOIN memories_claim now ON now.account_id = e.account_id AND now.id = e.claim_id
          JOIN memories_entryversion v ON v.account_id = e.account_id AND v.entry_id = e.id
          JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
         WHERE e.account_id = %(account)s AND e.id = %(id)s
    )
    SELECT s.number, s.at, s.evidence_status, s.confidence, s.same
      FROM steps s
     WHERE s.number <> %(current)s AND (s.number = ANY(%(named)s) OR s.number IN (
           SELECT b.number FROM steps b WHERE b.number <> %(current)s
            ORDER BY b.ends DESC, b.number = 1 DESC, b.number DESC LIMIT %(most)s))
     ORDER BY s.number DESC
"""


def candidates(viewer: Viewer, row: Row, named: list[int]) -> list[Candidate]:
    """Return the versions named, and the last of each claim, the first and the newest as far as there is room."""
    values: dict[str, Any] = {
        "account": viewer.account_id,
        "id": row.entry_id,
        "current": row.version,
        "named": named,
        "most": CANDIDATES - len(named),
    }
    with connection.cursor() as cursor:
        cursor.execute(CANDIDATE, values)
        return [Candidate(*found) for found in cursor.fetchall()]


def choice(viewer: Viewer, branch: str, name: Name, now: datetime, *, owner: str | None, to: int | None) -> Choice:
    """Return what going back would do; without `to`, to the last validated version, else to the one before.

    :raises NotFound: there is no such entry for the viewer, or no such version.
    :raises Conflict: there is nothing to go back to, or the version is the current one.
    """
    found = portrait.found(viewer, branch, name, owner)
    if found.version == 1:
        raise Conflict("There is only one version; there is nothing to go back to.")
    marks = history.landmarks(viewer, found.entry_id)
    recommended = marks.recommended(found.state.evidence_status)
    chosen = to or (recommended.number if recommended else found.version - 1)
    preview = rollback_preview.preview(viewer, found.entry_id, chosen, marks=marks)
    named = [chosen, *([recommended.number] if recommended and recommended.number != chosen else [])]
    freshness = found.freshness(now, viewer.policy)
    return Choice(
        row=found,
        to=chosen,
        preview=preview,
        candidates=candidates(viewer, found, named),
        recommended=recommended,
        effective=decay.effective(found.state.confidence, freshness),
        policy=viewer.policy,
    )

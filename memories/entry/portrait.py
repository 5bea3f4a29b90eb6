"""Everything the page of one entry shows, read once; the number of statements is the same for any history."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from memories import reads
from memories.entry import doubt, history, timeline
from memories.entry.doubt import Doubt
from memories.entry.history import Landmarks, Mark, Reader, Reference, Shown, Versions
from memories.entry.timeline import Forecast, Point, Steps
from memories.entry.why import Effect, Told
from memories.heads import Name
from memories.rows import Row
from memories.rules import decay, integrity, tiers
from memories.rules.kinds import Change
from memories.rules.policy import Policy
from memories.rules.provenance import ProvenanceTier, provenance_tier
from memories.rules.tiers import Priority
from memories.viewers import Viewer
from senselab.errors import NotFound

MOVES = frozenset({Change.OUTCOME, Change.FEEDBACK, Change.EVIDENCE, Change.CREATED, Change.ROLLBACK})


@dataclass(frozen=True, slots=True)
class Portrait:
    """An entry with its past and what lies ahead of it.

    `last_move` is the newest version that gave the entry its confidence, None when none of those shown did.
    """

    row: Row
    now: datetime
    policy: Policy
    freshness: float
    marks: Landmarks
    versions: Versions
    steps: Steps
    forecast: Forecast
    effects: list[Effect]
    readers: list[Reader]
    references: list[Reference]
    last_move: Told | None

    @property
    def effective(self) -> float:
        return decay.effective(self.row.state.confidence, self.freshness)

    @property
    def recommended(self) -> Mark | None:
        """Return the version to go back to, if going back is worth a thought."""
        return self.marks.recommended(self.row.state.evidence_status)

    @property
    def compared(self) -> tuple[int, int]:
        """Return the two versions chosen at first: the one to go back to, or the one before, and the newest shown."""
        numbers = [shown.row.version for shown in self.versions.shown]
        mark = self.recommended
        before = mark.number if mark and mark.number in numbers[1:] else numbers[min(1, len(numbers) - 1)]
        return before, numbers[0]

    @property
    def doubt(self) -> Doubt | None:
        return doubt.doubt(self.row, self.effective, self.effects, self.marks, policy=self.policy, now=self.now)

    @property
    def is_gone(self) -> bool:
        return self.row.is_gone(self.now)

    @property
    def silent_days(self) -> int:
        return decay.days_between(self.row.accessed_at, self.now)

    @property
    def priority(self) -> Priority:
        return tiers.priority(
            importance=self.row.importance_score,
            effective=self.effective,
            written_at=self.row.written_at,
            now=self.now,
            recall_count=self.row.recall_count,
            policy=self.policy,
        )

    @property
    def provenance(self) -> ProvenanceTier:
        return provenance_tier(self.row.agent_id, self.row.state.outcome_count)

    @property
    def namesakes(self) -> list[dict[str, str]]:
        """Return the other entries of this name: the shared one and other agents' private ones."""
        row = self.row
        names = {"branch": row.branch, "entity_path": row.entity_path, "key": row.key}
        return [{**names, "owner": owner} for owner in self.marks.owners if owner != row.owner]

    @property
    def artifacts(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = msgspec.json.decode(self.row.artifact_refs)
        return found

    @property
    def is_intact(self) -> bool:
        """Tell whether the value has its hash, and the versions shown stand on each other's."""
        row = self.row
        return self.versions.chained and (not row.content_hash or integrity.content_hash(row.value) == row.content_hash)

    @property
    def reads(self) -> int:
        return sum(reader.reads for reader in self.readers)

    @property
    def points(self) -> list[tuple[Point, str]]:
        """Return the points, newest first, each with the product behind its weight."""
        return [(point, timeline.sum_of(point, self.policy)) for point in reversed(self.steps.points)]


def of(
    viewer: Viewer, branch: str, name: Name, now: datetime, *, owner: str | None = None, below: int | None = None
) -> Portrait:
    """Return the portrait of an entry in whatever state; `below` asks for versions older than that number.

    :raises NotFound: there is no such entry for the viewer.
    """
    row = found(viewer, branch, name, owner)
    marks = history.landmarks(viewer, row.entry_id)
    versions = history.versions(viewer, row.entry_id, current=row.version, below=below)
    steps = timeline.steps(viewer, row)
    readers = history.readers(
        viewer, row.entry_id, first=marks.claim_since, last=row.version, since=marks.claim_at, until=row.accessed_at
    )
    return Portrait(
        row=row,
        now=now,
        policy=viewer.policy,
        freshness=row.freshness(now, viewer.policy),
        marks=marks,
        versions=versions,
        steps=steps,
        forecast=timeline.ahead(row, viewer.policy, now, since=steps.points[0].at),
        effects=history.effects(viewer, row.entry_id),
        readers=readers,
        references=history.references(viewer, branch, row.pattern_refs),
        last_move=last_move(versions, row),
    )


def found(viewer: Viewer, branch: str, name: Name, owner: str | None) -> Row:
    """:raises NotFound: there is no such entry for the viewer."""
    row = history.head(viewer, branch, name, owner)
    if row is None:
        raise NotFound("There is no such entry, or it is not yours to see.")
    return row


def last_move(versions: Versions, row: Row) -> Told | None:
    """Return the newest of the versions that moved confidence, unless the list begins further down."""
    if not versions.shown or versions.shown[0].row.version != row.version:
        return None
    return next((shown.told for shown in versions.shown if gave_confidence(shown)), versions.shown[-1].told)


def gave_confidence(shown: Shown) -> bool:
    """Tell whether the confidence an entry has is this version's doing."""
    return shown.renews or shown.act.change in MOVES or shown.act.before != shown.row.state.confidence


def value(viewer: Viewer, branch: str, name: Name, owner: str | None, number: int | None) -> str:
    """Return the JSON text of an entry, or of one of its versions.

    :raises NotFound: there is no such entry for the viewer, or no such version.
    """
    row = found(viewer, branch, name, owner)
    if number is None or number == row.version:
        return row.value
    version = reads.version(viewer, row.entry_id, number)
    if version is None:
        raise NotFound(f"There is no version {number}; they go from 1 to {row.version}.")
    return version.value

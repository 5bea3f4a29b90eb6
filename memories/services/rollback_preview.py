"""What rolling back would do, before it does it: what changes, what stays, and who has read what is taken back."""

from dataclasses import dataclass
from typing import Any

import msgspec

from memories import reads
from memories.entry import history
from memories.entry.history import Landmarks, Reader
from memories.rows import Row
from memories.rules import diff
from memories.rules.state import State
from memories.services import rollback
from memories.services.rollback import NoSuchVersion
from memories.viewers import Viewer
from senselab.errors import Conflict

# What a rollback may change besides the value, in the order a person asks for it.
FIELDS = (
    "confidence",
    "evidence_status",
    "status",
    "memory_type",
    "success_count",
    "failure_count",
    "positive_reinforcement",
    "negative_reinforcement",
    "ttl_at",
    "superseded_by",
)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that is not the value: what it is now and what it would be."""

    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that stays, and a few words on it."""

    what: str
    words: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What making version `to` current again would do; nothing has been written.

    `row` is the entry as it stands, `target` the version to go back to, `after` the state that would be current.
    `changes` are those of the value by JSON pointer, from now to then; `fields` what else changes; `reach` the agents
    that read a version from `since` on, which is what is taken back.
    """

    row: Row
    target: Row
    after: State
    changes: list[diff.Change]
    fields: list[FieldChange]
    keeps: list[Kept]
    reach: list[Reader]
    since: int
    marks: Landmarks

    def told(self) -> dict[str, Any]:
        """Return the answer of the API: JSON values as values."""
        return {
            "version": self.row.version,
            "to_version": self.target.version,
            "changes": [
                {"path": change.path, "operation": change.operation, "old": raw(change.old), "new": raw(change.new)}
                for change in self.changes
            ],
            "fields": [{"field": change.field, "old": change.old, "new": change.new} for change in self.fields],
            "keeps": [{"what": kept.what, "words": kept.words} for kept in self.keeps],
            "reach": [{"agent_id": r.agent_id, "reads": r.reads, "last_at": r.last_at} for r in self.reach],
        }


def raw(text: str | None) -> msgspec.Raw | None:
    return None if text is None else msgspec.Raw(text.encode())


def preview(viewer: Viewer, entry_id: int, to: int, *, marks: Landmarks | None = None) -> Preview:
    """Return what rolling back to a version would do; `marks` are the entry's landmarks, if they are read already.

    :raises NotFound: there is no such entry for the viewer, or no such version.
    :raises Conflict: the version is the current one.
    """
    head = rollback.head_for(viewer, entry_id)
    if to == head.version:
        raise Conflict(f"Version {to} is the current one.")
    pair = reads.versions_by_numbers(viewer, entry_id, [head.version, to])
    row, target = pair.get(head.version), pair.get(to)
    found = rollback.earlier(viewer.account_id, [(entry_id, to)]).get(entry_id)
    if row is None or target is None or found is None:
        raise NoSuchVersion(f"There is no version {to}; they go from 1 to {head.version}.")
    after = rollback.restored_state(head, found)
    marks = marks or history.landmarks(viewer, entry_id)
    since = max(to + 1, marks.claim_since)
    born = target.written_at if since == to + 1 else marks.claim_at
    return Preview(
        row=row,
        target=target,
        after=after,
        changes=diff.diff(row.value, target.value),
        fields=field_changes(row, target, after),
        keeps=kept(row, after, marks),
        reach=history.readers(viewer, entry_id, first=since, last=row.version, since=born, until=row.accessed_at),
        since=since,
        marks=marks,
    )


def field_changes(row: Row, target: Row, after: State) -> list[FieldChange]:
    """Return what changes besides the value."""
    changed = [
        FieldChange(name, getattr(row.state, name), getattr(after, name))
        for name in FIELDS
        if getattr(row.state, name) != getattr(after, name)
    ]
    for name in ("agent_id", "pattern_refs"):
        if getattr(row, name) != getattr(target, name):
            changed.append(FieldChange(name, getattr(row, name), getattr(target, name)))
    if row.artifact_refs != target.artifact_refs:
        before, then = (msgspec.json.decode(one.artifact_refs) for one in (row, target))
        changed.append(FieldChange("artifact_refs", before, then))
    return changed


def kept(row: Row, after: State, marks: Landmarks) -> list[Kept]:
    """Return what stays as it is."""
    outcomes, next_version = marks.successes + marks.failures, row.version + 1
    told = [
        Kept(
            "outcomes", f"all {outcomes:,} stay in the ledger, with the versions they moved" if outcomes else "none yet"
        ),
        Kept("history", f"v1 to v{row.version} stay; v{next_version} is added, and another rollback undoes it"),
        Kept("visibility", f"private to {row.owner}" if row.owner else "shared"),
        Kept("pinned", "stays pinned" if after.pinned else "stays unpinned"),
    ]
    if row.state.status == after.status:
        told.insert(0, Kept("status", after.status.replace("_", " ")))
    return told

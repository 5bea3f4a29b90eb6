"""Two versions of an entry side by side: what differs by path, line by line, and beside the value."""

from dataclasses import dataclass
from typing import Any

import msgspec

from memories import reads
from memories.entry import history, portrait
from memories.entry.history import Versions
from memories.heads import Name
from memories.queue.side_by_side import SideBySide, side_by_side, whole, words
from memories.rows import Row
from memories.rules import diff
from memories.rules.diff import Change, Piece
from memories.viewers import Viewer
from senselab.errors import NotFound

CHANGES_SHOWN = 200
# So many characters are compared word by word; what is beyond is told as a whole.
WORDS_BUDGET = 60_000
CHOICES = 60
BESIDE_THE_VALUE = (
    "confidence",
    "evidence_status",
    "status",
    "memory_type",
    "success_count",
    "failure_count",
    "positive_reinforcement",
    "negative_reinforcement",
    "shared",
    "pinned",
    "ttl_at",
    "superseded_by",
)


@dataclass(frozen=True, slots=True)
class Field:
    """A difference in the value: the names and indexes that lead to it, and both texts in pieces (none: not there)."""

    path: list[str]
    operation: str
    old: list[Piece] | None
    new: list[Piece] | None


@dataclass(frozen=True, slots=True)
class Other:
    """A difference beside the value."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two versions. `changes` counts all differences of the value, `fields` are the first of them.

    `choices` are the versions to choose from, None when there are too many for a list.
    """

    head: Row
    old: Row
    new: Row
    changes: int
    fields: list[Field]
    others: list[Other]
    lines: SideBySide | None
    is_text: bool
    choices: Versions | None

    @property
    def old_number(self) -> str:
        return str(self.old.version)

    @property
    def new_number(self) -> str:
        return str(self.new.version)

    @property
    def words(self) -> list[Piece]:
        """Return two texts woven into one; none unless both values are texts."""
        return words_of(self.old.value, self.new.value)


def of(
    viewer: Viewer, branch: str, name: Name, *, owner: str | None, first: int | None, last: int | None
) -> Comparison:
    """Return what differs from version `first` (the one before) to `last` (the current one).

    :raises NotFound: there is no such entry for the viewer, or no such version.
    """
    head = portrait.found(viewer, branch, name, owner)
    last = head.version if last is None else last
    first = max(1, last - 1) if first is None else first
    pair = reads.versions_by_numbers(viewer, head.entry_id, [first, last])
    old, new = (version(pair, head, number) for number in (first, last))
    changes = diff.diff(old.value, new.value)
    is_text = old.value.startswith('"') and new.value.startswith('"')
    few = head.version <= CHOICES
    return Comparison(
        head=head,
        old=old,
        new=new,
        changes=len(changes),
        fields=[] if is_text else fields(changes),
        others=others(old, new),
        lines=side_by_side(old.value, new.value) if changes else None,
        is_text=is_text and bool(changes),
        choices=history.versions(viewer, head.entry_id, current=head.version, most=CHOICES) if few else None,
    )


def words_of(old: str, new: str) -> list[Piece]:
    """Return two texts woven into one, given as JSON; none unless both are texts, and differ."""
    if old == new or not old.startswith('"') or not new.startswith('"'):
        return []
    before, after = (msgspec.json.decode(text, type=str) for text in (old, new))
    return diff.word_diff(before, after)


def version(found: dict[int, Row], head: Row, number: int) -> Row:
    """:raises NotFound: there is no such version."""
    if number not in found:
        raise NotFound(f"There is no version {number}; they go from 1 to {head.version}.")
    return found[number]


def others(old: Row, new: Row) -> list[Other]:
    """Return what differs beside the value."""
    found = [
        Other(name, getattr(old.state, name), getattr(new.state, name))
        for name in BESIDE_THE_VALUE
        if getattr(old.state, name) != getattr(new.state, name)
    ]
    if old.agent_id != new.agent_id:
        found.append(Other("author", old.agent_id, new.agent_id))
    if old.pattern_refs != new.pattern_refs:
        found.append(Other("references", ", ".join(old.pattern_refs), ", ".join(new.pattern_refs)))
    if old.artifact_refs != new.artifact_refs:
        found.append(Other("artifacts", *(uris(row) for row in (old, new))))
    return found


def uris(row: Row) -> str:
    return ", ".join(str(one.get("uri", "")) for one in msgspec.json.decode(row.artifact_refs))


def fields(changes: list[Change]) -> list[Field]:
    """Return the first differences, strings compared word by word as far as that may cost."""
    left = WORDS_BUDGET
    found = []
    for change in changes[:CHANGES_SHOWN]:
        old, new = change.old, change.new
        if old is not None and new is not None:
            left -= len(old) + len(new)
            pieces = words(old, new) if left > 0 and old[0] == new[0] == '"' else whole(old, new)
            found.append(Field(steps(change.path), change.operation, pieces, pieces))
        else:
            gone, came = (
                None if text is None else [Piece(kind, text)] for text, kind in ((old, "remove"), (new, "add"))
            )
            found.append(Field(steps(change.path), change.operation, gone, came))
    return found


def steps(pointer: str) -> list[str]:
    """Return the names and indexes of a JSON pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]

"""What each decision of a reviewer does to entries; nothing here writes. One batch, a fixed number of statements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec
from django.db import connection

from memories import reads
from memories.heads import Head
from memories.rows import Row
from memories.rules import lifecycle
from memories.rules.decisions import Item, Word
from memories.rules.kinds import Change, MemoryType, Status
from memories.rules.lifecycle import Cause, Place
from memories.rules.standing import Standing
from memories.rules.values import Value
from memories.services import guarding, ledger, marks, rollback, superseding, verdicts
from memories.services.acts import Act, Move, Next
from memories.services.marks import Marking
from memories.services.rollback import Earlier, NoSuchVersion
from memories.services.superseding import Replacement, Successors
from memories.viewers import Viewer
from senselab.errors import Conflict, Invalid, Refusal

# As history.Landmarks.recommended: not to a version that says what has just failed, if there is another.
LAST_VALIDATED = """
    SELECT e.id,
           CASE WHEN e.evidence_status IN ('contested', 'discredited')
                THEN coalesce(max(v.number) FILTER (WHERE c.digest <> now.digest), max(v.number))
                ELSE max(v.number) END
      FROM memories_entry e
      JOIN memories_claim now ON now.account_id = e.account_id AND now.id = e.claim_id
      JOIN memories_entryversion v ON v.account_id = e.account_id AND v.entry_id = e.id
                                  AND v.number < e.version AND v.evidence_status = 'validated'
      JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id AND c.content_hash <> ''
     WHERE e.account_id = %s AND e.id = ANY(%s)
     GROUP BY e.id, e.evidence_status
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a reviewer decided, with what that decision needs.

    `value`, `confidence`, `memory_type`: the new claim of an edit. `to_version`: of a rollback; None means the last
    validated one. `superseded_by` or `replacement`: what supersedes. `until`: of a snooze; None means until
    contradicted. `text`: of a comment.
    """

    word: Word
    value: Value | None = None
    confidence: float = 1.0
    memory_type: str = ""
    to_version: int | None = None
    superseded_by: str | None = None
    replacement: Replacement | None = None
    until: datetime | None = None
    text: str = ""

    def check(self, now: datetime) -> None:
        """:raises Invalid: something the decision needs is missing, or cannot be."""
        if self.word == Word.EDIT and self.value is None:
            raise Invalid("An edit needs the new value.", "/value")
        if self.memory_type and self.memory_type not in set(MemoryType):
            raise Invalid(f"A type is one of {', '.join(MemoryType)}.", "/memory_type")
        if self.word == Word.SUPERSEDE and (self.superseded_by is None) == (self.replacement is None):
            raise Invalid("Name the entry that supersedes, or say what to write in its place.", superseding.POINTER)
        if self.word == Word.SNOOZE and self.until is not None and self.until <= now:
            raise Invalid("A snooze ends in the future.", "/until")

    @property
    def is_written(self) -> bool:
        """Tell whether it makes versions."""
        return self.word not in {Word.SKIP, Word.COMMENT}

    def kind(self) -> str:
        return {Word.RESTORE: "rollback", Word.UNDO: "undo"}.get(self.word, "decision")

    def cause(self) -> str:
        """Return what a change set of it says brought it about."""
        if self.word == Word.ROLLBACK:
            return f"v{self.to_version}" if self.to_version else "the last validated version"
        return str(self.word)

    def marking(self, actor: str) -> Marking:
        """Return what it leaves on the review queue."""
        if self.word == Word.SNOOZE:
            return Marking(sees=False, snoozes=True, until=self.until)
        return Marking(sees=False, sent_by=actor) if self.word == Word.SEND else Marking()


@dataclass(slots=True)
class Batch:
    """Locked heads on their way to moves, with what deciding about them takes, read for all at once."""

    viewer: Viewer
    decision: Decision
    act: Act
    author: str
    heads: Sequence[Head]
    items: dict[int, Item]
    earlier: dict[int, Earlier] = field(default_factory=dict)
    silences: dict[int, tuple[float, datetime]] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)
    successors: Successors | None = None
    new: Move | None = None

    def prepare(self) -> None:
        """Read what the decision needs.

        :raises Refusal: nothing of it can be done.
        """
        account_id, word = self.viewer.account_id, self.decision.word
        if word in {Word.ROLLBACK, Word.RESTORE, Word.UNDO}:
            wanted = self._targets()
            self.earlier = rollback.earlier(account_id, list(wanted.items())) if wanted else {}
        if word == Word.UNDO and self.act.undoes_id is not None:
            self.silences = marks.silences(account_id, self.act.undoes_id, [head.id for head in self.heads])
        if word == Word.EDIT:
            found = reads.entries_by_ids(self.viewer, [head.id for head in self.heads])
            self.rows = {row.entry_id: row for row in found}
        if word == Word.SUPERSEDE and self.heads:
            self._succeed()

    def _targets(self) -> dict[int, int]:
        if self.decision.word != Word.ROLLBACK:
            return {head.id: to for head in self.heads if (to := self.items[head.id].to_version)}
        if self.decision.to_version is not None:
            return {head.id: self.decision.to_version for head in self.heads}
        return last_validated(self.viewer.account_id, [head.id for head in self.heads])

    def _succeed(self) -> None:
        superseding.lock(self.viewer.account_id)
        by, new = self.decision.superseded_by, self.decision.replacement
        if by is not None:
            self.successors = Successors(self.viewer, by, self.act.at)
        elif new is not None:
            self.new = superseding.replacement_move(self.viewer.account_id, self.heads[0], new, self.act, self.author)

    def moves(self) -> tuple[list[tuple[Head, Move]], dict[int, Refusal]]:
        """Return what happens to each entry, and why nothing happens to some."""
        planned: list[tuple[Head, Move]] = []
        refused: dict[int, Refusal] = {}
        for head in self.heads:
            try:
                planned.append((head, PLANS[self.decision.word](self, head)))
            except Refusal as refusal:
                refused[head.id] = refusal
        return planned, refused


def last_validated(account_id: int, ids: Sequence[int]) -> dict[int, int]:
    """Return the version to go back to of each entry that has one."""
    with connection.cursor() as cursor:
        cursor.execute(LAST_VALIDATED, [account_id, list(ids)])
        return dict(cursor.fetchall())


def _one(step: Next, head: Head) -> Move:
    return Move(steps=[step], head=head)


def accept(batch: Batch, head: Head) -> Move:
    return _one(verdicts.accepted(head, batch.act, keeps=True, change=Change.REVIEW), head)


def reject(batch: Batch, head: Head) -> Move:
    return _one(verdicts.rejected(head, batch.act, change=Change.REVIEW), head)


def edit(batch: Batch, head: Head) -> Move:
    """Write what the entry should have said: a new claim, kept by the one who edited it."""
    decision, act, row = batch.decision, batch.act, batch.rows[head.id]
    assert decision.value is not None  # Decision.check
    value = guarding.kept(decision.value, act.policy, key=head.key)
    if value.digest == head.claim.digest:
        raise Conflict("That is what it says already.")
    standing = Standing(decision.confidence)
    place = lifecycle.settle(Place(Status.ACTIVE), standing.confidence, cause=Cause.KEPT, policy=act.policy)
    state = replace(
        head.state.with_standing(standing, act.policy),
        memory_type=decision.memory_type or head.state.memory_type,
        status=place.status.value,
        held_at=place.held_at,
        freshness=1.0,
        ttl_at=None,
        superseded_by=None,
    )
    claim = ledger.claimed(
        value,
        agent_id=batch.author,
        session_id=act.actor.session_id,
        written_at=act.at,
        pattern_refs=tuple(row.pattern_refs),
        artifact_refs=msgspec.json.decode(row.artifact_refs),
    )
    step = Next(Change.WRITTEN, state, before=head.state.confidence)
    return Move(steps=[step], head=head, claim=claim, owner=head.owner)


def roll_back(batch: Batch, head: Head) -> Move:
    to = batch.decision.to_version
    if to is not None and to == head.version:
        raise Conflict(f"Version {to} is the current one.")
    target = batch.earlier.get(head.id)
    if target is None and to is not None:
        raise NoSuchVersion(f"There is no version {to}; they go from 1 to {head.version}.")
    if target is None:
        raise Conflict("No version of it was ever validated.")
    state = rollback.restored_state(head, target)
    return Move(steps=[Next(Change.ROLLBACK, state, before=head.state.confidence)], head=head, claim=target.claim)


def supersede(batch: Batch, head: Head) -> Move:
    if batch.new is not None:
        first = batch.heads[0]
        if (head.branch, head.owner) != (first.branch, first.owner):
            raise Conflict("What was written in the other entries' place cannot be seen from here.")
        by = "/".join(superseding.name_of(batch.new))
    else:
        assert batch.successors is not None  # Decision.check
        by = batch.successors.of(head).entry_key
    superseding.refuse_repeated(head, by)
    return _one(verdicts.superseded(head, batch.act, by), head)


def archive(batch: Batch, head: Head) -> Move:
    if head.state.status == Status.ARCHIVED:
        raise Conflict("It is archived already.")
    return _one(verdicts.archived(head, batch.act), head)


def send(batch: Batch, head: Head) -> Move:
    if head.state.status in {Status.ARCHIVED, Status.SUPERSEDED}:
        raise Conflict(f"It is {head.state.status}, so nobody relies on it.")
    return _one(verdicts.sent_to_review(head, batch.act), head)


def snooze(batch: Batch, head: Head) -> Move:
    return _one(verdicts.snoozed(head, batch.act), head)


def pin(batch: Batch, head: Head) -> Move:
    wanted = batch.decision.word == Word.PIN
    if head.state.pinned == wanted:
        raise Conflict("It is pinned already." if wanted else "It is not pinned.")
    return _one(verdicts.pinned(head, batch.act, pinned=wanted), head)


def restore(batch: Batch, head: Head) -> Move:
    """Make an entry what it was at a version; one that was not there before is archived, and stays so if said again."""
    before = batch.earlier.get(head.id)
    if before is None:
        return archive(batch, head)
    refuse_circle(batch, head)
    return rollback.inverse(head, before)


def undo(batch: Batch, head: Head) -> Move:
    refuse_circle(batch, head)
    return rollback.inverse(head, batch.earlier.get(head.id), batch.silences.get(head.id))


def refuse_circle(batch: Batch, head: Head) -> None:
    """:raises Conflict: as it was, the entry would be replaced by one that it replaces itself."""
    before = batch.earlier.get(head.id)
    if before is not None and rollback.closes_circle(batch.viewer.account_id, head, before):
        raise Conflict("As it was, it would be replaced by an entry that it replaces: that would be a circle.")


PLANS: dict[Word, Callable[[Batch, Head], Move]] = {
    Word.ACCEPT: accept,
    Word.REJECT: reject,
    Word.EDIT: edit,
    Word.ROLLBACK: roll_back,
    Word.SUPERSEDE: supersede,
    Word.ARCHIVE: archive,
    Word.SNOOZE: snooze,
    Word.PIN: pin,
    Word.UNPIN: pin,
    Word.SEND: send,
    Word.RESTORE: restore,
    Word.UNDO: undo,
}

"""A verdict on entries themselves (RULES.md 3): right, wrong or replaced; by people, or a user's words relayed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from django.db import transaction

from memories import heads
from memories.heads import Head
from memories.services import ledger, marks, superseding, verdicts
from memories.services.acts import Act, Actor, Move
from memories.services.marks import Marking
from memories.services.superseding import Replacement, Successors
from memories.services.writing import refuse_stale
from memories.viewers import Viewer
from senselab.errors import Conflict, Invalid, NotFound


class Verdict(StrEnum):
    """What feedback can say."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class Feedback:
    """A verdict, and what takes the place of an entry that is wrong or replaced: an entry key, or an entry to write."""

    verdict: Verdict
    note: str = ""
    superseded_by: str | None = None
    replacement: Replacement | None = None

    @property
    def replaces(self) -> bool:
        return self.verdict == Verdict.SUPERSEDED or self.superseded_by is not None or self.replacement is not None


@dataclass(frozen=True, slots=True)
class Given:
    """What feedback wrote: (entry id, version) of each entry, and the id of the replacement it created."""

    change_set_id: int
    versions: list[tuple[int, int]] = field(default_factory=list)
    replacement_id: int | None = None


def give(
    viewer: Viewer,
    entry_id: int,
    feedback: Feedback,
    *,
    actor: Actor,
    keeps: bool,
    author: str,
    now: datetime,
    expected: int | None = None,
) -> Given:
    """Judge one entry; see `give_all`.

    :raises StaleVersion: `expected` is given and is not the current version.
    """
    return give_all(viewer, {entry_id: expected}, feedback, actor=actor, keeps=keeps, author=author, now=now)


@transaction.atomic
def give_all(
    viewer: Viewer,
    entries: dict[int, int | None],
    feedback: Feedback,
    *,
    actor: Actor,
    keeps: bool,
    author: str,
    now: datetime,
) -> Given:
    """Judge entries alike, in one change set; `entries` are ids, each with the version expected or None.

    `keeps` says that the verdict comes from a person or a key with the scope review: then what is accepted is active
    again and held. `author` is who a replacement is written by.

    :raises NotFound: there is no such entry for the viewer, or its time to live is over.
    :raises Invalid: what shall replace it cannot; or an acceptance names a replacement.
    :raises Conflict: it is superseded by just that already, or the replacement's name is taken.
    """
    if feedback.verdict == Verdict.ACCEPTED and feedback.replaces:
        raise Invalid("What is accepted is not replaced.", superseding.POINTER)
    if feedback.superseded_by is not None and feedback.replacement is not None:
        raise Invalid("Either an entry that is there or a new one takes its place, not both.", "/replacement")
    if feedback.replaces:
        superseding.lock(viewer.account_id)
    found = present(viewer, list(entries), now)
    for head in found:
        refuse_stale(head, entries[head.id])
    cause = (
        (feedback.superseded_by or "superseded") if feedback.verdict == Verdict.SUPERSEDED else feedback.verdict.value
    )
    act = Act("feedback", actor, now, viewer.policy, reason=feedback.note, cause=cause)
    moves, new = plan(viewer, found, feedback, act, keeps=keeps, author=author)
    written = ledger.append(viewer.account_id, act, [*moves, *new])
    if written.change_set_id is None or not written.complete:
        raise Conflict("Somebody wrote an entry of the replacement's name just now.")
    if keeps:
        marks.settle(viewer.account_id, written.change_set_id, found, Marking(), now)
    versions = [(head.id, head.version + len(move.steps)) for head, move in zip(found, moves, strict=True)]
    return Given(written.change_set_id, versions, written.entry_ids[-1] if new else None)


def present(viewer: Viewer, ids: Sequence[int], now: datetime) -> list[Head]:
    """Return locked heads that the viewer may see and whose time is not over.

    :raises NotFound: one of them is not there.
    """
    found = heads.by_ids(viewer.account_id, ids, lock=True)
    seen = [head for head in found if is_visible(viewer, head) and not is_over(head, now)]
    if not ids or len(seen) < len(set(ids)):
        raise NotFound("There is no such entry.")
    return seen


def is_visible(viewer: Viewer, head: Head) -> bool:
    return viewer.sees(head.owner, head.entity_path)


def is_over(head: Head, now: datetime) -> bool:
    """Tell whether its time to live is over, swept or not."""
    return head.state.ttl_at is not None and head.state.ttl_at <= now


def plan(
    viewer: Viewer, found: Sequence[Head], feedback: Feedback, act: Act, *, keeps: bool, author: str
) -> tuple[list[Move], list[Move]]:
    """Return what feedback does to each entry, and the new entry that replaces them, if one shall."""
    by, new = feedback.superseded_by, []
    if feedback.replacement is not None:
        new = [superseding.replacement_move(viewer.account_id, found[0], feedback.replacement, act, author)]
        by = "/".join(superseding.name_of(new[0]))
    elif by is not None:
        successors = Successors(viewer, by, act.at)
        for head in found:
            successors.of(head)
    moves = []
    for head in found:
        if feedback.verdict == Verdict.SUPERSEDED:
            superseding.refuse_repeated(head, by)
        moves.append(Move(steps=_steps(head, feedback, act, by, keeps=keeps), head=head))
    return moves, new


def _steps(head: Head, feedback: Feedback, act: Act, by: str | None, *, keeps: bool) -> list[ledger.Next]:
    steps = []
    if feedback.verdict == Verdict.ACCEPTED:
        steps = [verdicts.accepted(head, act, keeps=keeps)]
    elif feedback.verdict == Verdict.REJECTED:
        steps = [verdicts.rejected(head, act)]
    if feedback.replaces:
        state = steps[-1].state if steps else None
        steps.append(verdicts.superseded(head, act, by, keeps=keeps, state=state))
    return steps

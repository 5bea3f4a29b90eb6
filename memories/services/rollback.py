"""Going back: to an earlier version of an entry, or to what was before a whole change set (RULES.md 7)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from memories import heads, reads
from memories.entry.successors import known
from memories.heads import STATE, Head
from memories.rules.kinds import Change, Status
from memories.rules.policy import Policy
from memories.rules.state import State
from memories.services import comments, ledger, marks
from memories.services.ledger import Act, Actor, Claimed, Move, Next
from memories.services.writing import refuse_stale, stale
from memories.viewers import Viewer
from senselab.errors import Conflict, NotFound

EARLIER = f"""
    SELECT v.entry_id, v.number, {", ".join(f"v.{name}" for name in STATE)},
           c.id, c.agent_id, c.session_id, c.written_at, c.digest, c.salt, c.content_hash, c.content
      FROM unnest(%s::bigint[], %s::int[]) AS asked(entry_id, number)
      JOIN memories_entryversion v ON v.account_id = %s AND v.entry_id = asked.entry_id AND v.number = asked.number
      JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
"""


class NoSuchVersion(NotFound):
    """There is no version of that number to go back to."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A version as it was: its state and the claim it stood on."""

    number: int
    state: State
    claim: Claimed


@dataclass(frozen=True, slots=True)
class Restored:
    """What a rollback wrote."""

    entry_id: int
    version: int
    change_set_id: int


@dataclass(frozen=True, slots=True)
class Left:
    """An entry that an undo left alone, as somebody changed it since."""

    entry_id: int
    entity_path: str
    key: str
    made: int
    current: int


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did: its own change set, how many entries went back, and which were left alone."""

    change_set_id: int
    restored: int
    left: list[Left]


def earlier(account_id: int, wanted: Sequence[tuple[int, int]]) -> dict[int, Earlier]:
    """Return versions by the id of their entry, given (entry id, number)."""
    with connection.cursor() as cursor:
        cursor.execute(EARLIER, [[entry_id for entry_id, _ in wanted], [number for _, number in wanted], account_id])
        found = cursor.fetchall()
    end = 2 + len(STATE)
    return {row[0]: Earlier(row[1], heads.state_of(row[2:end]), _claim(heads.plain(row[end:]))) for row in found}


def _claim(row: Sequence[Any]) -> Claimed:
    claim_id, agent_id, session_id, written_at, digest, salt, content_hash, content = row
    return Claimed(
        agent_id=agent_id,
        session_id=session_id,
        written_at=written_at,
        digest=digest,
        content_hash=content_hash,
        salt=salt,
        content=content,
        id=claim_id,
    )


def head_for(viewer: Viewer, entry_id: int) -> Head:
    """Return the head a viewer may see.

    :raises NotFound: there is none for them.
    """
    found = heads.by_ids(viewer.account_id, [entry_id])
    if not found or not viewer.sees(found[0].owner, found[0].entity_path):
        raise NotFound("There is no such entry.")
    return found[0]


def restored_state(head: Head, to: Earlier) -> State:
    """Return what rolling back to a version leaves: its claim and record, active, fresh, held, with no time to live.

    Who may see it and whether it is pinned are no part of what was learned and stay as they are.

    :raises Conflict: what it said was erased.
    """
    refuse_erased(to)
    return put_back(head, to.state)


def put_back(head: Head, state: State) -> State:
    """Return an earlier state as rolling back to it leaves it."""
    return replace(
        state,
        status=Status.ACTIVE.value,
        held_at=state.confidence,
        freshness=1.0,
        ttl_at=None,
        superseded_by=None,
        shared=head.state.shared,
        pinned=head.state.pinned,
    )


def refuse_erased(to: Earlier) -> None:
    """:raises Conflict: what an entry said at a version was erased."""
    if not to.claim.content_hash:
        raise Conflict(f"What version {to.number} said was erased; nothing brings it back.")


@transaction.atomic
def roll_back(
    viewer: Viewer, entry_id: int, *, to: int, expected: int, actor: Actor, policy: Policy, reason: str, now: datetime
) -> Restored:
    """Make an earlier version current again by writing it anew on top of the history.

    :raises NotFound: there is no such entry for the viewer, or no such version.
    :raises StaleVersion: somebody wrote since the caller looked at `expected`.
    :raises Conflict: the version is the current one.
    """
    head = head_for(viewer, entry_id)
    refuse_stale(head, expected)
    if to == head.version:
        raise Conflict(f"Version {to} is the current one.")
    target = earlier(viewer.account_id, [(head.id, to)]).get(head.id)
    if target is None:
        raise NoSuchVersion(f"There is no version {to}; they go from 1 to {head.version}.")
    act = Act("rollback", actor, now, policy, reason=reason, cause=f"v{to}")
    step = Next(Change.ROLLBACK, restored_state(head, target), before=head.state.confidence)
    written = ledger.append(viewer.account_id, act, [Move(steps=[step], head=head, claim=target.claim)])
    if written.change_set_id is None:
        raise stale(head_for(viewer, entry_id), expected)
    marks.settle(viewer.account_id, written.change_set_id, [head], marks.Marking(), now)
    return Restored(head.id, head.version + 1, written.change_set_id)


@transaction.atomic
def undo(viewer: Viewer, change_set_id: int, *, actor: Actor, policy: Policy, reason: str, now: datetime) -> Undone:
    """Write the inverse of a change set, entry by entry; what somebody changed since is listed and left alone.

    Undoing a creation archives the entry. An outcome that is undone stays in the ledger. Undoing a decision puts the
    entry back to its place in the review queue; undoing a comment takes it out of sight.

    :raises NotFound: there is no such change set for the viewer.
    :raises StaleVersion: it is a set of one, and that one was changed since.
    :raises Conflict: nothing of it is left to undo.
    """
    act = Act("undo", actor, now, policy, reason=reason, cause=f"change set {change_set_id}", undoes_id=change_set_id)
    spans = reads.spans_of(viewer, change_set_id)
    if not spans:
        return Undone(comments.withdraw(viewer, change_set_id, act), 0, [])
    found = {head.id: head for head in heads.by_ids(viewer.account_id, list(spans), lock=True)}
    left = [
        Left(head.id, head.entity_path, head.key, spans[head.id][1], head.version)
        for head in found.values()
        if head.version != spans[head.id][1]
    ]
    if left and len(found) == 1:
        raise stale(next(iter(found.values())), left[0].made)
    free = [head for head in found.values() if head.version == spans[head.id][1]]
    if not free:
        raise Conflict("All of it was changed since; nothing is left to undo.")
    before = earlier(viewer.account_id, [(head.id, spans[head.id][0] - 1) for head in free])
    taken = names_taken(viewer.account_id, free, before)
    taken |= {head.id for head in free if head.id in before and closes_circle(viewer.account_id, head, before[head.id])}
    left += [Left(head.id, head.entity_path, head.key, head.version, head.version) for head in free if head.id in taken]
    free = [head for head in free if head.id not in taken]
    if not free:
        raise Conflict("Another entry has its name by now, or two would replace each other.")
    silences = marks.silences(viewer.account_id, change_set_id, [head.id for head in free])
    moves = [inverse(head, before.get(head.id), silences.get(head.id)) for head in free]
    written = ledger.append(viewer.account_id, act, moves)
    if written.change_set_id is None:
        raise Conflict("All of it was changed since; nothing is left to undo.")
    if silences:
        marks.restore(viewer.account_id, undone=change_set_id, by=written.change_set_id, moved=free, now=now)
    return Undone(written.change_set_id, len(free), left)


def inverse(head: Head, before: Earlier | None, silence: tuple[float, datetime] | None = None) -> Move:
    """Return the move that makes an entry what it was before; without a version before, it is archived.

    `silence` is the freshness and the last access of that time, where they were kept.

    :raises Conflict: what it said then was erased.
    """
    if before is None:
        gone = replace(head.state, status=Status.ARCHIVED.value, held_at=None)
        return Move(steps=[Next(Change.ROLLBACK, gone, before=head.state.confidence)], head=head, access=False)
    refuse_erased(before)
    step = Next(Change.ROLLBACK, before.state, before=head.state.confidence)
    return Move(steps=[step], head=head, claim=before.claim, owner=owner_before(head, before), silence=silence)


def owner_before(head: Head, before: Earlier) -> str:
    """Return whose an entry was at an earlier version: '' of a shared one."""
    return "" if before.state.shared else head.owner or head.was_owner or before.claim.agent_id


def closes_circle(account_id: int, head: Head, before: Earlier) -> bool:
    """Tell whether an entry, as it was, would be replaced by one that it replaces itself, near or far."""
    by = before.state.superseded_by
    then = known(account_id, head, by) if by and by != head.state.superseded_by else None
    seen: set[int] = set()
    while then is not None and then.id not in seen:
        if then.id == head.id:
            return True
        seen.add(then.id)
        by = then.state.superseded_by
        then = known(account_id, then, by) if by else None
    return False


TAKEN = """
    SELECT g.id FROM unnest(%s::bigint[], %s::text[]) AS g(id, owner)
      JOIN memories_entry e ON e.account_id = %s AND e.id = g.id
      JOIN memories_entry o ON o.account_id = e.account_id AND o.branch = e.branch AND o.entity_path = e.entity_path
                           AND o.key = e.key AND o.owner = g.owner AND o.id <> e.id
"""


def names_taken(account_id: int, moved: Sequence[Head], before: dict[int, Earlier]) -> set[int]:
    """Return which entries, by id, cannot have their owner of before: somebody has an entry of that name there."""
    back = {head.id: owner_before(head, before[head.id]) for head in moved if head.id in before}
    owners = {head.id: back[head.id] for head in moved if head.id in back and back[head.id] != head.owner}
    if not owners:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(TAKEN, [list(owners), list(owners.values()), account_id])
        return {entry_id for (entry_id,) in cursor.fetchall()}

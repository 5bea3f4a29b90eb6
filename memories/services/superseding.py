"""Saying that an entry has been replaced, by another one or by nothing (RULES.md 3)."""

from dataclasses import dataclass, replace
from datetime import datetime

from django.db import connection, transaction

from memories import heads
from memories.heads import Head
from memories.rules.kinds import Change, Status
from memories.rules.policy import Policy
from memories.rules.silence import Silence
from memories.services import ledger
from memories.services.ledger import Act, Actor, Move, Next
from memories.services.rollback import head_for
from memories.services.writing import refuse_stale
from memories.viewers import Viewer
from senselab.errors import Conflict, Invalid

LOCK = 7201
POINTER = "/superseded_by"
NAMED = """
    e.branch = %s AND e.owner = ANY(%s)
    AND (e.entity_path, e.key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
"""


@dataclass(frozen=True, slots=True)
class Superseded:
    """What superseding wrote."""

    entry_id: int
    version: int
    change_set_id: int


@transaction.atomic
def supersede(
    viewer: Viewer,
    entry_id: int,
    *,
    by: str | None,
    actor: Actor,
    policy: Policy,
    reason: str,
    now: datetime,
    expected: int | None = None,
) -> Superseded:
    """Mark an entry as replaced by the entry of that key, or by nothing; its confidence stays.

    :raises NotFound: there is no such entry for the viewer.
    :raises StaleVersion: somebody wrote since the caller looked at `expected`.
    :raises Invalid: nobody who sees the entry knows one of the key `by`, it is the entry itself, or it is itself
        replaced by this one, near or far.
    :raises Conflict: the entry is superseded by just that already.
    """
    # Two that replace each other at the same moment would make a circle that neither could see.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, viewer.account_id])
    head_for(viewer, entry_id)
    (head,) = heads.by_ids(viewer.account_id, [entry_id], lock=True)
    refuse_stale(head, expected)
    if head.state.status == Status.SUPERSEDED and head.state.superseded_by == by:
        raise Conflict("It is superseded by that already.")
    if by is not None:
        refuse_circle(viewer.account_id, head, by)
    act = Act("feedback", actor, now, policy, reason=reason, cause=by or "")
    written = ledger.append(viewer.account_id, act, [Move(steps=[replaced(head, by, policy, now)], head=head)])
    assert written.change_set_id is not None  # the head is locked
    return Superseded(head.id, head.version + 1, written.change_set_id)


def replaced(head: Head, by: str | None, policy: Policy, now: datetime) -> Next:
    """Return the version that says an entry was replaced: only its place in life moves, and a hold ends."""
    silence = Silence(head.state, head.kept, head.accessed_at, head.recall_count)
    state = replace(
        head.state,
        status=Status.SUPERSEDED.value,
        superseded_by=by,
        held_at=None,
        freshness=silence.earned(now, policy),
    )
    return Next(Change.SUPERSEDED, state, before=head.state.confidence)


def refuse_circle(account_id: int, head: Head, by: str) -> None:
    """:raises Invalid: following successors from `by` leads nowhere, or back to the entry itself."""
    followed: set[int] = set()
    key: str | None = by
    while key is not None:
        successor = known(account_id, head, key)
        if successor is None or successor.id in followed:
            break
        if successor.id == head.id:
            words = "An entry cannot replace itself." if not followed else f"{by} was itself replaced by this entry."
            raise Invalid(words, POINTER)
        followed.add(successor.id)
        key = successor.state.superseded_by
    if not followed:
        raise Invalid(f"There is no entry {by!r} for those who see this one.", POINTER)


def known(account_id: int, head: Head, entry_key: str) -> Head | None:
    """Return the entry of a key that all who see `head` know: its owner's private one first, the shortest key first."""
    splits = [(entry_key[:at], entry_key[at + 1 :]) for at, letter in enumerate(entry_key) if letter == "/"]
    parameters = [head.branch, ["", head.owner], [path for path, _ in splits], [key for _, key in splits]]
    found = heads.read(account_id, NAMED, parameters)
    return max(found, key=lambda other: (other.owner != "", len(other.entity_path)), default=None)

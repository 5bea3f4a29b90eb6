"""Saying that an entry has been replaced: by another one, by a new one written in the same act, or by nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import connection, transaction

from memories import heads
from memories.entry.successors import known
from memories.heads import Head, Name
from memories.rules.kinds import Status
from memories.rules.names import KEY_BYTES
from memories.rules.policy import Policy
from memories.rules.values import Value
from memories.services import ledger, verdicts, writing
from memories.services.acts import Act, Actor, Move
from memories.services.rollback import head_for
from memories.services.writing import Draft, refuse_stale
from memories.viewers import Viewer
from senselab.errors import Conflict, Invalid

LOCK = 7201
POINTER = "/superseded_by"
SUCCESSORS = 1_000
TAKEN = """
    SELECT e.key FROM memories_entry e
     WHERE e.account_id = %s AND e.branch = %s AND e.entity_path = %s AND e.owner = %s AND e.key = ANY(%s)
"""
REPLACED = """
    SELECT e.branch, e.entity_path, e.key, e.owner FROM memories_entry e
     WHERE {visible} AND e.branch = %(branch)s AND e.superseded_by = %(key)s
     ORDER BY e.entity_path, e.key, e.owner LIMIT 100
"""


@dataclass(frozen=True, slots=True)
class Superseded:
    """What superseding wrote."""

    entry_id: int
    version: int
    change_set_id: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """An entry to be written in the place of another; without names it stands beside it under a key of its own."""

    value: Value
    entity_path: str = ""
    key: str = ""
    confidence: float = 1.0
    memory_type: str = ""
    on_probation: bool = False


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
    lock(viewer.account_id)
    head_for(viewer, entry_id)
    (head,) = heads.by_ids(viewer.account_id, [entry_id], lock=True)
    refuse_stale(head, expected)
    refuse_repeated(head, by)
    if by is not None:
        Successors(viewer, by, now).of(head)
    act = Act("feedback", actor, now, policy, reason=reason, cause=by or "")
    written = ledger.append(viewer.account_id, act, [Move(steps=[verdicts.superseded(head, act, by)], head=head)])
    assert written.change_set_id is not None  # the head is locked
    return Superseded(head.id, head.version + 1, written.change_set_id)


def lock(account_id: int) -> None:
    """Let nobody else replace entries until the transaction ends.

    Two that replace each other at the same moment would make a circle that neither could see.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, account_id])


def refuse_repeated(head: Head, by: str | None) -> None:
    """:raises Conflict: the entry is superseded by just that already."""
    if head.state.status == Status.SUPERSEDED and head.state.superseded_by == by:
        raise Conflict("It is superseded by that already." if by else "It is superseded already.")


class Successors:
    """The entry of a key, asked for by each of those it shall replace: who sees one of them must know the successor."""

    def __init__(self, viewer: Viewer, by: str, now: datetime) -> None:
        self.viewer, self.by, self.now = viewer, by, now
        self._found: dict[tuple[str, str], tuple[Head, set[int]]] = {}

    def of(self, head: Head) -> Head:
        """Return what shall replace an entry.

        :raises Invalid: there is no such entry for those who see this one, it is this one, or it was itself replaced
            by this one, near or far.
        :raises Conflict: it is archived, so that nothing would be left.
        """
        place = (head.branch, head.owner)
        if place not in self._found:
            self._found[place] = self._follow(head)
        successor, chain = self._found[place]
        if successor.id == head.id:
            raise Invalid("An entry cannot replace itself.", POINTER)
        if head.id in chain:
            raise Invalid(f"{self.by} was itself replaced by this entry: that would be a circle.", POINTER)
        return successor

    def _follow(self, head: Head) -> tuple[Head, set[int]]:
        successor = known(self.viewer.account_id, head, self.by, viewer=self.viewer)
        if successor is None or (successor.state.ttl_at is not None and successor.state.ttl_at <= self.now):
            raise Invalid(f"There is no entry {self.by!r} for those who see this one.", POINTER)
        if successor.state.status == Status.ARCHIVED:
            raise Conflict(f"{self.by} is archived; what replaces an entry has to be in use.")
        chain: set[int] = set()
        then: Head | None = successor
        while then is not None and then.id not in chain and len(chain) < SUCCESSORS:
            chain.add(then.id)
            after = then.state.superseded_by
            then = known(self.viewer.account_id, then, after) if after else None
        return successor, chain


def replacement_move(account_id: int, head: Head, new: Replacement, act: Act, author: str) -> Move:
    """Return the move that writes a new entry in the place of another, to which it refers.

    :raises Conflict: there is an entry of that name already.
    """
    path = new.entity_path or head.entity_path
    key = new.key or free_key(account_id, head, path)
    if new.key and _taken(account_id, head, path, [key]):
        raise Conflict(
            f"There is an entry {path}/{key} already; name it in superseded_by to let it take this one's place."
        )
    draft = Draft(
        entity_path=path,
        key=key,
        value=new.value,
        agent_id=author,
        confidence=new.confidence,
        memory_type=new.memory_type or head.state.memory_type,
        shared=head.state.shared,
        branch=head.branch,
        pattern_refs=(head.entry_key,),
        on_probation=new.on_probation,
    )
    # Whoever writes it, it belongs to the one whose entry it replaces.
    return replace(writing.plan(draft, None, act), owner=head.owner)


def name_of(move: Move) -> Name:
    return Name(move.entity_path, move.key)


def free_key(account_id: int, head: Head, path: str) -> str:
    """Return a key like the entry's with the next number that is free: retry-pattern-2."""
    match = re.fullmatch(r"(.+)-([1-9]\d{0,5})", head.key, re.DOTALL)
    base, first = (match[1], int(match[2]) + 1) if match else (head.key, 2)
    while len(base.encode()) > KEY_BYTES - 10:
        base = base[:-1]
    candidates = [f"{base}-{number}" for number in range(first, first + SUCCESSORS)]
    taken = _taken(account_id, head, path, candidates)
    return next(key for key in [*candidates, f"{base}-{first + SUCCESSORS}"] if key not in taken)


def _taken(account_id: int, head: Head, path: str, keys: Sequence[str]) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(TAKEN, [account_id, head.branch, path, head.owner, list(keys)])
        return {key for (key,) in cursor.fetchall()}


def supersedes(viewer: Viewer, branch: str, entry_key: str) -> list[dict[str, str]]:
    """Return what names an entry as its successor, as far as the viewer may see it: the reverse of superseded_by."""
    with connection.cursor() as cursor:
        sql = REPLACED.format(visible=viewer.visible())
        cursor.execute(sql, {**viewer.parameters, "branch": branch, "key": entry_key})
        names = ("branch", "entity_path", "key", "owner")
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

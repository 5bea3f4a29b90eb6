"""How an entry comes about and is rewritten (RULES.md 7 and 8)."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db import IntegrityError, connection, transaction

from memories import heads
from memories.heads import Head, Name
from memories.rules import claims, integrity, lifecycle
from memories.rules.kinds import Change, Status
from memories.rules.lifecycle import Cause, Place
from memories.rules.policy import Policy
from memories.rules.silence import Silence
from memories.rules.standing import Standing
from memories.rules.state import State
from memories.rules.values import Value
from memories.services import guarding, ledger
from memories.services.ledger import Act, Actor, Claimed, Move, Next, Written
from senselab.errors import StaleVersion

# Whether a caller said nothing about a field, which on a rewrite of the same claim keeps what was there.
KEEP: Any = object()
ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class Draft:
    """What somebody wants to write; names and ranges are checked at the door.

    `ttl_at` None clears it, `KEEP` leaves it; `pinned` likewise.
    """

    entity_path: str
    key: str
    value: Value
    agent_id: str
    confidence: float = 1.0
    memory_type: str = "fact"
    shared: bool = True
    branch: str = "main"
    pattern_refs: tuple[str, ...] = ()
    artifact_refs: Sequence[Mapping[str, Any]] = ()
    ttl_at: datetime | None = KEEP
    pinned: bool = KEEP
    importance_score: float | None = None
    importance_dimensions: Mapping[str, float] | None = None
    embedding: Sequence[float] | None = None
    reason: str = ""
    # Whether keys and tokens in it were looked for already.
    is_guarded: bool = False
    # Whether its author is on probation: what is new in it waits for somebody else.
    on_probation: bool = False

    @property
    def name(self) -> Name:
        return Name(self.entity_path, self.key)

    def guarded(self, policy: Policy) -> "Draft":
        """Return it as the account's rule about keys and tokens lets it be stored.

        :raises Refused: it holds one and the account refuses those, or it cannot be looked through in time.
        """
        if self.is_guarded or not guarding.acts_before(policy):
            return self
        value = guarding.kept(self.value, policy, key=self.key)
        references = guarding.kept_references(self.artifact_refs, policy)
        return replace(self, value=value, artifact_refs=references, is_guarded=True)


@dataclass(frozen=True, slots=True)
class Stored:
    """What a write left: the head before it (None: it is new), the claim, the state, the version and its change set."""

    before: Head | None
    claim: Claimed
    state: State
    version: int
    entry_id: int
    change_set_id: int
    integrity_chain: str
    on_probation: bool = False


def target(found: Sequence[Head], *, branch: str, shared: bool) -> Head | None:
    """Return the entry a write goes to, of the shared and the caller's private one of a name (RULES.md 8).

    A shared write of somebody who has only a private entry publishes that.
    """
    common = next((head for head in found if head.owner == "" and head.branch == branch), None)
    own = next((head for head in found if head.owner != "" and head.branch == branch), None)
    return (common or own) if shared else own


def before(found: Sequence[Head], *, branch: str, shared: bool) -> int:
    """Return the version of main that the first write on a branch goes on from (contract.md 3.16), 0 without one."""
    return next((head.version for head in found if head.branch != branch and (head.owner == "") == shared), 0)


def write(
    account_id: int,
    draft: Draft,
    *,
    actor: Actor,
    policy: Policy,
    now: datetime,
    expected: int | None = None,
    seen: Sequence[Head] | None = None,
) -> Stored:
    """Write an entry or its next version; `seen` are heads of its name already read.

    :raises StaleVersion: `expected` is given and is not the current version (0: there is none).
    :raises Refused: it holds a key or a token and the account refuses those.
    """
    draft = draft.guarded(policy)
    act = Act("write", actor, now, policy, reason=draft.reason)
    # Nobody waits for a lock unless two write the same entry at once; who loses decides again, then under a lock.
    for attempt in range(ATTEMPTS):
        fresh = seen is None or attempt > 0
        found = heads.named(account_id, draft.branch, draft.name, draft.agent_id) if fresh else seen
        done = _write(account_id, draft, act, found or (), expected)
        if done is not None:
            return done
    while True:
        with transaction.atomic():
            found = heads.named(account_id, draft.branch, draft.name, draft.agent_id, lock=True)
            done = _write(account_id, draft, act, found, expected)
        # A head that was found is locked and cannot move; only two first writes of one name can still meet here.
        if done is not None:
            return done


def _write(account_id: int, draft: Draft, act: Act, found: Sequence[Head], expected: int | None) -> Stored | None:
    move = planned(draft, found, act)
    head = move.head
    refuse_stale(head, expected, since=move.since)
    publishes = head is not None and head.owner != "" and draft.shared
    written = _publish(account_id, act, move) if publishes else ledger.append(account_id, act, [move])
    return stored(move, written.entry_ids[0], written.change_set_id)


def stored(move: Move, entry_id: int | None, change_set_id: int | None) -> Stored | None:
    """Return what writing a planned draft left, None when somebody was first."""
    head = move.head
    if entry_id is None or change_set_id is None or move.claim is None:
        return None
    version = move.number + 1
    chain = integrity.chain(move.claim.content_hash, head.integrity_chain if head else None)
    state = move.steps[0].state
    waits = ledger.on_probation(move, state)
    return Stored(head, move.claim, state, version, entry_id, change_set_id, chain, waits)


def _publish(account_id: int, act: Act, move: Move) -> Written:
    """Write what makes a private entry shared, or nothing when somebody wrote a shared one of its name meanwhile."""
    try:
        # Inside somebody's transaction a savepoint keeps that usable; outside of one it would cost two round trips.
        with transaction.atomic() if connection.in_atomic_block else nullcontext():
            return ledger.append(account_id, act, [move])
    except IntegrityError as error:
        if "an_entry_key_is_taken_once" not in str(error):
            raise
        return Written(None, [None])


def refuse_stale(head: Head | None, expected: int | None, *, since: int = 0) -> None:
    """:raises StaleVersion: the caller expected another version than there is, or than main's `since`."""
    if expected is not None and expected != (head.version if head else since):
        raise stale(head, expected, since=since)


def stale(head: Head | None, expected: int, *, since: int = 0) -> StaleVersion:
    """Return the refusal that tells what is current and where to see what changed since."""
    current = head.version if head else since
    extra: dict[str, Any] = {"current_version": current, "expected_version": expected}
    if head and 1 <= expected < current:
        asked = {"entity_path": head.entity_path, "key": head.key, "branch": head.branch}
        extra["diff"] = f"/api/v1/diff?{urlencode({**asked, 'from': expected, 'to': current})}"
    return StaleVersion(f"You looked at version {expected}; the current one is {current}.", extra=extra)


def planned(draft: Draft, found: Sequence[Head], act: Act) -> Move:
    """Return what writing a draft does, of the heads found of its name."""
    head = target(found, branch=draft.branch, shared=draft.shared)
    since = 0 if head else before(found, branch=draft.branch, shared=draft.shared)
    return plan(draft, head, act, since=since)


def plan(draft: Draft, head: Head | None, act: Act, *, since: int = 0) -> Move:
    """Return what writing a draft over an entry as it stands does (RULES.md 7, same claim).

    :raises Refused: it holds a key or a token and the account refuses those.
    """
    draft = draft.guarded(act.policy)
    claim = ledger.claimed(
        draft.value,
        agent_id=draft.agent_id,
        session_id=act.actor.session_id,
        written_at=act.at,
        pattern_refs=draft.pattern_refs,
        artifact_refs=draft.artifact_refs,
        embedding=draft.embedding,
    )
    state = first_state(draft, act.policy) if head is None else next_state(draft, head, act)
    waits = draft.on_probation and (head is None or head.claim.digest != draft.value.digest)
    if waits:
        state = replace(state, status=Status.UNDER_REVIEW.value, held_at=None)
    return Move(
        steps=[Next(Change.WRITTEN if head else Change.CREATED, state, before=head.state.confidence if head else None)],
        head=head,
        branch=draft.branch,
        entity_path=draft.entity_path,
        key=draft.key,
        owner="" if draft.shared else draft.agent_id,
        since=since,
        claim=claim,
        importance_score=draft.importance_score,
        importance_dimensions=draft.importance_dimensions,
        on_probation=waits,
    )


def first_state(draft: Draft, policy: Policy) -> State:
    place = lifecycle.settle(Place(Status.ACTIVE), draft.confidence, cause=Cause.CLAIMED, policy=policy)
    state = State().with_standing(Standing(float(draft.confidence)), policy)
    return replace(
        state,
        memory_type=draft.memory_type,
        status=place.status,
        shared=draft.shared,
        ttl_at=None if draft.ttl_at is KEEP else draft.ttl_at,
        pinned=False if draft.pinned is KEEP else draft.pinned,
    )


def next_state(draft: Draft, head: Head, act: Act) -> State:
    old, policy, now = head.state, act.policy, act.at
    silence = Silence(old, head.kept, head.accessed_at, head.recall_count)
    carried = claims.carry_over(
        old.standing,
        status=Status(old.status),
        same=draft.value.digest == head.claim.digest,
        confidence=float(draft.confidence),
        superseded_by=old.superseded_by,
        expired=old.ttl_at is not None and old.ttl_at <= now,
        # Only what was judged has a prior: by outcomes, by feedback or evidence, or by a decision (verdicts.judged).
        judged=old.triple_prior is not None,
    )
    cause = Cause.RESTATED if carried.kept else Cause.CLAIMED
    freshness = silence.earned(now, policy) if carried.kept else 1.0
    place = lifecycle.settle(
        Place(carried.status, old.held_at if carried.kept else None),
        carried.standing.confidence * freshness,
        cause=cause,
        policy=policy,
        before=silence.effective(now, policy) if carried.kept else None,
    )
    ttl_at = draft.ttl_at
    if ttl_at is KEEP:
        ttl_at = old.ttl_at if carried.kept else None
    return replace(
        old.with_standing(carried.standing, policy),
        memory_type=draft.memory_type,
        status=place.status,
        held_at=place.held_at,
        freshness=freshness,
        shared=draft.shared,
        superseded_by=carried.superseded_by,
        ttl_at=ttl_at,
        pinned=old.pinned if draft.pinned is KEEP else draft.pinned,
    )

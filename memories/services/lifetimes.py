"""How the time to live of an entry is set and cleared by a person, or a key that may decide (RULES.md 4)."""

from dataclasses import replace
from datetime import datetime

from django.db import transaction

from memories.heads import Head
from memories.rules import lifecycle
from memories.rules.kinds import Change, Status
from memories.rules.lifecycle import Cause, Place
from memories.rules.policy import Policy
from memories.rules.silence import Silence
from memories.rules.state import State
from memories.services import feedback, ledger
from memories.services.ledger import Act, Actor, Move, Next
from memories.services.writing import refuse_stale
from memories.viewers import Viewer
from senselab.errors import Conflict, Invalid


@transaction.atomic
def set_ttl(
    viewer: Viewer,
    entry_id: int,
    ttl_at: datetime | None,
    *,
    expected: int | None,
    actor: Actor,
    policy: Policy,
    reason: str,
    now: datetime,
) -> ledger.Written:
    """Set the moment at which an entry expires, or clear it with None; nothing else about it changes.

    :raises NotFound: there is no such entry for the viewer, or its time is over.
    :raises StaleVersion: `expected` is not the current version.
    :raises Invalid: the moment names no time zone, or is not in the future.
    :raises Conflict: that is its time to live already.
    """
    if ttl_at is not None and (ttl_at.tzinfo is None or ttl_at <= now):
        raise Invalid("A time to live ends in the future, at a moment that names its time zone.", "/ttl_at")
    (head,) = feedback.present(viewer, [entry_id], now)
    refuse_stale(head, expected)
    if head.state.ttl_at == ttl_at:
        raise Conflict("It has no time to live already." if ttl_at is None else "It expires then already.")
    act = Act("review", actor, now, policy, reason=reason, cause="time to live")
    step = Next(Change.REVIEW, lived(head, ttl_at, act), before=head.state.confidence)
    return ledger.append(viewer.account_id, act, [Move([step], head)])


def lived(head: Head, ttl_at: datetime | None, act: Act) -> State:
    """Return the state with another time to live; deciding is using, so what silence took by now is kept."""
    silence = Silence(head.state, head.kept, head.accessed_at, head.recall_count)
    place = lifecycle.settle(
        Place(Status(head.state.status), head.state.held_at),
        silence.effective(act.at, act.policy),
        cause=Cause.DECAY,
        policy=act.policy,
    )
    return replace(
        head.state,
        status=place.status.value,
        held_at=place.held_at,
        freshness=silence.earned(act.at, act.policy),
        ttl_at=ttl_at,
    )

"""What was observed about an entry beside outcomes: each observation counts once and may move the confidence."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from memories.services import ledger, verdicts
from memories.services.acts import Act, Actor, Move
from memories.services.feedback import present
from memories.services.writing import refuse_stale
from memories.viewers import Viewer
from senselab.errors import Invalid

LONGEST = 10_000
COUNTED = """
    SELECT x.version_made FROM memories_evidence x
     WHERE x.account_id = %s AND x.entry_id = %s AND x.observation_id = %s AND x.observation_id <> ''
"""
KEEP = """
    INSERT INTO memories_evidence (account_id, entry_id, observation_id, at, added_at, description, delta, actor_kind,
                                   actor, version_made, change_set_id)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


@dataclass(frozen=True, slots=True)
class Observed:
    """A piece of evidence: when it was seen, what it is, and by which name it is known ('': none)."""

    at: datetime
    description: str
    observation_id: str = ""
    delta: float = 0.0


@dataclass(frozen=True, slots=True)
class Added:
    """What evidence wrote; repeated evidence writes nothing and has no change set."""

    entry_id: int
    version: int
    change_set_id: int | None

    @property
    def repeated(self) -> bool:
        return self.change_set_id is None


@transaction.atomic
def add(
    viewer: Viewer, entry_id: int, seen: Observed, *, actor: Actor, now: datetime, expected: int | None = None
) -> Added:
    """Add evidence to an entry; an observation that was counted already changes nothing.

    :raises NotFound: there is no such entry for the viewer, or its time to live is over.
    :raises StaleVersion: `expected` is given and is not the current version.
    :raises Invalid: the description is empty or too long, or the delta is not between -1 and 1.
    """
    checked(seen)
    (head,) = present(viewer, [entry_id], now)
    with connection.cursor() as cursor:
        cursor.execute(COUNTED, [viewer.account_id, entry_id, seen.observation_id])
        if cursor.fetchone() is not None:
            return Added(entry_id, head.version, None)
    refuse_stale(head, expected)
    act = Act("evidence", actor, now, viewer.policy, reason=seen.description[:2_000], cause=seen.observation_id)
    step = verdicts.observed(head, act, seen.delta)
    written = ledger.append(viewer.account_id, act, [Move(steps=[step], head=head)])
    assert written.change_set_id is not None  # the head is locked
    made = head.version + 1
    with connection.cursor() as cursor:
        cursor.execute(
            KEEP,
            [
                viewer.account_id,
                entry_id,
                seen.observation_id,
                seen.at,
                now,
                seen.description,
                seen.delta,
                actor.kind,
                actor.name,
                made,
                written.change_set_id,
            ],
        )
    return Added(entry_id, made, written.change_set_id)


def checked(seen: Observed) -> None:
    """:raises Invalid: something in it cannot be."""
    if not seen.description.strip() or len(seen.description) > LONGEST or "\0" in seen.description:
        raise Invalid(f"A description has 1 to {LONGEST:,} characters, none of them NUL.", "/evidence/description")
    if not -1 <= seen.delta <= 1:
        raise Invalid("confidence_delta lies between -1 and 1.", "/confidence_delta")

"""Taking what an agent wrote back to a moment: new versions with the old values, nothing deleted (contract.md 3.16)."""

from dataclasses import dataclass, replace
from datetime import datetime

from django.db import connection, transaction

from memories import heads
from memories.rules.kinds import Change, Status
from memories.rules.policy import Policy
from memories.services import ledger, marks, rollback
from memories.services.ledger import Act, Actor, Move, Next
from memories.viewers import Viewer
from senselab.errors import Conflict, Refusal

MOST = 1_000
GONE = {Status.ARCHIVED.value, Status.SUPERSEDED.value}
# What an agent is the author of, now or then, that moved since; and the version that stood then, NULL of none.
MOVED = """
    SELECT e.id, was.number
      FROM memories_entry e
      LEFT JOIN LATERAL (
        SELECT v.number, v.claim_id FROM memories_entryversion v
         WHERE v.account_id = e.account_id AND v.entry_id = e.id AND v.at <= %(at)s ORDER BY v.number DESC LIMIT 1
      ) was ON TRUE
      LEFT JOIN memories_claim c ON c.account_id = e.account_id AND c.id = was.claim_id
     WHERE {visible} AND e.branch = %(branch)s AND e.changed_at > %(at)s
       AND (e.agent_id = %(author)s OR c.agent_id = %(author)s)
       AND coalesce(was.number, 0) < e.version
     ORDER BY e.id LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class WentBack:
    """What going back to a moment did: its change set (None: nothing had moved), and how many entries it wrote."""

    change_set_id: int | None
    restored: int
    archived: int


@transaction.atomic
def roll_back_to(
    viewer: Viewer, author: str, at: datetime, *, branch: str, actor: Actor, policy: Policy, reason: str, now: datetime
) -> WentBack:
    """Write what an agent's entries were at a moment on top of their history; what came later is archived.

    :raises Refusal: more than 1,000 entries moved since.
    :raises Conflict: somebody wrote one of them meanwhile.
    """
    wanted = moved(viewer, author, at, branch)
    if len(wanted) > MOST:
        raise Refusal(f"More than {MOST:,} entries changed since; go back in smaller steps, or entry by entry.")
    found = heads.by_ids(viewer.account_id, list(wanted), lock=True)
    earlier = rollback.earlier(viewer.account_id, [(head.id, n) for head in found if (n := wanted[head.id])])
    moves = [move for head in found if (move := _move(head, earlier.get(head.id)))]
    if not moves:
        return WentBack(None, 0, 0)
    act = Act("rollback", actor, now, policy, reason=reason, cause=f"{author} as of {at.isoformat()}")
    written = ledger.append(viewer.account_id, act, moves)
    if written.change_set_id is None or not written.complete:
        raise Conflict("Somebody wrote one of these entries meanwhile; try again.")
    settled = [move.head for move in moves if move.head]
    marks.settle(viewer.account_id, written.change_set_id, settled, marks.Marking(), now)
    back = sum(move.claim is not None for move in moves)
    return WentBack(written.change_set_id, back, len(moves) - back)


def moved(viewer: Viewer, author: str, at: datetime, branch: str) -> dict[int, int | None]:
    """Return what moved since, by entry id: the number that stood then."""
    values = {**viewer.parameters, "author": author, "at": at, "branch": branch, "most": MOST + 1}
    with connection.cursor() as cursor:
        cursor.execute(MOVED.format(visible=viewer.visible()), values)
        return dict(cursor.fetchall())


def _move(head: heads.Head, earlier: rollback.Earlier | None) -> Move | None:
    """Return the move back, None of what came later and is archived already, or was erased."""
    if earlier is None:
        return None if head.state.status in GONE else rollback.inverse(head, None)
    if not earlier.claim.content_hash:
        # What it said then was erased: nothing to go back to.
        return None
    state = rollback.restored_state(head, earlier)
    if earlier.state.status in GONE:
        state = replace(state, status=earlier.state.status, superseded_by=earlier.state.superseded_by)
    step = Next(Change.ROLLBACK, state, before=head.state.confidence)
    return Move(steps=[step], head=head, claim=earlier.claim)

"""Sends entries to review that seem to hold a key or a token, where the account lets them be stored at all.

A run begins where the one before came to, by when claims changed. An entry is sent once for what it says: whoever keeps
it is not asked again until it says something else. Only the kind of what was found is told.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction

from memories import heads, screening
from memories.jobs.likeness import Reached, reached
from memories.jobs.runs import Run
from memories.rules.decisions import Word
from memories.rules.kinds import SecretsRule, Status
from memories.rules.policy import Policy
from memories.services import guarding, ledger, marks, verdicts
from memories.services.acts import Act, Actor, Move
from memories.services.marks import Marking
from memories.viewers import account_policy
from senselab.accounts.models import Account

# Of a run: so many new claims at most, so many at a time.
CLAIMS, TOGETHER = 1_000, 100
# A claim that a transaction wrote for so long is not missed.
OVERLAP = timedelta(minutes=2)
ACTOR = Actor("job", "secrets")
SLOW = "It takes too long to look through for keys and tokens"

NEW = """
    SELECT e.id, t.reworded_at, c.id, c.value, c.artifact_refs::text
      FROM memories_entrytext t
      JOIN memories_entry e ON e.account_id = t.account_id AND e.id = t.entry_id
      JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
     WHERE t.account_id = %(account)s AND (t.reworded_at, t.entry_id) > (%(after)s, %(after_id)s)
     ORDER BY t.reworded_at, t.entry_id LIMIT %(most)s
"""
# Who was sent here for the same words before.
SENT = """
    SELECT e.id FROM memories_entry e
      JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
     WHERE e.account_id = %(account)s AND e.id = ANY(%(ids)s) AND EXISTS (
           SELECT 1 FROM memories_entryversion v
             JOIN memories_changeset s ON s.account_id = v.account_id AND s.id = v.change_set_id
             JOIN memories_claim k ON k.account_id = v.account_id AND k.id = v.claim_id
            WHERE v.account_id = e.account_id AND v.entry_id = e.id AND v.change = 'review'
              AND s.actor_kind = 'job' AND s.actor = %(actor)s AND k.digest = c.digest)
"""


class Found(NamedTuple):
    """An entry whose claim seems to hold a key, and what is said of it."""

    entry_id: int
    claim_id: int
    words: str


def flag(account: Account, now: datetime, run: Run | None = None) -> int:
    """Look through what was written since the run before and send to review what seems to hold a key."""
    run = run or Run()
    policy = account_policy(account)
    if policy.secrets == SecretsRule.OFF:
        return 0
    place, looked = reached(run.before), 0
    while looked < CLAIMS:
        rows = _rows(NEW, {"account": account.pk, **place._asdict(), "most": TOGETHER})
        found = [one for row in rows if (one := look(row)) is not None]
        changed = send(account.pk, found, policy, now)
        place = Reached(rows[-1][1], rows[-1][0]) if rows else place
        looked += len(rows)
        run.terms |= place.terms
        run.keep()
        run.step(looked=len(rows), changed=changed)
        if len(rows) < TOGETHER:
            # Up to now all is seen; what a transaction is still writing comes a little later.
            run.terms |= max(reached(run.before), min(place, Reached(now - OVERLAP, 0))).terms
            break
    return run.changed


def look(row: Sequence[Any]) -> Found | None:
    """Return what is to say of a claim, None for most."""
    entry_id, _, claim_id, value, references = row
    try:
        kinds = screening.kinds([*screening.hits(value), *screening.hits(references)])
    except screening.TooSlow:
        return Found(entry_id, claim_id, SLOW)
    return Found(entry_id, claim_id, guarding.told(kinds)) if kinds else None


@transaction.atomic
def send(account_id: int, found: Sequence[Found], policy: Policy, now: datetime) -> int:
    """Send entries to review, unless they say something else by now or were sent for it before; return how many."""
    if not found:
        return 0
    said = {one.entry_id: one for one in found}
    locked = heads.by_ids(account_id, list(said), lock=True)
    before = {row[0] for row in _rows(SENT, {"account": account_id, "ids": list(said), "actor": ACTOR.name})}
    waiting = {str(Status.ACTIVE), str(Status.UNDER_REVIEW)}
    sent = 0
    for head in locked:
        one = said[head.id]
        if head.id in before or head.claim.id != one.claim_id or head.state.status not in waiting:
            continue
        act = Act("decision", ACTOR, now, policy, reason=one.words, cause=Word.SEND)
        step = verdicts.sent_to_review(head, act)
        written = ledger.append(account_id, act, [Move(steps=[step], head=head, access=False)])
        assert written.change_set_id is not None  # the head is locked
        marks.settle(account_id, written.change_set_id, [head], Marking(sees=False, sent_by=ACTOR.name), now)
        sent += 1
    return sent


def _rows(sql: str, values: dict[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()

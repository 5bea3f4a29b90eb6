"""Applies a policy that was saved to a whole store, in turns, with progress: what is stored of the future, and places.

Reads follow the new policy at once. What has to be written is the next crossing and the value lists are sorted by, the
status of what the new thresholds put elsewhere, and tiers. Confidence is not: an entry is rebased when something next
moves it (memories.rules.standing.adopt), and past effects keep the policy they name.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from memories import heads
from memories.ageing import silence_sql
from memories.jobs import refreshing
from memories.jobs.places import settled
from memories.jobs.runs import Run
from memories.jobs.tiering import retier
from memories.models import PolicyVersion
from memories.rules.policy import Policy
from memories.services import ledger
from memories.services.ledger import Act, Actor, Move
from memories.viewers import account_policy
from senselab.accounts.models import Account

BATCH = 1_000
# Calls that began before the policy was saved may end after its job looked at what they wrote.
OVERLAP = timedelta(minutes=2)
ELSEWHERE = """
    SELECT e.id FROM memories_entry e
      LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
     WHERE e.account_id = %(account)s AND e.id > %(after)s AND e.id <= %(last)s
       AND e.status IN ('active', 'under_review') AND NOT e.pinned AND {status} <> e.status ORDER BY e.id LIMIT {batch}
"""
STRAYS = """
    SELECT DISTINCT v.entry_id FROM memories_changeset s
      JOIN memories_entryversion v ON v.account_id = s.account_id AND v.change_set_id = s.id
     WHERE s.account_id = %s AND s.at >= %s AND v.policy <> %s
"""


def apply(account: Account, now: datetime, run: Run) -> None:
    """Go on applying the account's present policy from where the last turn ended."""
    policy = account_policy(account)
    if run.terms.get("number") != policy.version:
        run.terms, run.looked, run.total = {"number": policy.version}, 0, None
    if run.total is None:
        # Once for what is stored of the future, once for places.
        run.total = 2 * refreshing.count(account.pk)
    for phase in list(PHASES)[run.terms.get("phase", 0) :]:
        PHASES[phase](account, policy, now, run)
        if not run.ended:
            return
        run.terms |= {"phase": run.terms.get("phase", 0) + 1, "after": 0}


def store_values(account: Account, policy: Policy, now: datetime, run: Run) -> None:
    refreshing.store(account.pk, policy, now, run, after=run.terms.get("after", 0))


def move_places(account: Account, policy: Policy, now: datetime, run: Run) -> None:
    """Write a version of each entry that the new thresholds put elsewhere; all in one change set, by who saved."""
    saved = PolicyVersion.objects.get(account_id=account.pk, number=policy.version)
    act = Act("policy", Actor("person", saved.actor), now, policy, reason=saved.reason, cause=f"policy {saved.number}")
    while True:
        after = run.terms.get("after", 0)
        last, looked = refreshing.stretch(account.pk, after)
        if last is None:
            return
        while ids := elsewhere(account.pk, policy, now, (after, last)):
            run.step(changed=move(account.pk, ids, act, run))
            after = ids[-1]
        run.terms["after"] = last
        run.step(looked=looked)
        if run.is_long:
            run.ended = False
            return


@transaction.atomic
def move(account_id: int, ids: list[int], act: Act, run: Run) -> int:
    """Put some entries where thresholds put them, and return how many moved."""
    found = heads.by_ids(account_id, ids, lock=True)
    moves = [Move([step], head, access=False) for head in found if (step := settled(head, act.policy, act.at))]
    if moves:
        written = ledger.append(account_id, act, moves, change_set_id=run.terms.get("change_set"))
        run.terms["change_set"] = written.change_set_id
    return len(moves)


def elsewhere(account_id: int, policy: Policy, now: datetime, between: tuple[int, int]) -> list[int]:
    """Return the ids of the next entries whose status is not what thresholds make it, ascending."""
    sql = ELSEWHERE.format(status=silence_sql.status_of_head(policy), batch=BATCH)
    values: dict[str, Any] = {"account": account_id, "after": between[0], "last": between[1], "now": now}
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [entry_id for (entry_id,) in cursor.fetchall()]


def settle_strays(account: Account, policy: Policy, now: datetime, run: Run) -> None:
    """Store anew what somebody wrote under the old policy while the new one was being saved and applied."""
    saved = PolicyVersion.objects.get(account_id=account.pk, number=policy.version)
    with connection.cursor() as cursor:
        cursor.execute(STRAYS, [account.pk, saved.at - OVERLAP, f"{policy.name}@{policy.version}"])
        ids = sorted(entry_id for (entry_id,) in cursor.fetchall())
    for start in range(0, len(ids), refreshing.BATCH):
        batch = ids[start : start + refreshing.BATCH]
        run.step(changed=refreshing.write(account.pk, policy, now, batch, with_due=True))


def retier_all(account: Account, policy: Policy, now: datetime, run: Run) -> None:
    del policy
    retier(account, now, run)


PHASES: dict[str, Callable[[Account, Policy, datetime, Run], None]] = {
    "values": store_values,
    "places": move_places,
    "strays": settle_strays,
    "tiers": retier_all,
}

"""What jobs would do now, counted and not done."""

from datetime import datetime
from typing import Any

from memories.ageing import silence_sql
from memories.ageing.ranking import HEADS, Branch, branches, fetch
from memories.jobs import embedding, places, refreshing
from memories.services import importance as services
from memories.viewers import account_policy
from senselab.accounts.models import Account

Looked = tuple[int, int]


def expire(account: Account, now: datetime) -> Looked:
    """Return (looked at, would change) of the sweep of times to live."""
    condition = places.DUE["expire"].replace("%s", "%(now)s")
    sql = f"SELECT count(*) FROM memories_entry e WHERE e.account_id = %(account)s AND {condition}"
    count = number(sql, account, now)
    return count, count


def decay(account: Account, now: datetime) -> Looked:
    """Return (due, would cross a line) of the decay job."""
    status = silence_sql.status_of_head(account_policy(account))
    sql = f"""SELECT count(*), count(*) FILTER (WHERE {status} <> e.status) FROM {HEADS}
               WHERE e.account_id = %(account)s AND e.due_at <= %(now)s"""
    (row,) = fetch(sql, {"account": account.pk, "now": now})
    return int(row[0]), int(row[1])


def refresh(account: Account, now: datetime) -> Looked:
    """Return (all entries, those whose stored value drifted)."""
    differs = refreshing.differs(account_policy(account), with_due=False)
    sql = f"SELECT count(*), count(*) FILTER (WHERE {differs}) FROM {HEADS} WHERE e.account_id = %(account)s"
    (row,) = fetch(sql, {"account": account.pk, "now": now})
    return int(row[0]), int(row[1])


def retier(account: Account, now: datetime) -> Looked:
    """Return (ranks, entries that would rise or fall)."""
    looked = changed = 0
    for branch in branches(account.pk):
        ranks = Branch(account.pk, branch, account_policy(account), now)
        wanted, values = ranks.wanted()
        sql = f"""SELECT count(*) FROM ({wanted}) w JOIN memories_entry e ON e.id = w.id
                   WHERE e.account_id = %(account)s AND e.tier <> w.tier AND NOT e.pinned"""
        looked, changed = looked + ranks.ranks, changed + fetch(sql, values)[0][0]
    return looked, changed


def fold(account: Account, now: datetime) -> Looked:
    """Return how many additions to the sums wait to be folded, twice."""
    count = number("SELECT count(*) FROM memories_counterdelta WHERE account_id = %(account)s", account, now)
    return count, count


def importance(account: Account, now: datetime) -> Looked:
    """Return how many entries an evaluator would be asked about, twice; none when none is turned on."""
    del now
    if services.evaluator() is None:
        return 0, 0
    count = len(services.unscored(account.pk, 0, 10_000))
    return count, count


def number(sql: str, account: Account, now: datetime) -> int:
    values: dict[str, Any] = {"account": account.pk, "now": now}
    return int(fetch(sql, values)[0][0])


def embed(account: Account, now: datetime) -> Looked:
    """Return how many entries lack a vector of this process's model, twice."""
    del now
    count = embedding.lacking(account.pk)
    return count, count

"""Ranks active entries and stores the tiers that change, with what rose and fell, and how the tiers stood each day."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, transaction

from memories.ageing import silence_sql
from memories.ageing.ranking import Branch, branches, fetch
from memories.jobs.runs import Run
from memories.viewers import account_policy
from senselab.accounts.models import Account

# Of one retier so many moves are kept, those of the first ranks; a change of policy may move a million.
MOVES = 1_000
# A run moves at most so many, so that it fits in memory; the next one goes on.
MOST = 200_000
KEPT = timedelta(days=2)
KEPT_DAYS = timedelta(days=400)
BATCH = 2_000

DAYS = """
    INSERT INTO memories_tierday AS d (account_id, branch, day, hot, warm, cold)
    SELECT %(account)s, s.branch, %(day)s, sum(s.hot), sum(s.warm), sum(s.cold)
      FROM (SELECT account_id, branch, hot, warm, cold FROM memories_counter
             UNION ALL SELECT account_id, branch, hot, warm, cold FROM memories_counterdelta) s
     WHERE s.account_id = %(account)s GROUP BY s.branch
    ON CONFLICT (account_id, branch, day) DO UPDATE SET hot = excluded.hot, warm = excluded.warm, cold = excluded.cold
     WHERE (d.hot, d.warm, d.cold) IS DISTINCT FROM (excluded.hot, excluded.warm, excluded.cold)
"""


def retier(account: Account, now: datetime, run: Run | None = None) -> int:
    """Rank active entries of each branch by priority and store the tiers that change (RULES.md 5)."""
    run, policy = run or Run(), account_policy(account)
    for branch in branches(account.pk):
        retier_branch(Branch(account.pk, branch, policy, now), run)
    count_day(account.pk, now)
    return run.changed


def retier_branch(ranks: Branch, run: Run) -> None:
    """Store the tiers that change in a branch; pinned entries hold their place: they neither move nor take a rank."""
    moving, noted = changes(ranks), 0
    run.step(looked=ranks.ranks)
    for start in range(0, len(moving), BATCH):
        batch = moving[start : start + BATCH]
        with transaction.atomic():
            moved = store(ranks, batch)
            rows = [row for row in batch if row[0] in moved][: MOVES - noted]
            note(ranks, rows)
            noted += len(rows)
        run.step(changed=len(moved))


def changes(ranks: Branch) -> list[tuple[int, int, int, int | None]]:
    """Return (id, tier, new tier, place) of each entry whose tier is no longer right, the first place first."""
    wanted, values = ranks.wanted()
    sql = f"""
        SELECT e.id, e.tier, w.tier, w.place FROM ({wanted}) w JOIN memories_entry e ON e.id = w.id
         WHERE e.account_id = %(account)s AND e.tier <> w.tier AND NOT e.pinned ORDER BY w.place, e.id LIMIT {MOST}
    """
    return fetch(sql, values)


def store(ranks: Branch, batch: list[tuple[int, int, int, int | None]]) -> set[int]:
    """Write new tiers and return whose; an entry that somebody holds gets its tier in the next run."""
    values: dict[str, Any] = {
        "account": ranks.account_id,
        "ids": [row[0] for row in batch],
        "tiers": [row[2] for row in batch],
    }
    lock = """SELECT e.id FROM memories_entry e WHERE e.account_id = %(account)s AND e.id = ANY(%(ids)s)
               ORDER BY e.id FOR NO KEY UPDATE SKIP LOCKED"""
    mine = [entry_id for (entry_id,) in fetch(lock, {"account": ranks.account_id, "ids": values["ids"]})]
    sql = """
        UPDATE memories_entry e SET tier = g.tier FROM unnest(%(ids)s::bigint[], %(tiers)s::smallint[]) AS g(id, tier)
         WHERE e.account_id = %(account)s AND e.id = g.id AND e.id = ANY(%(mine)s) AND e.tier <> g.tier AND NOT e.pinned
        RETURNING e.id
    """
    return {entry_id for (entry_id,) in fetch(sql, {**values, "mine": mine})}


def note(ranks: Branch, moved: list[tuple[int, int, int, int | None]]) -> None:
    """Keep what moved, with the parts of its priority."""
    if not moved:
        return
    ids, before, after, places = (list(column) for column in zip(*moved, strict=True))
    sql = f"""
        INSERT INTO memories_tiermove (account_id, entry_id, branch, at, before, after, place,
                                       importance, recency, frequency, durability, priority)
        SELECT %(account)s, e.id, e.branch, %(now)s, g.before, g.after, g.place,
               {silence_sql.parts_of_head(ranks.policy)}
          FROM unnest(%(ids)s::bigint[], %(before)s::smallint[], %(after)s::smallint[], %(places)s::int[])
               AS g(id, before, after, place)
          JOIN memories_entry e ON e.id = g.id
          LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
         WHERE e.account_id = %(account)s
    """
    values: dict[str, Any] = {
        "account": ranks.account_id,
        "now": ranks.now,
        "ids": ids,
        "before": before,
        "after": after,
    }
    with connection.cursor() as cursor:
        cursor.execute(sql, {**values, "places": places})


def count_day(account_id: int, now: datetime) -> None:
    """Keep how many entries stand in each tier today."""
    with connection.cursor() as cursor:
        cursor.execute(DAYS, {"account": account_id, "day": now.astimezone(UTC).date()})


def forget(account_id: int, now: datetime) -> None:
    """Drop moves that are no longer today's or yesterday's, and days nobody looks at."""
    with connection.cursor() as cursor:
        moves = "DELETE FROM memories_tiermove WHERE account_id = %s AND at < %s"
        cursor.execute(moves, [account_id, now - KEPT])
        days = "DELETE FROM memories_tierday WHERE account_id = %s AND day < %s"
        cursor.execute(days, [account_id, (now - KEPT_DAYS).astimezone(UTC).date()])

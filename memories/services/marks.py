"""What decisions leave on the review queue: reasons seen, snoozes, claims; and how an undo puts it all back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from memories.heads import Head
from memories.rules.decisions import EXPIRING

CLAIM = timedelta(minutes=1)

MARK = ("seen_version", "seen_expiry", "snoozed_version", "snoozed_until", "sent_by")
# Before anything is changed, the mark is kept with the change set, and with it the silence and the place in the queue.
KEEP = f"""
    kept AS (
        INSERT INTO memories_reviewtrace (account_id, change_set_id, entry_id, freshness, accessed_at, waiting_since,
                                          {", ".join(MARK)})
        SELECT %(account)s, %(change_set)s, g.entry_id, g.freshness, g.accessed_at,
               CASE WHEN m.place_version = g.version THEN m.place_at ELSE g.changed_at END,
               {", ".join(f"m.{name}" for name in MARK[:-1])}, coalesce(m.sent_by, '')
          FROM given g
          LEFT JOIN memories_reviewmark m ON m.account_id = %(account)s AND m.entry_id = g.entry_id
    )
"""
GIVEN = """
    given AS (
        SELECT * FROM unnest(%(entries)s::bigint[], %(versions)s::int[], %(freshness)s::float8[],
                             %(accessed)s::timestamptz[], %(changed)s::timestamptz[], %(expiries)s::timestamptz[])
            AS g(entry_id, version, freshness, accessed_at, changed_at, expiry)
    )
"""
SETTLE = f"""
    WITH {GIVEN}, {KEEP}
    INSERT INTO memories_reviewmark AS m (account_id, entry_id, seen_version, seen_expiry, snoozed_version,
                                          snoozed_until, sent_by, claimed_by)
    SELECT %(account)s, g.entry_id, CASE WHEN %(sees)s::bool THEN g.version + 1 END,
           CASE WHEN %(sees)s::bool THEN g.expiry END,
           CASE WHEN %(snoozes)s::bool THEN g.version + 1 END, %(until)s::timestamptz,
           %(sent_by)s, ''
      FROM given g
    ON CONFLICT (account_id, entry_id) DO UPDATE
       SET seen_version = coalesce(excluded.seen_version, m.seen_version),
           seen_expiry = coalesce(excluded.seen_expiry, m.seen_expiry),
           snoozed_version = excluded.snoozed_version, snoozed_until = excluded.snoozed_until,
           sent_by = excluded.sent_by, place_version = NULL, place_at = NULL, claimed_by = '', claimed_until = NULL
"""
RESTORE = f"""
    WITH {GIVEN}, {KEEP}
    INSERT INTO memories_reviewmark AS m (account_id, entry_id, place_version, place_at, claimed_by, {", ".join(MARK)})
    SELECT %(account)s, g.entry_id, g.version + 1, t.waiting_since, '', {", ".join(f"t.{name}" for name in MARK)}
      FROM given g
      JOIN memories_reviewtrace t
        ON t.account_id = %(account)s AND t.change_set_id = %(undone)s AND t.entry_id = g.entry_id
    ON CONFLICT (account_id, entry_id) DO UPDATE
       SET {", ".join(f"{name} = excluded.{name}" for name in (*MARK, "place_version", "place_at"))}
"""
TRACES = """
    SELECT t.entry_id, t.freshness, t.accessed_at FROM memories_reviewtrace t
     WHERE t.account_id = %s AND t.change_set_id = %s AND t.entry_id = ANY(%s)
"""
CLAIM_IT = """
    INSERT INTO memories_reviewmark AS m (account_id, entry_id, sent_by, claimed_by, claimed_until)
    VALUES (%(account)s, %(entry)s, '', %(person)s, %(until)s)
    ON CONFLICT (account_id, entry_id) DO UPDATE
       SET claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until
     WHERE m.claimed_by = excluded.claimed_by OR m.claimed_until IS NULL OR m.claimed_until <= %(now)s
    RETURNING m.claimed_by, m.claimed_until
"""
CLAIMED = """
    SELECT m.claimed_by, m.claimed_until FROM memories_reviewmark m
     WHERE m.account_id = %(account)s AND m.entry_id = %(entry)s
"""
RELEASE = """
    UPDATE memories_reviewmark SET claimed_by = '', claimed_until = NULL
     WHERE account_id = %s AND entry_id = ANY(%s) AND claimed_by = %s
"""
SENT = (
    "SELECT m.entry_id FROM memories_reviewmark m WHERE m.account_id = %s AND m.entry_id = ANY(%s) AND m.sent_by <> ''"
)


@dataclass(frozen=True, slots=True)
class Marking:
    """What a decision leaves: reasons seen, or a snooze to a moment (None: until contradicted), or who sent it here."""

    sees: bool = True
    snoozes: bool = False
    until: datetime | None = None
    sent_by: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """Who has an item open, and until when."""

    by: str
    until: datetime


def given(account_id: int, change_set_id: int, moved: Sequence[Head], now: datetime) -> dict[str, Any]:
    soon = now + EXPIRING
    return {
        "account": account_id,
        "change_set": change_set_id,
        "entries": [head.id for head in moved],
        "versions": [head.version for head in moved],
        "freshness": [head.kept for head in moved],
        "accessed": [head.accessed_at for head in moved],
        "changed": [head.changed_at for head in moved],
        "expiries": [head.state.ttl_at if head.state.ttl_at and head.state.ttl_at <= soon else None for head in moved],
    }


def settle(account_id: int, change_set_id: int, moved: Sequence[Head], marking: Marking, now: datetime) -> None:
    """Mark entries as decided about; `moved` are their heads before, and each decision made one version."""
    values = given(account_id, change_set_id, moved, now)
    values |= {"sees": marking.sees, "snoozes": marking.snoozes, "until": marking.until, "sent_by": marking.sent_by}
    with connection.cursor() as cursor:
        cursor.execute(SETTLE, values)


def restore(account_id: int, *, undone: int, by: int, moved: Sequence[Head], now: datetime) -> None:
    """Give entries back the marks and places they had before the change set `undone`; `by` is the undo of it."""
    with connection.cursor() as cursor:
        cursor.execute(RESTORE, given(account_id, by, moved, now) | {"undone": undone})


def silences(account_id: int, change_set_id: int, entry_ids: Sequence[int]) -> dict[int, tuple[float, datetime]]:
    """Return the freshness and the last access that entries had before a change set, as far as it left traces."""
    with connection.cursor() as cursor:
        cursor.execute(TRACES, [account_id, change_set_id, list(entry_ids)])
        return {entry_id: (freshness, accessed_at) for entry_id, freshness, accessed_at in cursor.fetchall()}


def claim(account_id: int, entry_id: int, person: str, now: datetime) -> Claim:
    """Claim an item for a minute, and return who has it: `person`, or who came first."""
    values: dict[str, Any] = {
        "account": account_id,
        "entry": entry_id,
        "person": person,
        "until": now + CLAIM,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(CLAIM_IT, values)
        found = cursor.fetchone()
        if found is None:
            cursor.execute(CLAIMED, values)
            found = cursor.fetchone()
    return Claim(*found)


def release(account_id: int, entry_ids: Sequence[int], person: str) -> None:
    """Let go of what a person has claimed."""
    with connection.cursor() as cursor:
        cursor.execute(RELEASE, [account_id, list(entry_ids), person])


def sent(account_id: int, entry_ids: Sequence[int]) -> set[int]:
    """Return those entries that a person sent to review."""
    with connection.cursor() as cursor:
        cursor.execute(SENT, [account_id, list(entry_ids)])
        return {entry_id for (entry_id,) in cursor.fetchall()}

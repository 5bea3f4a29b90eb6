"""Recalls and readings, gathered in each process and written in batches, so that a read waits for no write.

At worst the last moments are lost with the process. Nothing here touches an entry's wide row.
"""

import atexit
import logging
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.db import Error, connection, transaction

from memories.ageing import silence_sql
from memories.rules.policy import Policy
from senselab.accounts import audit, keys

log = logging.getLogger(__name__)

EVERY_SECONDS = 0.2
TOKENS = (200, 4000)


@dataclass(frozen=True, slots=True)
class Read:
    """One entry served to somebody: which version, to whom, when, and how many tokens that may have saved."""

    entry_id: int
    version: int
    agent_id: str
    session_id: str
    at: datetime
    tokens: int


def tokens_of(value: str) -> int:
    """Return about how many tokens a value is, between 200 and 4,000 (contract.md 1.14)."""
    least, most = TOKENS
    return max(least, min(most, len(value) // 4))


GIVEN = """
    WITH given AS (
        SELECT * FROM json_to_recordset(%(given)s::json)
            AS g(entry_id bigint, version int, agent_id text, session_id text, n int, first_at timestamptz,
                 last_at timestamptz, tokens bigint)
    ),
    entries AS (
        SELECT entry_id, sum(n)::int AS n, max(last_at) AS last_at, sum(tokens)::bigint AS tokens
          FROM given GROUP BY entry_id
    )
"""
READ_AND_COUNTED = """
    readings AS (
        INSERT INTO memories_reading AS kept (account_id, month, entry_id, version, agent_id, session_id, count,
                                              first_at, last_at)
        SELECT %(account)s, date_trunc('month', g.last_at AT TIME ZONE 'UTC')::date, g.entry_id, g.version, g.agent_id,
               g.session_id, sum(g.n), min(g.first_at), max(g.last_at)
          FROM given g JOIN memories_entry e ON e.account_id = %(account)s AND e.id = g.entry_id
         WHERE g.agent_id <> ''
         GROUP BY 2, 3, 4, 5, 6 ORDER BY 2, 3, 4, 5, 6
        ON CONFLICT (account_id, month, entry_id, version, agent_id, session_id) DO UPDATE
           SET count = kept.count + excluded.count,
               first_at = least(kept.first_at, excluded.first_at), last_at = greatest(kept.last_at, excluded.last_at)
    )
    INSERT INTO memories_counterdelta (account_id, branch, entity_path, agent_id, owner, recalls, tokens_saved,
        entries, under_review, superseded, archived, untested, validated, contested, discredited, hot, warm, cold,
        facts, beliefs, experiences, procedures, outcome_linked, confidence_nanos)
    SELECT %(account)s, e.branch, e.entity_path, e.agent_id, e.owner, sum(g.n), sum(g.tokens),
           0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
      FROM entries g JOIN memories_entry e ON e.account_id = %(account)s AND e.id = g.entry_id
     GROUP BY 2, 3, 4, 5
"""


def flush_sql(policy: Policy) -> str:
    """Return the statement that writes one account's batch; only narrow tables, in key order."""
    return f"""{GIVEN},
    recalled AS (
        INSERT INTO memories_recall AS kept (account_id, entry_id, recall_count, freshness, accessed_at)
        SELECT %(account)s, e.id, g.n,
               {silence_sql.earned_of_head(policy, now="greatest(g.last_at, e.accessed_at, r.accessed_at)")},
               greatest(g.last_at, e.accessed_at, r.accessed_at)
          FROM entries g
          JOIN memories_entry e ON e.account_id = %(account)s AND e.id = g.entry_id
          LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
         ORDER BY e.id
        ON CONFLICT (account_id, entry_id) DO UPDATE
           SET recall_count = kept.recall_count + excluded.recall_count,
               freshness = CASE WHEN excluded.accessed_at > kept.accessed_at
                                THEN excluded.freshness ELSE kept.freshness END,
               accessed_at = greatest(kept.accessed_at, excluded.accessed_at)
    ),
    {READ_AND_COUNTED}"""


Key = tuple[int, int, str, str]


def write(account_id: int, policy: Policy, reads: Iterable[Read]) -> None:
    """Write a batch of one account's reads."""
    gathered: dict[Key, list[Read]] = defaultdict(list)
    for read in reads:
        gathered[(read.entry_id, read.version, read.agent_id, read.session_id)].append(read)
    if not gathered:
        return
    given = [
        {
            "entry_id": entry_id,
            "version": version,
            "agent_id": agent_id,
            "session_id": session_id,
            "n": len(same),
            "first_at": min(read.at for read in same),
            "last_at": max(read.at for read in same),
            "tokens": sum(read.tokens for read in same),
        }
        for (entry_id, version, agent_id, session_id), same in gathered.items()
    ]
    # One text instead of eight lists, which would cost a process at work a sixth of its time.
    parameters: dict[str, Any] = {"account": account_id, "given": msgspec.json.encode(given).decode()}
    with transaction.atomic(), connection.cursor() as cursor:
        # A lost count is no lost knowledge: nobody waits for the disk here.
        cursor.execute("SET LOCAL synchronous_commit = off")
        cursor.execute(flush_sql(policy), parameters)


class Buffer:
    """What this process served since the last flush; a daemon thread writes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reads: dict[int, tuple[Policy, list[Read]]] = {}
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def start(self) -> None:
        """Write from now on, every fifth of a second; a process that serves calls says so when it begins."""
        with self._lock:
            # A thread that a fault ended is no reason to gather for ever.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="recalls", daemon=True)
                self._thread.start()

    def note(self, account_id: int, policy: Policy, read: Read) -> None:
        with self._lock:
            self._reads.setdefault(account_id, (policy, []))[1].append(read)
        self.start()

    def flush(self) -> None:
        """Write what was gathered; what cannot be written is told and dropped, as the next moment brings more."""
        with self._lock:
            gathered, self._reads = self._reads, {}
        batches: Mapping[int, tuple[Policy, list[Read]]] = gathered
        for account_id, (policy, reads) in batches.items():
            try:
                write(account_id, policy, reads)
            except Error:
                log.warning("%d recalls of account %d could not be written", len(reads), account_id, exc_info=True)
        try:
            keys.write_uses()
            audit.refusals.write()
        except Error:
            log.warning("it could not be written when keys were last used", exc_info=True)

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            self.flush()
            connection.close_if_unusable_or_obsolete()

    def close(self) -> None:
        """Write what is left, if this process ever served anybody."""
        self._stop.set()
        if self._thread is not None:
            self.flush()
            audit.refusals.write(everything=True)


buffer = Buffer()
atexit.register(buffer.close)

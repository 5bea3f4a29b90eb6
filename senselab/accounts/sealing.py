"""The chain of the audit trail: each record sealed over the one before it, and looked through by `manage.py verify`.

A seal holds what everybody may know (place, moment, action, count) and a salted digest of the rest, so that names could
be erased one day while every seal still fits.
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import Error, connection, transaction

from senselab.accounts.models import AuditRecord

EVERY_SECONDS = 1.0
LOCK = 7203
BATCH = 1_000
FIRST = b"\0" * 32
OPEN = "SELECT DISTINCT account_id FROM accounts_auditrecord WHERE seal IS NULL"
SEAL = """
    UPDATE accounts_auditrecord r SET number = g.number, digest = g.digest, seal = g.seal
      FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[], %s::bytea[]) AS g(id, number, digest, seal)
     WHERE r.account_id = %s AND r.id = g.id AND r.seal IS NULL
"""


def digest_of(record: AuditRecord) -> bytes:
    """Return the digest of who did what to what, from where."""
    told = [
        record.actor_kind, record.actor, record.target, record.before, record.after, record.address, record.request_id,
    ]  # fmt: skip
    return hashlib.sha256(bytes(record.salt) + _canonical(told)).digest()


def seal_of(before: bytes, number: int, digest: bytes, record: AuditRecord) -> bytes:
    told = [number, record.at.isoformat(), record.action, record.count]
    return hashlib.sha256(before + _canonical(told) + digest).digest()


def _canonical(told: list[Any]) -> bytes:
    return json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def seal_everywhere() -> int:
    """Seal what is not sealed yet, account by account, and return how much that was."""
    with connection.cursor() as cursor:
        cursor.execute(OPEN)
        accounts = [account_id for (account_id,) in cursor.fetchall()]
    return sum(seal(account_id) for account_id in accounts)


@transaction.atomic
def seal(account_id: int) -> int:
    """Seal an account's next records in the order they came in; nothing while somebody else does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [LOCK, account_id % 2**31])
        if not cursor.fetchone()[0]:
            return 0
        number, before = _last(account_id)
        rows = []
        for record in AuditRecord.objects.filter(account_id=account_id, seal=None).order_by("id")[:BATCH]:
            number, digest = number + 1, digest_of(record)
            before = seal_of(before, number, digest, record)
            rows.append((record.pk, number, digest, before))
        if rows:
            cursor.execute(SEAL, [*(list(column) for column in zip(*rows, strict=True)), account_id])
    return len(rows)


def _last(account_id: int) -> tuple[int, bytes]:
    sealed = AuditRecord.objects.filter(account_id=account_id, number__isnull=False).order_by("-number")
    found = sealed.values_list("number", "seal").first()
    return (found[0] or 0, bytes(found[1] or b"")) if found else (0, FIRST)


def findings(account_id: int) -> Iterator[str]:
    """Yield what does not fit in the chain of an account, in words."""
    before, expected = FIRST, 1
    for record in AuditRecord.objects.filter(account_id=account_id, number__isnull=False).order_by("number").iterator():
        number, digest = record.number or 0, bytes(record.digest or b"")
        if number != expected:
            yield f"audit record {expected} is missing"
        if digest_of(record) != digest:
            yield f"audit record {number} says something else than when it was sealed"
        if seal_of(before, number, digest, record) != bytes(record.seal or b""):
            yield f"audit record {number} does not fit the one before it"
        before, expected = bytes(record.seal or b""), number + 1


def open_since(account_id: int) -> datetime | None:
    """Return since when the oldest record that is not sealed waits, None when none does."""
    waiting = AuditRecord.objects.filter(account_id=account_id, seal=None).order_by("id")
    return waiting.values_list("at", flat=True).first()


def open_words(account_id: int, now: datetime) -> str:
    """Return how old the oldest record is that is not sealed, '' when all are."""
    since = open_since(account_id)
    if since is None:
        return ""
    return f"the audit trail is not sealed for the last {max(0, int((now - since).total_seconds()))} s"


def records(account_id: int) -> int:
    return AuditRecord.objects.filter(account_id=account_id).count()


class Sealer:
    """A thread of a worker that seals once a second; of several workers one does at a time."""

    def __init__(self) -> None:
        self._stop = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="sealer", daemon=True).start()

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            try:
                seal_everywhere()
            except Error:
                # The worker says so itself when the database is gone; the next second tries again.
                connection.close()
            connection.close_if_unusable_or_obsolete()


def start_in_worker(**_: Any) -> None:
    """Start sealing in a worker process that was just made."""
    Sealer().start()

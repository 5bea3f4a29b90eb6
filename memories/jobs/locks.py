"""One job of an account runs once at a time, in whichever process: advisory locks, which end with their holder."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

LOCKS = {
    "expire": 7101,
    "decay": 7102,
    "retier": 7103,
    "fold": 7104,
    "refresh": 7105,
    "policy": 7106,
    "importance": 7107,
    "embed": 7108,
    "import": 7120,
    "verify": 7121,
    "compare": 7109,
    "secrets": 7110,
    "retain": 7122,
}


@contextmanager
def alone(job: str, account_id: int) -> Iterator[bool]:
    """Hold the lock of a job on an account, or say that somebody else does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCKS[job], account_id])
        held = bool(cursor.fetchone()[0])
        try:
            yield held
        finally:
            if held:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCKS[job], account_id])

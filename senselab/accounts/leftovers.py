"""What signing in leaves behind, deleted once nothing asks for it any more: the packages that write it never do.

The audit trail says who came, when and from where; it is not touched.
"""

from datetime import datetime, timedelta

from django.db import connection

BATCH = 10_000
# By table: what is over, after how long. The moment is the only thing a condition is given.
OVER = (
    ("django_session", "expire_date < %s", timedelta(0)),
    (
        "accounts_signin",
        "at < %s AND NOT EXISTS (SELECT FROM django_session s WHERE s.session_key = accounts_signin.session_key)",
        timedelta(days=1),
    ),
    ("accounts_invitation", "coalesce(ended_at, expires_at) < %s", timedelta(days=30)),
    # A lockout lasts fifteen minutes.
    (
        "axes_accessattemptexpiration",
        "access_attempt_id IN (SELECT id FROM axes_accessattempt WHERE attempt_time < %s)",
        timedelta(days=1),
    ),
    ("axes_accessattempt", "attempt_time < %s", timedelta(days=1)),
    ("axes_accessfailurelog", "attempt_time < %s", timedelta(days=30)),
    ("axes_accesslog", "attempt_time < %s", timedelta(days=30)),
    # Of what went well the queue itself keeps a few hundred.
    ("django_q_task", "stopped < %s", timedelta(days=30)),
)


def clear(now: datetime) -> int:
    """Delete what is over, ten thousand rows at a time, and return how many rows that were."""
    return sum(_clear(table, condition, now - after) for table, condition, after in OVER)


def _clear(table: str, condition: str, before: datetime) -> int:
    sql = f"DELETE FROM {table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM {table} WHERE {condition} LIMIT {BATCH}))"
    total = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(sql, [before])
            total += cursor.rowcount
            if cursor.rowcount < BATCH:
                return total

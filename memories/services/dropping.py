"""Taking an account's entries away whole, history included: the one thing that gets past the append-only trigger."""

from django.db import connection, transaction

# Entries are counted as they go, so their sums go last.
TABLES = (
    "reading", "recall", "entrytext", "effect", "entryversion", "changeset", "claim", "entry",
    "counter", "counterdelta",
)  # fmt: skip


def allow(account_id: int) -> None:
    """Let the rest of the present transaction delete an account's history, in whatever order."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('senselab.dropping_account', %s, true)", [str(account_id)])
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@transaction.atomic
def drop_entries(account_id: int) -> int:
    """Delete everything that was learned in an account and return how many entries that were."""
    allow(account_id)
    dropped = 0
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"DELETE FROM memories_{table} WHERE account_id = %s", [account_id])
            dropped = cursor.rowcount if table == "entry" else dropped
    return dropped

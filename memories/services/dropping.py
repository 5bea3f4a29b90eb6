"""Taking an account's entries away whole, history included: the one thing that gets past the append-only trigger."""

from collections.abc import Iterator

from django.apps import apps
from django.db import connection, transaction

from memories.models import Counter, CounterDelta, Entry
from memories.models.counting import Folding


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
        for table in tables():
            cursor.execute(f"DELETE FROM {table} WHERE account_id = %s", [account_id])
            dropped = cursor.rowcount if table == Entry._meta.db_table else dropped
    return dropped


def tables() -> Iterator[str]:
    """Yield every table of this app; the sums last, as entries are counted while they go, and their mark after them."""
    sums = (Counter, CounterDelta, Folding)
    yield from (model._meta.db_table for model in apps.get_app_config("memories").get_models() if model not in sums)
    yield from (model._meta.db_table for model in sums)

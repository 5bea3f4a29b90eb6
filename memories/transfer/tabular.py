"""The lists as CSV, for spreadsheets: as of one moment, streamed, and no cell of theirs a formula of somebody's."""

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import connection

from memories import viewers
from memories.checking.verify_reads import one_view
from memories.queue.review import Queue, Reason
from memories.transfer import leaving
from memories.transfer.lists import LISTS, PROSE
from senselab import sheets
from senselab.accounts.models import Account

ROWS = 1_000
REASONS = ", ".join(f"CASE WHEN q.{reason} THEN '{reason}' END" for reason in Reason)


def statement(account: Account, name: str, now: datetime) -> tuple[str, dict[str, Any]]:
    """Return the statement of one of LISTS and its values; what waits for review is what the queue says."""
    if name != "review":
        return LISTS[name], {"account_id": account.pk}
    viewer = viewers.person(account)
    columns = f"q.id, q.since, q.settled_confidence, concat_ws(' ', {REASONS}) AS reasons"
    waiting = Queue().members(viewer, columns)
    return LISTS[name].format(waiting=waiting), Queue().values(viewer, now) | {"account_id": account.pk}


def pieces(account: Account, name: str, now: datetime) -> Iterator[bytes]:
    """Yield one of LISTS as CSV in UTF-8, header first; a thousand rows are in memory."""
    with one_view(), connection.chunked_cursor() as cursor:
        leaving.hash_joins_only()
        cursor.execute(*statement(account, name, now))
        found = cursor.fetchmany(ROWS)
        columns = [column.name for column in cursor.description or ()]
        names = [column not in PROSE for column in columns]
        yield lines([columns])
        while found:
            cells = (zip(row, names, strict=True) for row in found)
            yield lines([[sheets.cell(value, is_name=is_name) for value, is_name in row] for row in cells])
            found = cursor.fetchmany(ROWS)


def lines(rows: list[list[Any]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue().encode()

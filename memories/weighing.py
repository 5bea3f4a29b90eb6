"""Reading many values at once without reading too much: how much there is is asked first."""

from dataclasses import replace
from datetime import datetime

from django.db import connection

from memories import search
from memories.rows import Row
from memories.rules.refusals import Refused
from memories.search import Search
from memories.viewers import Viewer

ENTRIES = 5_000
BYTES = 32 * 1024 * 1024


def weight(asked: Search, viewer: Viewer, now: datetime) -> tuple[int, int]:
    """Return how many entries a search finds and how many bytes their values have."""
    made = asked.conditions(viewer, now)
    sql = f"""
        SELECT count(*), coalesce(sum(octet_length(c.value)), 0)
          FROM memories_entry e JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
          LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id {made.where}
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, made.values)
        count, size = cursor.fetchone()
        return int(count), int(size)


def whole(asked: Search, viewer: Viewer, now: datetime) -> list[Row]:
    """Return all that a search finds.

    :raises Refused: it is more than anybody reads at once.
    """
    count, size = weight(asked, viewer, now)
    if count > ENTRIES or size > BYTES:
        told = f"{count:,} entries with {size / 2**20:.0f} MiB of values"
        raise Refused("/entity_path", f"There are {told} here; at most {ENTRIES:,} and 32 MiB are read at once.")
    return search.find(replace(asked, limit=ENTRIES), viewer, now)

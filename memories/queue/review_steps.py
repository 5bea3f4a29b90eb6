"""The newest steps of entries in the queue, which the sentences are made of that say why they wait."""

from collections.abc import Sequence

from django.db import connection

from memories.queue.review_words import Step

STEPS = 20
NEWEST = f"""
    SELECT g.entry_id, v.number, v.change, v.at, v.before, v.confidence, v.weight, v.last_outcome, s.kind, s.actor,
           s.cause, s.reason
      FROM unnest(%(ids)s::bigint[]) AS g(entry_id)
      CROSS JOIN LATERAL (
          SELECT v.* FROM memories_entryversion v
           WHERE v.account_id = %(account)s AND v.entry_id = g.entry_id ORDER BY v.number DESC LIMIT {STEPS}
      ) v
      JOIN memories_changeset s ON s.account_id = %(account)s AND s.id = v.change_set_id
     ORDER BY g.entry_id, v.number DESC
"""


def newest(account_id: int, ids: Sequence[int]) -> dict[int, list[Step]]:
    """Return the newest steps of entries, newest first."""
    found: dict[int, list[Step]] = {}
    with connection.cursor() as cursor:
        cursor.execute(NEWEST, {"account": account_id, "ids": list(ids)})
        for entry_id, *step in cursor.fetchall():
            found.setdefault(entry_id, []).append(Step(*step))
    return found

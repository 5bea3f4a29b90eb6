"""Who learned from whom, counted from what traces relied on (contract.md 2.9)."""

from datetime import datetime
from typing import Any

from django.db import connection

from memories.viewers import Viewer

# Every entry key behind which there is nothing but somebody else's private entry; a person has none.
HIDDEN = """
    SELECT e.entity_path || '/' || e.key AS entry_key FROM memories_entry e
     WHERE e.account_id = %(account)s AND e.owner <> '' AND NOT e.owner = ANY(%(owners)s)
       AND NOT EXISTS (SELECT 1 FROM memories_entry s
                        WHERE s.account_id = e.account_id AND s.branch = e.branch AND s.entity_path = e.entity_path
                          AND s.key = e.key AND s.owner = ANY(%(owners)s))
"""
PAIRS = """
    WITH hidden AS (SELECT '' AS entry_key WHERE FALSE{union})
    SELECT t.agent_id, read.author, count(*), sum(count(*)) OVER ()
      FROM outcomes_trace t, unnest(t.causal_keys, t.causal_authors) AS read(entry_key, author)
     WHERE t.account_id = %(account)s AND read.author <> '' AND read.author <> t.agent_id
       AND (%(since)s::timestamptz IS NULL OR t.created_at >= %(since)s)
       AND NOT EXISTS (SELECT 1 FROM hidden h WHERE h.entry_key = read.entry_key){within}
     GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT %(limit)s
"""


def share_stats(viewer: Viewer, *, since: datetime | None, pair_limit: int) -> dict[str, Any]:
    """Return how often agents relied on what others wrote, in all and for the busiest pairs."""
    # A key with globs counts what may lie within them.
    beyond = {f"named_{n}": reach.entry_key_pattern for n, reach in enumerate(viewer.reaches)}
    within = "".join(f" AND read.entry_key ~ %({name})s" for name in beyond)
    sql = PAIRS.format(union="" if viewer.sees_all else f" UNION ALL {HIDDEN}", within=within)
    with connection.cursor() as cursor:
        cursor.execute(sql, {**viewer.parameters, **beyond, "since": since, "limit": pair_limit})
        found = cursor.fetchall()
    pairs = [{"reader": reader, "author": author, "count": count} for reader, author, count, _ in found]
    return {"total": int(found[0][3]) if found else 0, "pairs": pairs}

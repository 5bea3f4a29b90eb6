"""What entries refer to, and how often they were read again, as far as the viewer may see them."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection

from memories import rows
from memories.heads import Name
from memories.rows import Row
from memories.viewers import Viewer

LISTED = "e.status IN ('active', 'under_review')"
PATTERNS = """
    SELECT f.ref, count(*), (array_agg(DISTINCT e.entity_path))[1:50], count(*) OVER ()
      FROM memories_entry e
      JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
     CROSS JOIN LATERAL unnest(c.pattern_refs) AS f(ref)
     WHERE {visible} AND {listed} AND e.branch = 'main'
     GROUP BY f.ref ORDER BY 2 DESC, f.ref LIMIT %(limit)s
"""
# About how many tokens one reading saves (contract.md 1.14).
TOKENS = "least(greatest(octet_length(c.value) / 4, 200), 4000)"
READINGS = f"""
    SELECT g.agent_id, g.count, g.last_at, e.entity_path, e.key, c.agent_id AS author, {TOKENS} * g.count AS saved
      FROM memories_reading g
      JOIN memories_entry e ON e.account_id = g.account_id AND e.id = g.entry_id
      JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
     WHERE g.account_id = %(account)s AND g.month >= date_trunc('month', %(since)s::timestamptz)::date
       AND g.last_at >= %(since)s AND {{visible}}
       AND (%(reader)s::text IS NULL OR g.agent_id = %(reader)s)
       AND (%(writer)s::text IS NULL OR c.agent_id = %(writer)s)
"""
CROSS = "r.agent_id <> '' AND r.agent_id <> r.author"
REUSE = f"""
    WITH r AS ({READINGS})
    SELECT coalesce((SELECT sum(count) FROM r), 0)::bigint,
           (SELECT count(DISTINCT (entity_path, key)) FROM r),
           coalesce((SELECT sum(saved) FROM r), 0)::bigint,
           coalesce((SELECT sum(count) FROM r WHERE {CROSS}), 0)::bigint,
           (SELECT jsonb_agg(t) FROM (
                SELECT entity_path, key, sum(count)::bigint AS reuses, sum(saved)::bigint AS est_tokens_saved FROM r
                 GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20) t),
           (SELECT jsonb_agg(a) FROM (
                SELECT agent_id, sum(count)::bigint AS reuses FROM r GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50) a),
           (SELECT jsonb_agg(x) FROM (
                SELECT entity_path, key, author AS written_by, agent_id AS reused_by, last_at AS at FROM r
                 WHERE {CROSS} ORDER BY last_at DESC LIMIT 20) x)
"""
CROWDED = f"""
    SELECT e.entity_path FROM memories_entry e
     WHERE {{visible}} AND {LISTED} AND e.branch = 'main' AND e.entity_path = ANY(%(paths)s)
     GROUP BY e.entity_path HAVING count(*) > 1
"""


def patterns(viewer: Viewer, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Return what entries refer to, most used first, and how many references there are."""
    sql = PATTERNS.format(visible=viewer.visible(), listed=LISTED)
    with connection.cursor() as cursor:
        cursor.execute(sql, {**viewer.parameters, "limit": limit})
        found = cursor.fetchall()
    told = [{"pattern_ref": ref, "usage_count": count, "entity_paths": paths} for ref, count, paths, _ in found]
    return told, found[0][3] if found else 0


def reuse(viewer: Viewer, since: datetime, *, agent: str | None, writer: str | None) -> dict[str, Any]:
    """Return how often entries were read since a moment; what one agent read, or what one agent wrote."""
    values = {**viewer.parameters, "since": since, "reader": agent, "writer": writer}
    with connection.cursor() as cursor:
        cursor.execute(REUSE.format(visible=viewer.visible()), values)
        reuses, read, saved, cross, top, by_agent, recent = cursor.fetchone()
    return {
        "reuses": reuses,
        "memories_reused": read,
        "est_tokens_saved": saved,
        "cross_surface": cross,
        "top": _json(top),
        "by_agent": _json(by_agent),
        "recent_cross_surface": _json(recent),
    }


def _json(found: Any) -> Any:
    return json.loads(found) if isinstance(found, str) else found or []


def named(viewer: Viewer, asked: Sequence[Name], now: datetime) -> list[Row]:
    """Return the entries of main that some names stand for, as far as there are any."""
    sql = f"""{rows.HEADS} WHERE {viewer.visible()} AND e.branch = 'main'
                AND (e.entity_path, e.key) IN (SELECT * FROM unnest(%(paths)s::text[], %(keys)s::text[]))
                AND (e.ttl_at IS NULL OR e.ttl_at > %(now)s) ORDER BY e.entity_path, e.key, e.owner DESC"""
    paths, keys = [name.entity_path for name in asked], [name.key for name in asked]
    found: dict[Name, Row] = {}
    for row in rows.select(sql, {**viewer.parameters, "paths": paths, "keys": keys, "now": now}):
        found.setdefault(Name(row.entity_path, row.key), row)
    return list(found.values())


def crowded(viewer: Viewer, paths: Sequence[str]) -> set[str]:
    """Return those of the paths at which more than one entry stands."""
    with connection.cursor() as cursor:
        cursor.execute(CROWDED.format(visible=viewer.visible()), {**viewer.parameters, "paths": list(paths)})
        return {path for (path,) in cursor.fetchall()}

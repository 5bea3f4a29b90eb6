"""The memory gap: entries that match a task and were not named as its causes (contract.md 2.8).

It says what matched, never that it was not read. It must not fail an outcome, so it has two seconds and no side effect.
"""

from collections.abc import Sequence
from typing import Any

from django.db import OperationalError, connection, transaction

from memories.viewers import Viewer
from senselab import pipeline

CHARACTERS = 2_000
POOL = 150
SAMPLE = 3
BUDGET = "2s"
LIMIT = "SELECT current_setting('statement_timeout'), set_config('statement_timeout', %s, true)"

# Any word of the task that is not among the most common ones of English finds an entry.
SQL = """
    WITH asked AS (
        SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery AS words
          FROM unnest(to_tsvector('simple', translate(%(task)s, '/_.:-', '     ')))
         WHERE ts_lexize('english_stem', lexeme) <> '{{}}' AND lexeme NOT LIKE '%%\\\\%%'
    ),
    matched AS (
        SELECT e.entity_path || '/' || e.key AS entry_key, e.settled_confidence
          FROM asked, memories_entrytext t JOIN memories_entry e ON e.account_id = t.account_id AND e.id = t.entry_id
         WHERE t.account_id = %(account)s AND t.words @@ asked.words AND {visible} AND e.branch = %(branch)s
           AND e.status = 'active' AND (e.ttl_at IS NULL OR e.ttl_at > %(now)s)
           AND (%(paths)s::text[] = '{{}}' OR e.entity_path = ANY(%(paths)s))
         LIMIT {pool}
    )
    SELECT count(*), count(*) FILTER (WHERE entry_key = ANY(%(cited)s)),
           (array_agg(entry_key ORDER BY settled_confidence DESC, entry_key)
              FILTER (WHERE NOT entry_key = ANY(%(cited)s)))[1:{sample}]
      FROM matched
"""


def memory_gap(
    viewer: Viewer, task: str, *, cited: Sequence[str], paths: Sequence[str], branch: str, now: Any
) -> dict[str, Any] | None:
    """Return what matched a task and what of it was named; None when nothing matched, or time ran out."""
    values = {
        **viewer.parameters,
        "task": task[:CHARACTERS],
        "branch": branch,
        "paths": list(paths),
        "cited": list(cited),
        "now": now,
    }
    sql = SQL.format(visible=viewer.visible(), pool=POOL, sample=SAMPLE)
    try:
        matched, linked, sample = _within_budget(sql, values)
    except OperationalError:
        return None
    if not matched:
        return None
    told: dict[str, Any] = {"matched": matched, "linked_to_outcome": linked}
    if matched > linked:
        told |= {"unlinked": matched - linked, "unlinked_sample": sample or []}
        told["note"] = "Entries that match this task are not among its causes; name those it relied on."
    return told


def _within_budget(sql: str, values: dict[str, Any]) -> tuple[Any, ...]:
    """Return the one row of a statement that may take two seconds; what travels together is a transaction, with which
    the limit ends."""
    if not connection.in_atomic_block:
        _, (row,) = pipeline.fetch((LIMIT, [BUDGET]), (sql, values))
        return row
    with transaction.atomic():
        ((usual, _),), (row,) = pipeline.fetch((LIMIT, [BUDGET]), (sql, values))
        # Inside a caller's transaction it would outlive this look.
        pipeline.fetch((LIMIT, [usual]))
    return row

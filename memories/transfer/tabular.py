"""The lists as CSV, for spreadsheets: as of one moment, streamed, and no cell of theirs a formula of somebody's."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from django.db import connection

from memories.checking.verify_reads import one_view
from memories.transfer import leaving
from senselab import sheets

ROWS = 1_000
# What people and agents say in sentences; all else is names.
PROSE = frozenset({"value", "situation", "task_input", "response_text", "reason"})
LISTS = {
    "entries": """
        SELECT e.branch, e.entity_path, e.key, e.owner, e.version, c.value, e.memory_type, e.status, e.evidence_status,
               e.confidence, e.settled_confidence, e.tier, e.outcome_count, e.success_count, e.failure_count,
               e.positive_reinforcement, e.negative_reinforcement, e.pinned, e.superseded_by, e.ttl_at, e.agent_id,
               e.written_at, e.created_at, e.changed_at, coalesce(r.recall_count, 0) AS recall_count
          FROM memories_entry e JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
          LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
         WHERE e.account_id = %s ORDER BY e.branch, e.entity_path, e.key, e.owner
    """,
    "outcomes": """
        SELECT o.outcome_ref, o.outcome_type, o.agent_id, o.session_id, o.branch, o.committed_at, o.causal_confidence,
               o.verified_by, o.replayed, array_to_string(o.causal_entry_keys, E'\\n') AS causal_entry_keys,
               array_to_string(o.entity_paths, E'\\n') AS entity_paths, o.situation, o.task_input, o.response_text
          FROM outcomes_outcome o WHERE o.account_id = %s ORDER BY o.committed_at, o.id
    """,
    "changes": """
        SELECT e.branch, e.entity_path, e.key, e.owner, v.number, v.change, v.at, s.actor_kind, s.actor, s.reason,
               s.cause, v.before, v.weight, v.confidence, v.status, v.evidence_status, v.policy
          FROM memories_entryversion v
          JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
          JOIN memories_changeset s ON s.account_id = v.account_id AND s.id = v.change_set_id
         WHERE v.account_id = %s ORDER BY v.at, e.branch, e.entity_path, e.key, e.owner, v.number
    """,
}


def pieces(account_id: int, name: str) -> Iterator[bytes]:
    """Yield one of LISTS as CSV in UTF-8, header first; a thousand rows are in memory."""
    with one_view(), connection.chunked_cursor() as cursor:
        leaving.hash_joins_only()
        cursor.execute(LISTS[name], [account_id])
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

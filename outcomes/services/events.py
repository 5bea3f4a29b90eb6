"""What clients post to a timeline, kept; what the server knows by itself is not kept again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection
from psycopg.types.json import Jsonb

KEEP = """
    INSERT INTO outcomes_event (account_id, agent_id, branch, event_type, summary, details, actor_agent_id, entity_path,
        key, created_at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id
"""
OUTCOME = """
    SELECT o.id FROM outcomes_outcome o
     WHERE o.account_id = %s AND o.outcome_ref = %s AND o.agent_id = %s ORDER BY o.committed_at DESC, o.id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Posted:
    """An event as it was posted, checked: on the timeline of one agent, perhaps done by another."""

    agent_id: str
    event_type: str
    summary: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    branch: str = "main"
    actor_agent_id: str = ""
    entity_path: str = ""
    key: str = ""


def post(account_id: int, event: Posted, now: datetime) -> int:
    """Keep an event and return its id."""
    values: list[Any] = [
        account_id,
        event.agent_id,
        event.branch,
        event.event_type,
        event.summary,
        Jsonb(dict(event.details)),
        event.actor_agent_id,
        event.entity_path,
        event.key,
        now,
    ]
    with connection.cursor() as cursor:
        cursor.execute(KEEP, values)
        return int(cursor.fetchone()[0])


def outcome_of(account_id: int, event: Posted) -> int | None:
    """Return the outcome that an event tells of, None when that was never told here."""
    with connection.cursor() as cursor:
        cursor.execute(OUTCOME, [account_id, str(event.details.get("outcome_ref") or ""), event.agent_id])
        row = cursor.fetchone()
    return row[0] if row else None

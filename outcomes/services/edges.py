"""Edges of the graph as clients tell them; each is kept once for each teller and counts how often it was told."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection
from psycopg.types.json import Jsonb

UPSERT = """
    INSERT INTO outcomes_edge AS kept (account_id, digest, branch, source_entity, source_type, relation, target_entity,
        target_type, confidence, evidence_count, first_seen, last_seen, provenance, agent_id)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, 1, %s, %s, %s, %s)
    ON CONFLICT (account_id, digest) DO UPDATE
       SET evidence_count = kept.evidence_count + 1, last_seen = greatest(kept.last_seen, excluded.last_seen),
           confidence = excluded.confidence, provenance = excluded.provenance
"""


@dataclass(frozen=True, slots=True)
class Told:
    """An edge as an agent told it, checked."""

    source: str
    relation: str
    target: str
    agent_id: str
    source_type: str = "entry"
    target_type: str = "entry"
    branch: str = "main"
    confidence: float = 1.0
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> bytes:
        same = json.dumps([self.branch, self.source, self.relation, self.target, self.agent_id], ensure_ascii=True)
        return hashlib.sha256(same.encode()).digest()


def tell(account_id: int, edge: Told, now: datetime) -> None:
    """Keep an edge, or count that it was told again."""
    values: list[Any] = [
        account_id,
        edge.digest,
        edge.branch,
        edge.source,
        edge.source_type,
        edge.relation,
        edge.target,
        edge.target_type,
        edge.confidence,
        now,
        now,
        Jsonb(dict(edge.provenance)),
        edge.agent_id,
    ]
    with connection.cursor() as cursor:
        cursor.execute(UPSERT, values)

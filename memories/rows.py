"""Entries as they are shown: one statement gives a row with its claim, its recalls and its state, head or version."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memories import heads
from memories.heads import STATE
from memories.rules.policy import Policy
from memories.rules.silence import Silence
from memories.rules.state import State
from senselab import pipeline


@dataclass(frozen=True, slots=True)
class Row:
    """One version of an entry, whole. `kept` and `accessed_at` are the head's: freshness belongs to the present."""

    entry_id: int
    branch: str
    entity_path: str
    key: str
    owner: str
    version: int
    head_version: int
    state: State
    value: str
    is_artifact: bool
    agent_id: str
    session_id: str
    written_at: datetime
    pattern_refs: list[str]
    artifact_refs: str
    content_hash: str
    integrity_chain: str
    recall_count: int
    kept: float
    accessed_at: datetime
    changed_at: datetime
    tier: int
    importance_score: float | None
    importance_dimensions: str | None
    settled_confidence: float
    on_probation: bool = False

    @property
    def entry_key(self) -> str:
        return f"{self.entity_path}/{self.key}"

    def freshness(self, now: datetime, policy: Policy) -> float:
        """Return what silence left of it at `now`; of an old version what it had at its time."""
        if self.version != self.head_version:
            return self.state.freshness
        return Silence(self.state, self.kept, self.accessed_at, self.recall_count).freshness(now, policy)

    def is_gone(self, now: datetime) -> bool:
        """Tell whether its time to live is over, swept or not."""
        return self.state.ttl_at is not None and self.state.ttl_at <= now


REST = """
    c.value, c.is_artifact, c.agent_id, c.session_id, c.written_at, c.pattern_refs, c.artifact_refs::text,
    c.content_hash, {of}.integrity_chain, coalesce(r.recall_count, 0),
    CASE WHEN r.accessed_at > e.accessed_at THEN r.freshness ELSE e.freshness END,
    greatest(e.accessed_at, r.accessed_at), e.changed_at, e.tier, e.importance_score, e.importance_dimensions::text,
    e.settled_confidence, e.on_probation
"""
CLAIM_AND_RECALLS = """
    JOIN memories_claim c ON c.account_id = {of}.account_id AND c.id = {of}.claim_id
    LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
"""
STATE_OF = {of: ", ".join(f"{of}.{name}" for name in STATE) for of in ("e", "v")}
HEADS = f"""
    SELECT e.id, e.branch, e.entity_path, e.key, e.owner, e.version, e.version, {STATE_OF["e"]}, {REST.format(of="e")}
      FROM memories_entry e {CLAIM_AND_RECALLS.format(of="e")}
"""
VERSIONS = f"""
    SELECT e.id, e.branch, e.entity_path, e.key, e.owner, v.number, e.version, {STATE_OF["v"]}, {REST.format(of="v")}
      FROM memories_entry e
      JOIN memories_entryversion v ON v.account_id = e.account_id AND v.entry_id = e.id
      {CLAIM_AND_RECALLS.format(of="v")}
"""
# For lists of versions: a megabyte of value for each of fifty lines is read by nobody.
WITHOUT_VALUES = VERSIONS.replace("c.value,", "'',")


def row_of(row: Sequence[Any]) -> Row:
    end = 7 + len(STATE)
    values: Any = [*row[:7], heads.state_of(row[7:end]), *row[end:]]
    return Row(*values)


def select(sql: str, parameters: Sequence[Any] | dict[str, Any]) -> list[Row]:
    """Return the rows of a statement that begins with HEADS or VERSIONS."""
    (found,) = pipeline.read((sql, parameters))
    return [row_of(row) for row in found]

"""Entries as they travel (contract.md 1.1), with the native fields of DESIGN.md beside them."""

import json
from datetime import datetime
from operator import attrgetter
from typing import Any

import msgspec

from memories.heads import Head
from memories.recalls import Read, buffer, tokens_of
from memories.rows import Row
from memories.rules import evidence, provenance, tiers
from memories.rules.policy import Policy
from memories.services.writing import Draft, Stored
from memories.viewers import Viewer

PROTOCOL = "0.3.0"
# Fields that travel under the name they have here.
OF_STATE = (
    "confidence", "outcome_count", "success_count", "failure_count", "evidence_success", "evidence_failure",
    "prior_confidence", "last_outcome", "last_outcome_at", "discredited_at", "validators", "ttl_at", "memory_type",
    "shared", "evidence_status", "status", "positive_reinforcement", "negative_reinforcement", "pinned",
    "superseded_by",
)  # fmt: skip
OF_ROW = ("recall_count", "tier", "importance_score", "is_artifact", "branch")
of_state, of_row = attrgetter(*OF_STATE), attrgetter(*OF_ROW)


def entry(row: Row, now: datetime, policy: Policy, *, meta_only: bool = False) -> dict[str, Any]:
    """Return a row as a client of the public packages reads it; the value is the text it came as."""
    state = row.state
    freshness = row.freshness(now, policy)
    told: dict[str, Any] = {
        "amfs_version": PROTOCOL,
        "entity_path": row.entity_path,
        "key": row.key,
        "version": row.version,
        "value": msgspec.Raw(row.value.encode()),
        "provenance": {
            "agent_id": row.agent_id,
            "session_id": row.session_id,
            "written_at": row.written_at,
            "pattern_refs": row.pattern_refs,
        },
        **dict(zip(OF_STATE, of_state(state), strict=True)),
        **dict(zip(OF_ROW, of_row(row), strict=True)),
        # What was erased has none.
        "content_hash": row.content_hash or None,
        "integrity_chain": row.integrity_chain or None,
        "uplift": None,
        "uplift_sessions": 0,
        "priority_score": priority(row, now, policy, freshness),
        "importance_dimensions": msgspec.Raw((row.importance_dimensions or "null").encode()),
        "artifact_refs": msgspec.Raw(row.artifact_refs.encode()),
        "commit_id": None,
        "posterior": evidence.posterior(state.record, policy),
        "effective_confidence": state.confidence * freshness,
        "freshness": freshness,
        "provenance_tier": provenance.provenance_tier(row.agent_id, state.outcome_count),
    }
    if row.on_probation:
        told["on_probation"] = True
    if meta_only:
        del told["value"], told["artifact_refs"]
    return told


def priority(row: Row, now: datetime, policy: Policy, freshness: float) -> float:
    """Return the priority of RULES.md 5."""
    return tiers.priority(
        importance=row.importance_score,
        effective=row.state.confidence * freshness,
        written_at=row.written_at,
        now=now,
        recall_count=row.recall_count,
        policy=policy,
    ).value


def row_of_stored(draft: Draft, stored: Stored, now: datetime) -> Row:
    """Return what a write left as a row, without asking the database again."""
    before: Head | None = stored.before
    claim = stored.claim
    kept_importance = before.importance_score if before else None
    kept_dimensions = before.importance_dimensions if before else None
    return Row(
        entry_id=stored.entry_id,
        branch=draft.branch,
        entity_path=draft.entity_path,
        key=draft.key,
        owner="" if draft.shared else draft.agent_id,
        version=stored.version,
        head_version=stored.version,
        state=stored.state,
        value=claim.value or "null",
        is_artifact=claim.is_artifact,
        agent_id=claim.agent_id,
        session_id=claim.session_id,
        written_at=claim.written_at,
        pattern_refs=list(claim.pattern_refs),
        artifact_refs=json.dumps(list(claim.artifact_refs)),
        content_hash=claim.content_hash,
        integrity_chain=stored.integrity_chain,
        recall_count=before.recall_count if before else 0,
        kept=stored.state.freshness,
        accessed_at=now,
        changed_at=now,
        tier=before.tier if before else 3,
        importance_score=draft.importance_score if draft.importance_score is not None else kept_importance,
        importance_dimensions=json.dumps(draft.importance_dimensions)
        if draft.importance_dimensions is not None
        else kept_dimensions,
        settled_confidence=stored.state.confidence * stored.state.freshness,
        on_probation=stored.on_probation,
    )


def note_recall(row: Row, viewer: Viewer, session_id: str, now: datetime) -> None:
    """Count that a row was served; it is written a moment later."""
    read = Read(row.entry_id, row.version, viewer.agent_id, session_id, now, tokens_of(row.value))
    buffer.note(viewer.account_id, viewer.policy, read)


def flush_recalls() -> None:
    """Write what this process has served and not written yet."""
    buffer.flush()


def reuse_header(row: Row, viewer: Viewer) -> dict[str, str]:
    """Return X-SenseLab-Value: what a read reused, and about what that saved (contract.md 1.14)."""
    told: dict[str, Any] = {
        "memories_used": 1,
        "reused_before": row.recall_count,
        "est_tokens_saved": f"~{tokens_of(row.value)}",
        "estimate": True,
        "basis": "length of the value / 4, between 200 and 4000 tokens",
        "credited": {"entity_path": row.entity_path, "key": row.key, "version": row.version},
    }
    if viewer.agent_id and viewer.agent_id != row.agent_id:
        told["cross_surface"] = {"written_by": row.agent_id, "reused_by": viewer.agent_id}
    told["note"] = "Reused instead of worked out again."
    return {"X-SenseLab-Value": json.dumps(told, ensure_ascii=True, separators=(",", ":"))}

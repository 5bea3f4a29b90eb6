"""The bodies agents send, as msgspec reads them; absent and null mean the same unless a field says otherwise."""

from datetime import datetime
from typing import Annotated, Any

import msgspec

Probability = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
UNSET = msgspec.UNSET


class WriteBody(msgspec.Struct):
    """POST /entries. `ttl_at` null clears a time to live; without it the same claim keeps the one it has."""

    entity_path: str
    key: str
    value: msgspec.Raw = msgspec.Raw(b"null")
    confidence: Probability | None = None
    pattern_refs: list[str] | None = None
    memory_type: str | None = None
    shared: bool | None = None
    branch: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    include_scope: bool | None = None
    ttl_at: datetime | msgspec.UnsetType | None = UNSET
    artifact_refs: list[dict[str, Any]] | None = None
    importance_score: Probability | None = None
    importance_dimensions: dict[str, float] | None = None
    embedding: list[float] | None = None
    pinned: bool | None = None
    expected_version: Annotated[int, msgspec.Meta(ge=0)] | None = None


class CommitBody(msgspec.Struct):
    """POST /commits: writes of one agent, each name once, that stand or fall together."""

    writes: list[WriteBody] | None = None
    message: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    branch: str | None = None


class MergeBaseBody(msgspec.Struct):
    """POST /merge-base."""

    commit_a: str
    commit_b: str


class SearchBody(msgspec.Struct):
    """POST /search (contract.md 2.6)."""

    query: str | None = None
    entity_path: str | None = None
    include_descendants: bool | None = None
    min_confidence: Probability | None = None
    max_confidence: Probability | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None
    sort_by: str | None = None
    depth: Annotated[int, msgspec.Meta(ge=1, le=3)] | None = None
    agent_id: str | None = None
    since: datetime | None = None
    pattern_ref: str | None = None
    include_artifacts: bool | None = None
    branch: str | None = None
    status: list[str] | None = None
    memory_type: str | None = None
    evidence_status: str | None = None


class RollbackBody(msgspec.Struct):
    """POST /rollback: to an earlier version, for somebody who looked at `expected_version`."""

    entity_path: str
    key: str
    to_version: Annotated[int, msgspec.Meta(ge=1, le=2_147_483_647)]
    expected_version: Annotated[int, msgspec.Meta(ge=1, le=2_147_483_647)] | None = None
    reason: str = ""
    preview: bool = False
    branch: str | None = None
    agent_id: str | None = None


class UndoBody(msgspec.Struct):
    """POST /change-sets/ID/undo."""

    reason: str = ""
    agent_id: str | None = None

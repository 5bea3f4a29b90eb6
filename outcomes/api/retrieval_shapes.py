"""The body of a retrieval as msgspec reads it (contract.md 2.7)."""

from typing import Annotated, Literal

import msgspec

from memories.api.shapes import Probability

Weight = Annotated[float, msgspec.Meta(ge=0.0, le=1_000.0)]
Scalar = bool | float | str | None


class EnvironmentBody(msgspec.Struct):
    """What a run is like; procedures may be for another."""

    model: str | None = None
    agent_version: str | None = None
    runtime: str | None = None
    platform: str | None = None


class RetrieveBody(msgspec.Struct):
    """POST /retrieve; `depth`, `memory_type`, `format` and `max_tokens` are ours."""

    query: str
    entity_path: str | None = None
    include_descendants: bool | None = None
    branch: str | None = None
    min_confidence: Probability | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] | None = None
    depth: Annotated[int, msgspec.Meta(ge=1, le=3)] | None = None
    memory_type: str | None = None
    semantic_weight: Weight | None = None
    recency_weight: Weight | None = None
    confidence_weight: Weight | None = None
    evidence_weight: Weight | None = None
    include_artifacts: bool | None = None
    include_discredited: bool | None = None
    include_avoid: bool | None = None
    adaptive_k: bool | None = None
    agent_id: str | None = None
    session_id: str | None = None
    include_priors: bool | None = None
    candidate_actions: list[str] | None = None
    situation: str | None = None
    compact: bool | None = None
    environment: EnvironmentBody | None = None
    abstain: bool | None = None
    covariates: dict[str, Scalar] | None = None
    format: Literal["json", "markdown"] | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=50, le=1_000_000)] | None = None

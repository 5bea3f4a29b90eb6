"""The bodies of outcome reports as msgspec reads them (contract.md 2.8)."""

from typing import Annotated, Any

import msgspec

from memories.api.shapes import Probability


class AttemptBody(msgspec.Struct):
    """A try that failed before the final one."""

    attempt: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] | None = None
    outcome_type: str | None = None
    causal_entry_keys: list[str] | None = None
    causal_entry_versions: dict[str, int] | None = None
    action_indices: list[int] | None = None
    summary: str | None = None


class OutcomeBody(msgspec.Struct):
    """POST /outcomes."""

    outcome_ref: str
    outcome_type: str
    causal_entry_keys: list[str] | None = None
    causal_confidence: Probability | None = None
    agent_id: str | None = None
    session_id: str | None = None
    branch: str | None = None
    task_input: str | None = None
    response_text: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    session_metadata: dict[str, Any] | None = None
    trace_follows: bool | None = None
    attempts: list[AttemptBody] | None = None
    final_action_index: int | None = None
    causal_entry_versions: dict[str, int] | None = None
    actions_taken: list[dict[str, Any]] | None = None
    entity_path: str | None = None
    entity_paths: list[str] | None = None
    covariates: dict[str, Any] | None = None
    situation: str | None = None

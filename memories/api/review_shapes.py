"""The bodies of feedback, evidence, observations and decisions, as msgspec reads them."""

from datetime import datetime
from typing import Annotated

import msgspec

from memories.api.shapes import Probability

Version = Annotated[int, msgspec.Meta(ge=1, le=2_147_483_647)]
Delta = Annotated[float, msgspec.Meta(ge=-1.0, le=1.0)]


class ReplacementBody(msgspec.Struct):
    """An entry to be written in the place of another; without a key it gets one like the other's."""

    value: msgspec.Raw
    entity_path: str | None = None
    key: str | None = None
    confidence: Probability | None = None
    memory_type: str | None = None


class FeedbackBody(msgspec.Struct):
    """POST /feedback."""

    entity_path: str
    key: str
    outcome: str
    branch: str | None = None
    superseded_by: str | None = None
    replacement: ReplacementBody | None = None
    note: str = ""
    expected_version: Version | None = None
    agent_id: str | None = None
    session_id: str | None = None


class ObservedBody(msgspec.Struct):
    """What was observed: when (now unless told), what, and its name, by which it counts once."""

    description: str
    timestamp: datetime | None = None
    observation_id: str | None = None


class EvidenceBody(msgspec.Struct):
    """POST /evidence."""

    entity_path: str
    key: str
    evidence: ObservedBody
    confidence_delta: Delta | None = None
    branch: str | None = None
    expected_version: Version | None = None
    agent_id: str | None = None
    session_id: str | None = None


class NameBody(msgspec.Struct):
    """An entry by name."""

    entity_path: str
    key: str


class PromptBody(msgspec.Struct):
    """A user's words."""

    prompt: str


class ObservationBody(msgspec.Struct):
    """POST /observations. `entries` are names or entry keys; with `replace` a correction writes what it suggests."""

    data: PromptBody
    session_id: str | None = None
    entries: list[str | NameBody] | None = None
    apply: bool | None = None
    replace: bool = False
    branch: str | None = None
    agent_id: str | None = None


class ItemBody(msgspec.Struct):
    """An entry to decide about, and the version that was looked at."""

    entity_path: str
    key: str
    version: Version
    branch: str | None = None


class FilterBody(msgspec.Struct):
    """What of the queue is meant."""

    reason: str | list[str] | None = None
    entity_path: str | None = None
    agent_id: str | None = None
    older_than_days: Annotated[int, msgspec.Meta(ge=0, le=36_500)] | None = None
    branch: str | None = None


class DecisionBody(msgspec.Struct):
    """POST /review/decisions: about `items`, or about all that `filter` selects (an empty one needs `all: true`).

    `value` is empty when none was sent; null is a value.
    """

    decision: str
    items: list[ItemBody] | None = None
    filter: FilterBody | None = None
    all: bool = False
    reason: str = ""
    value: msgspec.Raw = msgspec.Raw(b"")
    confidence: Probability | None = None
    memory_type: str | None = None
    to_version: Version | None = None
    superseded_by: str | None = None
    replacement: ReplacementBody | None = None
    until: datetime | None = None
    text: str = ""
    preview: bool = False
    agent_id: str | None = None

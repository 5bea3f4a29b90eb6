"""What one act is made of, before the ledger writes it: who, when, why, and the versions it makes of each entry."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from memories.heads import Head
from memories.rules import seals
from memories.rules.policy import Policy
from memories.rules.state import State
from memories.rules.values import Value


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: an agent, a person or a job, by name; `session_id` and `request_id` when there are any."""

    kind: str
    name: str
    session_id: str = ""
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """What will be one change set: its kind, who did it, when, why, and what brought it about."""

    kind: str
    actor: Actor
    at: datetime
    policy: Policy
    reason: str = ""
    cause: str = ""
    undoes_id: int | None = None

    @property
    def policy_name(self) -> str:
        return f"{self.policy.name}@{self.policy.version}"


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim, new or there already (`id`): what was said, by whom and when."""

    agent_id: str
    session_id: str
    written_at: datetime
    digest: bytes
    content_hash: str
    salt: bytes
    content: bytes
    id: int | None = None
    value: str | None = None
    is_artifact: bool = False
    pattern_refs: tuple[str, ...] = ()
    artifact_refs: Sequence[Mapping[str, Any]] = ()
    embedding: Sequence[float] | None = None


def claimed(
    value: Value,
    *,
    agent_id: str,
    session_id: str,
    written_at: datetime,
    pattern_refs: tuple[str, ...] = (),
    artifact_refs: Sequence[Mapping[str, Any]] = (),
    **extras: Any,
) -> Claimed:
    """Return a new claim of a checked value, salted and hashed."""
    salt = secrets.token_bytes(16)
    references = seals.references(pattern_refs, msgspec.json.encode(artifact_refs).decode())
    return Claimed(
        agent_id=agent_id,
        session_id=session_id,
        written_at=written_at,
        digest=value.digest,
        content_hash=value.content_hash,
        salt=salt,
        content=seals.claim_content(salt, value.text, references),
        value=value.text,
        is_artifact=value.is_artifact,
        pattern_refs=pattern_refs,
        artifact_refs=artifact_refs,
        **extras,
    )


@dataclass(frozen=True, slots=True)
class Effect:
    """What a step of an outcome did to an entry, or (``skipped``) why nothing."""

    outcome_id: int
    outcome_ref: str
    outcome_type: str
    agent_id: str
    step: int
    causal_confidence: float
    keys: int
    verified: bool
    verified_by: str
    credit: float = 1.0
    version_read: int | None = None
    before: float | None = None
    weight: float | None = None
    after: float | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Next:
    """One version to come: why, the state it leaves, the arithmetic behind it, and the effect that made it."""

    change: str
    state: State
    before: float | None = None
    weight: float | None = None
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """What an act does to one entry.

    `head` is the entry as the caller saw it (None: it is new, then the names are given); `claim` is the claim it stands
    on from now on (None: the one it has); `since` is the version that the numbers of a new one go on from. `access`
    tells whether the act counts as use, so that silence counts anew; `silence`, given by an undo, is the freshness and
    the last access to go back to instead.
    """

    steps: Sequence[Next]
    head: Head | None = None
    branch: str = "main"
    entity_path: str = ""
    key: str = ""
    owner: str = ""
    since: int = 0
    claim: Claimed | None = None
    access: bool = True
    silence: tuple[float, datetime] | None = None
    importance_score: float | None = None
    importance_dimensions: Mapping[str, float] | None = None
    # Whether it goes on probation; else it stays there as long as it is under review.
    on_probation: bool = False

    @property
    def number(self) -> int:
        """Return the version before those to come, 0 when there is none."""
        return self.head.version if self.head else self.since

"""The one place that writes versions: change set, claims, versions, effects and heads in one statement, all or nothing."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from django.db import connection

from memories.heads import STATE, ClaimHead, Head
from memories.rules import integrity, seals
from memories.rules.policy import Policy
from memories.rules.silence import Silence
from memories.rules.state import State
from memories.rules.values import Value
from memories.services.ledger_sql import APPEND


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
    on from now on (None: the one it has). `access` tells whether the act counts as use, so that silence counts anew.
    """

    steps: Sequence[Next]
    head: Head | None = None
    branch: str = "main"
    entity_path: str = ""
    key: str = ""
    owner: str = ""
    claim: Claimed | None = None
    access: bool = True
    importance_score: float | None = None
    importance_dimensions: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What was appended: the change set, and for each move the entry's id, or None where somebody was first."""

    change_set_id: int | None
    entry_ids: list[int | None] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return all(entry_id is not None for entry_id in self.entry_ids)


def append(account_id: int, act: Act, moves: Sequence[Move], *, skipped: Sequence[tuple[int, Effect]] = ()) -> Written:
    """Write all moves as one change set; a move whose entry somebody changed meanwhile writes nothing at all.

    One statement. `skipped` are effects that moved nothing, with the id of the entry they left alone. Call it inside a
    transaction when several moves stand or fall together, and look at `Written.complete`.
    """
    prepared = [_prepare(index, move, act) for index, move in enumerate(moves)]
    payload = {
        "heads": [head for head, _, _ in prepared],
        "claims": [claim for _, claim, _ in prepared if claim],
        "versions": [version for _, _, versions in prepared for version in versions],
        "effects": [_effect(effect, entry_id=entry_id) for entry_id, effect in skipped],
    }
    parameters = {
        "account": account_id,
        "payload": msgspec.json.encode(payload).decode(),
        "at": act.at,
        "kind": act.kind,
        "actor_kind": act.actor.kind,
        "actor": act.actor.name,
        "session": act.actor.session_id,
        "request": act.actor.request_id,
        "reason": act.reason,
        "cause": act.cause,
        "undoes": act.undoes_id,
        "policy": act.policy_name,
    }
    with connection.cursor() as cursor:
        cursor.execute(APPEND, parameters)
        rows = cursor.fetchall()
    ids: dict[int, int] = {index: entry_id for index, entry_id, _ in rows}
    return Written(rows[0][2] if rows else None, [ids.get(index) for index in range(len(moves))])


def _prepare(index: int, move: Move, act: Act) -> tuple[dict[str, Any], dict[str, Any] | None, list[dict[str, Any]]]:
    head, last = move.head, move.steps[-1]
    claim = move.claim or (head.claim if head else None)
    if claim is None:
        raise ValueError("a new entry needs a claim")
    salt = head.salt if head else secrets.token_bytes(16)
    versions, seal, chain = _versions(index, move, act, claim, salt)
    kept, accessed_at = (last.state.freshness, act.at) if move.access or not head else (head.kept, head.accessed_at)
    recalls = head.recall_count if head else 0
    silence = Silence(last.state, kept, accessed_at, recalls)
    written = {
        "i": index,
        "entry_id": head.id if head else None,
        "expected": head.version if head else 0,
        "version": (head.version if head else 0) + len(move.steps),
        "branch": head.branch if head else move.branch,
        "entity_path": head.entity_path if head else move.entity_path,
        "key": head.key if head else move.key,
        "owner": "" if last.state.shared else move.owner or (head.owner if head else ""),
        "claim_id": claim.id,
        # A claim that stood before stands again (rollback, undo): its words have to be found again.
        "reword": bool(move.claim and move.claim.id is not None),
        "agent_id": claim.agent_id,
        "written_at": claim.written_at,
        "accessed_at": accessed_at,
        "kept": kept,
        "settled_confidence": silence.effective(act.at, act.policy),
        "due_at": silence.due_at(act.policy),
        "importance_score": move.importance_score if move.importance_score is not None else head and head.importance_score,
        "importance_dimensions": move.importance_dimensions
        if move.importance_dimensions is not None
        else (msgspec.json.decode(head.importance_dimensions) if head and head.importance_dimensions else None),
        "salt": salt.hex(),
        "seal": seal.hex(),
        "integrity_chain": chain,
        **_state(last.state),
    }
    return written, _claim(index, move.claim) if move.claim and move.claim.id is None else None, versions


def _versions(
    index: int, move: Move, act: Act, claim: Claimed | ClaimHead, salt: bytes
) -> tuple[list[dict[str, Any]], bytes, str]:
    head = move.head
    number, seal, chain = (head.version, head.seal, head.integrity_chain) if head else (0, seals.FIRST, "")
    path, key = (head.entity_path, head.key) if head else (move.entity_path, move.key)
    content = seals.content_digest(claim.salt, claim.content, act.reason)
    rows = []
    for step in move.steps:
        number += 1
        spoken = (path, key, claim.agent_id, claim.session_id, act.actor.kind, act.actor.name)
        covered = seals.covered(
            step.state,
            number=number,
            change=step.change,
            at=act.at,
            before=step.before,
            weight=step.weight,
            policy=act.policy_name,
        )
        names = seals.names_digest(salt, step.state, *spoken)
        seal = integrity.seal(seal, covered, names, content)
        chain = integrity.chain(claim.content_hash, chain)
        rows.append(
            {
                "i": index,
                "number": number,
                "change": step.change,
                "before": step.before,
                "weight": step.weight,
                "integrity_chain": chain,
                "names_digest": names.hex(),
                "content_digest": content.hex(),
                "seal": seal.hex(),
                "effect": _effect(step.effect) if step.effect else None,
                **_state(step.state),
            }
        )
    return rows, seal, chain


def _state(state: State) -> dict[str, Any]:
    return {name: getattr(state, name) for name in STATE}


def _claim(index: int, claim: Claimed) -> dict[str, Any]:
    return {
        "i": index,
        "value": claim.value,
        "is_artifact": claim.is_artifact,
        "agent_id": claim.agent_id,
        "session_id": claim.session_id,
        "written_at": claim.written_at,
        "pattern_refs": list(claim.pattern_refs),
        "artifact_refs": list(claim.artifact_refs),
        "embedding": claim.embedding,
        "digest": claim.digest.hex(),
        "salt": claim.salt.hex(),
        "content_hash": claim.content_hash,
        "content": claim.content.hex(),
    }


def _effect(effect: Effect, *, entry_id: int | None = None) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(effect)
    return row | {"entry_id": entry_id}


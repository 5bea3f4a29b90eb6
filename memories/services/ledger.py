"""The one place that writes versions: change set, claims, versions, effects and heads, all or nothing."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from memories.heads import STATE, ClaimHead
from memories.rules import integrity, seals
from memories.rules.kinds import Status
from memories.rules.silence import Silence
from memories.rules.state import State
from memories.services import found_by, ledger_sql
from memories.services.acts import Act, Actor, Claimed, Effect, Move, Next, claimed
from memories.services.ledger_sql import Parts
from senselab import pipeline

__all__ = ["Act", "Actor", "Claimed", "Effect", "Move", "Next", "Written", "append", "appending", "claimed", "written"]


@dataclass(frozen=True, slots=True)
class Written:
    """What was appended: the change set, and for each move the entry's id, or None where somebody was first."""

    change_set_id: int | None
    entry_ids: list[int | None] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return all(entry_id is not None for entry_id in self.entry_ids)


def append(
    account_id: int,
    act: Act,
    moves: Sequence[Move],
    *,
    skipped: Sequence[tuple[int, Effect]] = (),
    change_set_id: int | None = None,
) -> Written:
    """Write all moves as one change set; a move whose entry somebody changed meanwhile writes nothing at all.

    One statement (and a look at claims that stand again). `skipped` are effects that moved nothing, with the id of the
    entry they left alone. With `change_set_id` the versions join that set instead. Call it inside a transaction when
    several moves stand or fall together, and look at `Written.complete`.
    """
    query = appending(account_id, act, moves, skipped=skipped, change_set_id=change_set_id)
    (rows,) = pipeline.fetch(query)
    return written(rows, moves)


def appending(
    account_id: int,
    act: Act,
    moves: Sequence[Move],
    *,
    skipped: Sequence[tuple[int, Effect]] = (),
    change_set_id: int | None = None,
) -> pipeline.Query:
    """Return the statement behind `append`, to travel with others; `written` reads its rows."""
    prepared = [_prepare(index, move, act) for index, move in enumerate(moves)]
    payload = {
        "heads": [head for head, _, _ in prepared],
        "claims": [claim for _, claim, _ in prepared if claim],
        "versions": [version for _, _, versions in prepared for version in versions],
        "effects": [_effect(effect, entry_id=entry_id) for entry_id, effect in skipped],
        "words": found_by.rows(account_id, moves),
    }
    makes = any(move.head is None for move in moves)
    parts = Parts(
        makes=makes,
        moves=not makes or any(move.head is not None for move in moves),
        claims=bool(payload["claims"] or payload["words"]),
        effects=bool(skipped) or any(step.effect for move in moves for step in move.steps),
        grows=change_set_id is not None,
    )
    parameters = _parameters(account_id, act, payload)
    return ledger_sql.append(parts), parameters if change_set_id is None else parameters | {"change_set": change_set_id}


def written(rows: Sequence[tuple[Any, ...]], moves: Sequence[Move]) -> Written:
    ids: dict[int, int] = {index: entry_id for index, entry_id, _ in rows}
    return Written(rows[0][2] if rows else None, [ids.get(index) for index in range(len(moves))])


def _parameters(account_id: int, act: Act, payload: dict[str, Any]) -> dict[str, Any]:
    return {
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


def _prepare(index: int, move: Move, act: Act) -> tuple[dict[str, Any], dict[str, Any] | None, list[dict[str, Any]]]:
    head, last = move.head, move.steps[-1]
    claim = move.claim or (head.claim if head else None)
    if claim is None:
        raise ValueError("a new entry needs a claim")
    salt = head.salt if head else secrets.token_bytes(16)
    versions, seal, chain = _versions(index, move, act, claim, salt)
    kept, accessed_at = _silence(move, last.state, act)
    recalls = head.recall_count if head else 0
    silence = Silence(last.state, kept, accessed_at, recalls)
    written = {
        "i": index,
        "entry_id": head.id if head else None,
        "expected": head.version if head else 0,
        "version": move.number + len(move.steps),
        "branch": head.branch if head else move.branch,
        "entity_path": head.entity_path if head else move.entity_path,
        "key": head.key if head else move.key,
        "owner": "" if last.state.shared else move.owner or (head.owner if head else ""),
        "claim_id": claim.id,
        "agent_id": claim.agent_id,
        "written_at": claim.written_at,
        "accessed_at": accessed_at,
        "kept": kept,
        "settled_confidence": silence.effective(act.at, act.policy),
        "due_at": silence.due_at(act.policy),
        **_importance(move),
        "on_probation": on_probation(move, last.state),
        "salt": salt.hex(),
        "seal": seal.hex(),
        "integrity_chain": chain,
        **_state(last.state),
    }
    return written, _claim(index, move.claim) if move.claim and move.claim.id is None else None, versions


def _silence(move: Move, state: State, act: Act) -> tuple[float, datetime]:
    if move.silence is not None:
        return move.silence
    return (state.freshness, act.at) if move.access or not move.head else (move.head.kept, move.head.accessed_at)


def on_probation(move: Move, state: State) -> bool:
    """Tell whether an entry is on probation from now on: it ends with the review."""
    asked = move.on_probation or (move.head is not None and move.head.on_probation)
    return asked and state.status == Status.UNDER_REVIEW


def _importance(move: Move) -> dict[str, Any]:
    """Return what a writer said about importance, else what stood there."""
    score, dimensions = move.importance_score, move.importance_dimensions
    if move.head and score is None:
        score = move.head.importance_score
    if move.head and dimensions is None and move.head.importance_dimensions:
        dimensions = msgspec.json.decode(move.head.importance_dimensions)
    return {"importance_score": score, "importance_dimensions": dimensions}


def _versions(
    index: int, move: Move, act: Act, claim: Claimed | ClaimHead, salt: bytes
) -> tuple[list[dict[str, Any]], bytes, str]:
    head = move.head
    number = move.number
    seal, chain = (head.seal, head.integrity_chain) if head else (seals.FIRST, "")
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

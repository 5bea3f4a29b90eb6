"""Erasing what was said, for good: values, reasons, comments and, on request, names; a tombstone stays.

Seals hold digests of words and names, salted with salts that stand beside the words (memories.rules.seals): without
both a digest tells nothing, and the seal over it still fits. The tombstone is a version of its own, sealed like any.
Who calls this erases outcomes and traces as well (outcomes.services.erasing).
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec
from django.db import connection, transaction

from memories import heads
from memories.heads import Head, Name
from memories.models import ChangeSet
from memories.rules import integrity
from memories.rules.kinds import Change, Status
from memories.rules.standing import Standing
from memories.rules.state import State
from memories.rules.values import read_value
from memories.services import erasing_sql as sql
from memories.services import ledger, staging
from memories.services.acts import Act, Claimed, Move, Next
from memories.vectors import table
from senselab.accounts.models import Account
from senselab.errors import Conflict

KIND = "erasure"
LOCK = 7205
TOGETHER = 200


@dataclass(frozen=True, slots=True)
class Target:
    """What shall be erased: what entries say, or what an agent said anywhere; `names` takes the names along."""

    entry_ids: tuple[int, ...] = ()
    agent_id: str = ""
    names: bool = False


@dataclass(slots=True)
class Found:
    """What an erasure would blank: `entries` said it, `emptied` say it now, `touched` say a name that goes."""

    claims: list[int] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    emptied: list[int] = field(default_factory=list)
    touched: list[int] = field(default_factory=list)
    sets: list[int] = field(default_factory=list)
    evidence: list[int] = field(default_factory=list)
    comments: list[int] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """Return how much that is, in words for a person."""
        return {
            "entries": len(self.entries),
            "values": len(self.claims),
            "reasons": len(self.sets),
            "evidence": len(self.evidence),
            "comments": len(self.comments),
        }


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased: its change set, what was found, and which names stand for which from now on."""

    change_set_id: int
    at: datetime
    found: Found
    renamed: dict[str, str]


def look(account_id: int, target: Target) -> Found:
    """Return what an erasure would blank in this room."""
    values: dict[str, Any] = {"account": account_id, "ids": list(target.entry_ids), "agent": target.agent_id}
    rows = _rows(sql.CLAIMS_OF_AGENT if target.agent_id else sql.CLAIMS_OF_ENTRIES, values)
    found = Found(claims=[claim for claim, _ in rows])
    found.entries = sorted({*target.entry_ids, *(entry for _, entry in rows)})
    stood = heads.by_ids(account_id, found.entries)
    gone = set(found.claims)
    emptied = [head for head in stood if head.claim.id in gone or head.id in target.entry_ids]
    found.emptied = [head.id for head in emptied]
    found.names = [Name(head.entity_path, head.key) for head in emptied]
    values |= {"ids": found.entries, "claims": found.claims, "emptied": found.emptied}
    found.sets = _ids(sql.SETS, values)
    found.evidence, found.comments = _ids(sql.EVIDENCE, values), _ids(sql.COMMENTS, values)
    if target.names:
        found.touched = _touched(account_id, target, stood)
    return found


def _touched(account_id: int, target: Target, stood: Sequence[Head]) -> list[int]:
    if target.agent_id:
        return _ids(sql.NAMING_AGENT, {"account": account_id, "agent": target.agent_id})
    ids = set(target.entry_ids)
    for head in stood:
        if not _has_twin(account_id, head, target):
            ids |= set(_ids(sql.NAMING_ENTRY, {"account": account_id, "old": head.entry_key}))
    return sorted(ids)


def _has_twin(account_id: int, head: Head, target: Target) -> bool:
    """Tell whether another entry has the same name, so that whoever says it may mean that one."""
    values = {"account": account_id, "path": head.entity_path, "key": head.key, "ids": list(target.entry_ids)}
    return bool(_rows(sql.TWINS, values))


@transaction.atomic
def erase(account_id: int, target: Target, act: Act) -> Erased:
    """Erase what this room knows; inside a transaction, so that it stands or falls with the rest.

    :raises Conflict: a bulk run about an entry is on its way, or keys still speak for an agent whose name shall go.
    """
    _rows("SELECT pg_advisory_xact_lock(%(lock)s, %(account)s)", {"lock": LOCK, "account": account_id})
    if target.agent_id and target.names:
        _refuse_living_keys(account_id, target.agent_id)
    found = look(account_id, target)
    runs = _ended_runs(account_id, found.entries)
    chains = _chains(account_id, found)
    locked = heads.by_ids(account_id, sorted({*found.entries, *found.touched}), lock=True)
    own = _tombstones(account_id, locked, found, chains, act)
    values: dict[str, Any] = {
        "account": account_id,
        "ids": found.entries,
        "claims": found.claims,
        "emptied": found.emptied,
        "agent": target.agent_id,
        "sets": found.sets,
        "own": own,
        "at": act.at,
        "runs": runs,
    }
    _do(sql.BLANK, values)
    _do([sql.BLANK_TASKS, *([sql.VECTORS] if table.exists() else [])], values)
    _drop_stage(account_id)
    _rename_commits(account_id, found.sets)
    renamed = _rename(account_id, target, locked, found, values) if target.names else {}
    if target.agent_id:
        _do([sql.SAID_OF_AGENT], values | {"agent": renamed.get(target.agent_id, target.agent_id)})
    _past_the_trigger(account_id, target, found, chains, renamed, act.at)
    return Erased(own, act.at, found, renamed)


def _refuse_living_keys(account_id: int, agent_id: str) -> None:
    if _rows(sql.LIVING_KEYS, {"account": account_id, "agent": agent_id}):
        raise Conflict(
            "A key still speaks for this agent; revoke it first, or its name comes back with the next write."
        )


def _ended_runs(account_id: int, entry_ids: Sequence[int]) -> list[int]:
    """Return the bulk runs about entries.

    :raises Conflict: one is on its way.
    """
    rows = _rows(sql.RUNS, {"account": account_id, "ids": list(entry_ids)})
    if any(state in {"waiting", "running"} for _, state in rows):
        raise Conflict("A bulk run about this is on its way; wait for its end, or stop it.")
    return [run_id for run_id, _ in rows]


Chains = dict[int, list[tuple[int, str]]]


def _chains(account_id: int, found: Found) -> Chains:
    """Return what the chain of each version becomes, by entry: none where the value goes, anew after it."""
    gone = set(found.claims)
    contents: dict[int, list[tuple[int, str | None]]] = {}
    for entry_id, number, claim_id, content in _rows(sql.HASHES, {"account": account_id, "ids": found.entries}):
        contents.setdefault(entry_id, []).append((number, None if claim_id in gone or not content else content))
    return {
        entry_id: [
            (number, link or "")
            for (number, _), link in zip(told, integrity.chains([content for _, content in told]), strict=True)
        ]
        for entry_id, told in contents.items()
    }


def _tombstones(account_id: int, locked: Sequence[Head], found: Found, chains: Chains, act: Act) -> int:
    """Write the version that stands for what is gone on each entry, and return their change set."""
    emptied, own = set(found.emptied), None
    for start in range(0, len(locked), TOGETHER):
        moves = [_tombstone(head, head.id in emptied, chains, act) for head in locked[start : start + TOGETHER]]
        own = ledger.append(account_id, act, moves, change_set_id=own).change_set_id
    if own is None:
        # An agent may have said nothing but in outcomes and traces.
        actor = act.actor
        own = ChangeSet.objects.create(
            account_id=account_id, kind=act.kind, actor_kind=actor.kind, actor=actor.name, reason=act.reason,
            cause=act.cause, request_id=actor.request_id, at=act.at, size=0,
        ).pk  # fmt: skip
    return own


def _tombstone(head: Head, is_emptied: bool, chains: Chains, act: Act) -> Move:
    last = chains.get(head.id, [(0, head.integrity_chain)])[-1][1]
    seen = replace(head, integrity_chain=last)
    if not is_emptied:
        return Move(steps=[Next(Change.ERASED, head.state, before=head.state.confidence)], head=seen, access=False)
    state = replace(
        State().with_standing(Standing(0.0), act.policy),
        memory_type=head.state.memory_type,
        status=Status.ARCHIVED.value,
        shared=head.state.shared,
    )
    step = Next(Change.ERASED, state, before=head.state.confidence)
    return Move(steps=[step], head=seen, claim=_nothing(head, act), access=False)


def _nothing(head: Head, act: Act) -> Claimed:
    said = read_value("null", key=head.key)
    return ledger.claimed(said, agent_id=head.claim.agent_id, session_id="", written_at=act.at)


def _drop_stage(account_id: int) -> None:
    """Drop what an interrupted import left beside the tables."""
    stage = staging.Stage(Account.objects.get(pk=account_id).slug, "")
    with connection.cursor() as cursor:
        if stage.is_there(cursor):
            stage.drop(cursor)


def _rename_commits(account_id: int, sets: Sequence[int]) -> None:
    for old in _ids(sql.COMMITS, {"account": account_id, "sets": list(sets)}):
        _do(sql.RENAME_COMMIT, {"account": account_id, "old": old, "new": secrets.token_hex(6)})


def _rename(
    account_id: int, target: Target, locked: Sequence[Head], found: Found, values: dict[str, Any]
) -> dict[str, str]:
    """Give what is erased names that say nothing, and return which stand for which."""
    salts = [secrets.token_bytes(16) for _ in found.touched]
    _do([sql.RESALT], values | {"touched": found.touched, "salts": salts})
    if target.agent_id:
        new = f"erased-{values['own']}"
        _do(sql.RENAME_AGENT, values | {"old": target.agent_id, "new": new})
        return {target.agent_id: new}
    renamed = {}
    for head in locked:
        if head.id not in target.entry_ids:
            continue
        alone = not _has_twin(account_id, head, target)
        path, key = f"erased/{values['own']}", str(head.id)
        named = values | {"id": head.id, "path": head.entity_path, "new_path": path, "new_key": key}
        named |= {"old": head.entry_key, "new": f"{path}/{key}"}
        _do([sql.RENAME_ENTRY, sql.UNNAMED, *(sql.ELSEWHERE if alone else [])], named)
        if not _rows(sql.PLACE_LEFT, named):
            _do(sql.COUNTED_ELSEWHERE, named)
        if alone:
            renamed[head.entry_key] = f"{path}/{key}"
    return renamed


def _past_the_trigger(
    account_id: int, target: Target, found: Found, chains: Chains, renamed: dict[str, str], at: datetime
) -> None:
    kind = "agent" if target.agent_id else "entry"
    what = {
        "chains": [
            {"entry": entry_id, "number": number, "chain": chain}
            for entry_id, told in chains.items()
            for number, chain in told
        ],
        "evidence": found.evidence,
        "comments": found.comments,
        "names": [{"kind": kind, "old": old, "new": new} for old, new in renamed.items()],
        "refs": [],
    }
    _do([sql.ERASE], {"account": account_id, "at": at, "what": msgspec.json.encode(what).decode()})


def _do(statements: Iterable[str], values: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement, values)


def _rows(statement: str, values: dict[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def _ids(statement: str, values: dict[str, Any]) -> list[Any]:
    return sorted(row[0] for row in _rows(statement, values))

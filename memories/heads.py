"""The head of an entry as services hold it: read in one statement, moved by rules, written by the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple

from memories.rules.state import State
from senselab import pipeline

STATE = tuple(field.name for field in fields(State))
VALIDATORS = STATE.index("validators")


@dataclass(frozen=True, slots=True)
class ClaimHead:
    """What is needed of the current claim to go on from it; the value itself stays where it is."""

    id: int
    agent_id: str
    session_id: str
    written_at: datetime
    digest: bytes
    salt: bytes
    content_hash: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """An entry as it stands. `kept` is the freshness kept at `accessed_at`, recalls included."""

    id: int
    branch: str
    entity_path: str
    key: str
    owner: str
    was_owner: str
    version: int
    state: State
    claim: ClaimHead
    kept: float
    accessed_at: datetime
    recall_count: int
    changed_at: datetime
    tier: int
    importance_score: float | None
    importance_dimensions: Any
    salt: bytes
    seal: bytes
    integrity_chain: str
    on_probation: bool = False

    @property
    def entry_key(self) -> str:
        return f"{self.entity_path}/{self.key}"


class Name(NamedTuple):
    """How an entry is named: a path and a key."""

    entity_path: str
    key: str


HEAD = f"""
    SELECT e.id, e.branch, e.entity_path, e.key, e.owner, e.was_owner, e.version,
           {", ".join(f"e.{name}" for name in STATE)},
           c.id, c.agent_id, c.session_id, c.written_at, c.digest, c.salt, c.content_hash, c.content,
           CASE WHEN r.accessed_at > e.accessed_at THEN r.freshness ELSE e.freshness END,
           greatest(e.accessed_at, r.accessed_at), coalesce(r.recall_count, 0), e.changed_at, e.tier,
           e.importance_score, e.importance_dimensions::text, e.salt, e.seal, e.integrity_chain, e.on_probation
      FROM memories_entry e
      JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
      LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
     WHERE e.account_id = %s
"""
IN_KEY_ORDER = " ORDER BY e.branch, e.entity_path, e.key, e.owner"


def state_of(columns: Sequence[Any]) -> State:
    """Return the state that a row's columns, in the order of STATE, hold."""
    # Of the columns one is a list, wherever it comes from.
    values: Any = (*columns[:VALIDATORS], tuple(columns[VALIDATORS]), *columns[VALIDATORS + 1 :])
    return State(*values)


def plain(columns: Sequence[Any]) -> list[Any]:
    return [bytes(value) if isinstance(value, memoryview) else value for value in columns]


def head_of(row: Sequence[Any]) -> Head:
    end = 7 + len(STATE)
    claim: Any = plain(row[end : end + 8])
    rest: Any = [*row[:7], state_of(row[7:end]), ClaimHead(*claim), *plain(row[end + 8 :])]
    return Head(*rest)


def queries(account_id: int, where: str, parameters: Sequence[Any], *, lock: bool = False) -> list[pipeline.Query]:
    """Return the statements behind `read`, to travel with others; the rows of the last become heads by `head_of`.

    Locking takes a statement of its own: one that waits for a lock goes on with the new entry but the old claim.
    """
    bound = [account_id, *parameters]
    found: pipeline.Query = (f"{HEAD} AND {where}{IN_KEY_ORDER}", bound)
    locked = f"SELECT 1 FROM memories_entry e WHERE e.account_id = %s AND {where}{IN_KEY_ORDER} FOR NO KEY UPDATE"
    return [(locked, bound), found] if lock else [found]


def read(account_id: int, where: str, parameters: Sequence[Any], *, lock: bool = False) -> list[Head]:
    """Return heads in the order of their names, which is also the order they are locked in."""
    *_, found = pipeline.fetch(*queries(account_id, where, parameters, lock=lock))
    return [head_of(row) for row in found]


NAMED = "e.branch = %s AND e.entity_path = %s AND e.key = %s AND e.owner = ANY(%s)"
MAIN = "main"


def on(branch: str, named: str) -> str:
    """Return a condition whose first is the branch; with main's beside it on any other, as a first write goes on from
    those (contract.md 3.16)."""
    return named if branch == MAIN else named.replace("e.branch = %s", f"e.branch IN (%s, '{MAIN}')", 1)


def named_parameters(branch: str, name: Name, agent_id: str) -> list[Any]:
    return [branch, name.entity_path, name.key, ["", agent_id] if agent_id else [""]]


def named_query(account_id: int, branch: str, name: Name, agent_id: str) -> tuple[str, Sequence[Any]]:
    """Return the statement behind `named`, to travel with others; its rows become heads by `head_of`."""
    return f"{HEAD} AND {on(branch, NAMED)}{IN_KEY_ORDER}", [account_id, *named_parameters(branch, name, agent_id)]


def named(account_id: int, branch: str, name: Name, agent_id: str, *, lock: bool = False) -> list[Head]:
    """Return the shared entry of a name and the caller's own private one: none, one or both, the shared one first.

    On a branch, those of main as well.
    """
    return read(account_id, on(branch, NAMED), named_parameters(branch, name, agent_id), lock=lock)


def by_ids(account_id: int, ids: Sequence[int], *, lock: bool = False) -> list[Head]:
    return read(account_id, "e.id = ANY(%s)", [list(ids)], lock=lock)

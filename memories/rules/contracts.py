"""What an agent binds its own writes to (contract.md 1.11): confidence, fields, a time to live, by path and key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

from memories.rules.refusals import Refused


class Broken(Refused):
    """A write breaks a contract of the agent that writes; the text names the contract."""


@dataclass(frozen=True, slots=True)
class Contract:
    """One contract: what is written at a path or below it, under keys of a pattern, keeps to these bounds.

    `default_ttl_days` is the time to live of a write that brings none; without it, `ttl_required` refuses such a write.
    """

    entity_path: str
    key_pattern: str = "*"
    min_confidence: float | None = None
    max_confidence: float | None = None
    required_fields: tuple[str, ...] = ()
    ttl_required: bool = False
    default_ttl_days: float | None = None
    description: str = ""

    def covers(self, entity_path: str, key: str) -> bool:
        path = self.entity_path.rstrip("/")
        under = entity_path in {self.entity_path, path} or entity_path.startswith(f"{path}/")
        return under and fnmatchcase(key, self.key_pattern)

    @property
    def name(self) -> str:
        told = f" ({self.description})" if self.description else ""
        return f"{self.entity_path}/{self.key_pattern}{told}"


def contract_of(kept: Mapping[str, Any]) -> Contract:
    """Return a contract as it was kept."""
    names = Contract.__slots__
    values = {name: kept[name] for name in names if kept.get(name) is not None}
    return Contract(**values | {"required_fields": tuple(values.get("required_fields", ()))})


@dataclass(frozen=True, slots=True)
class Said:
    """What a write says, as far as a contract asks: `fields` are the names in its value, None if that is no object."""

    entity_path: str
    key: str
    confidence: float
    fields: frozenset[str] | None
    ttl_at: datetime | None


def ttl_kept(contracts: Iterable[Contract], said: Said, now: datetime) -> datetime | None:
    """Return the time to live a write ends up with: its own, else the shortest that a contract gives it.

    :raises Broken: the write breaks a contract.
    """
    covering = [contract for contract in contracts if contract.covers(said.entity_path, said.key)]
    for contract in covering:
        _refuse(contract, said)
    given = [c.default_ttl_days for c in covering if c.default_ttl_days is not None]
    if said.ttl_at is None and given:
        return now + timedelta(days=min(given))
    return said.ttl_at


def _refuse(contract: Contract, said: Said) -> None:
    least, most = contract.min_confidence, contract.max_confidence
    if least is not None and said.confidence < least:
        raise _broken(contract, "/confidence", f"a confidence of at least {least:g}, not {said.confidence:g}")
    if most is not None and said.confidence > most:
        raise _broken(contract, "/confidence", f"a confidence of at most {most:g}, not {said.confidence:g}")
    missing = [name for name in contract.required_fields if name not in (said.fields or frozenset())]
    if missing:
        raise _broken(contract, "/value", f"an object with {', '.join(missing)}")
    if contract.ttl_required and said.ttl_at is None and contract.default_ttl_days is None:
        raise _broken(contract, "/ttl_at", "a time to live")


def _broken(contract: Contract, pointer: str, wanted: str) -> Broken:
    return Broken(pointer, f"The contract for {contract.name} wants {wanted}.")

"""What can happen in the demo: plain data, each with the day it happens on (fractions included)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memories.rules.kinds import OutcomeType


@dataclass(frozen=True, slots=True)
class Wrote:
    """An agent writes an entry; `expires` is the day its time to live ends."""

    at: float
    agent: str
    path: str
    key: str
    type: str
    value: Any
    confidence: float
    private: bool = False
    pinned: bool | None = None
    expires: float | None = None
    importance: float | None = None
    refs: tuple[str, ...] = ()
    artifacts: tuple[Mapping[str, Any], ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Relied:
    """An entry a task wants to rely on, and whether what it says holds this time."""

    entry_key: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Task:
    """A task that reads what it can get of what it wants, and ends well when all of that holds.

    `retries` says that what does not hold is tried first, fails, and is left out of the final try. `stubborn` says
    that the agent relies on what is discredited or under review as well.
    """

    at: float
    agent: str
    ref: str
    wanted: tuple[Relied, ...]
    success: OutcomeType
    failure: OutcomeType
    causal_confidence: float = 1.0
    verified_by: str = ""
    retries: bool = False
    stubborn: bool = False
    replayed: bool = False
    told: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Looked:
    """An agent reads entries without a task that ends."""

    at: float
    agent: str
    entry_keys: tuple[str, ...]
    session: str


@dataclass(frozen=True, slots=True)
class Replaced:
    """Somebody says that an entry is replaced by another one, or (None) by nothing."""

    at: float
    entry_key: str
    by: str | None
    person: str
    reason: str


@dataclass(frozen=True, slots=True)
class WentBack:
    """A person rolls an entry back to the last version of the claim before the present one."""

    at: float
    entry_key: str
    person: str
    reason: str


@dataclass(frozen=True, slots=True)
class Undid:
    """A person undoes what an agent wrote between two days; what has moved since is left alone."""

    at: float
    agent: str
    since: float
    until: float
    person: str
    reason: str
    # At most so many, the newest first.
    most: int


@dataclass(frozen=True, slots=True)
class Swept:
    """The sweep that archives what outlived its time to live."""

    at: float


@dataclass(frozen=True, slots=True)
class DayEnded:
    """Reads are counted, and the jobs do what time asks for."""

    at: float


Event = Wrote | Task | Looked | Replaced | WentBack | Undid | Swept | DayEnded

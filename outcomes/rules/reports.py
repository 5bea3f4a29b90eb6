"""What an outcome report says: its steps in order, and when two reports are the same (RULES.md 2)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memories.rules.kinds import OutcomeType

CONCLUSION = 0
# The attribute by which the public client says on which branch it works.
BRANCH_ATTRIBUTE = "memory_branch"
# What can happen on an agent's timeline (contract.md 1.9).
EVENT_TYPES = (
    "write", "read", "outcome", "webhook", "brief_compiled", "cross_agent_read", "branch_created", "branch_merged",
    "branch_closed", "access_granted", "access_revoked", "rollback", "tag_created", "cherry_pick", "fork",
    "snapshot_taken", "snapshot_recovered", "consolidation_proposed", "consolidation_approved",
    "consolidation_rejected", "consolidation_auto_merged",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try that failed before the final one: what it relied on, and its place in the order."""

    attempt: int
    outcome_type: OutcomeType
    keys: tuple[str, ...]
    versions: Mapping[str, int] = field(default_factory=dict)
    action_indices: tuple[int, ...] = ()
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """How a task ended and what it relied on. Keys are entry keys; the rest is kept as told."""

    outcome_ref: str
    outcome_type: OutcomeType
    agent_id: str
    keys: tuple[str, ...] = ()
    causal_confidence: float = 1.0
    versions: Mapping[str, int] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    verified_by: str = ""
    replayed: bool = False
    branch: str = "main"
    told: Mapping[str, Any] = field(default_factory=dict)
    # Whether whoever reports it is on probation: then it ends nobody's.
    on_probation: bool = False

    @property
    def all_keys(self) -> list[str]:
        """Return what it and its failed attempts relied on."""
        return [*self.keys, *(key for attempt in self.attempts for key in attempt.keys)]


@dataclass(frozen=True, slots=True)
class Judged:
    """One step of a report: a type over its own distinct keys. `number` is the attempt, 0 for the conclusion."""

    number: int
    outcome_type: OutcomeType
    keys: tuple[str, ...]
    versions: Mapping[str, int]


def distinct(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(keys))


def steps(report: Report) -> list[Judged]:
    """Return failed attempts, oldest first, then the conclusion; steps that rely on nothing are left out."""
    ordered = sorted(enumerate(report.attempts, start=1), key=lambda pair: (pair[1].attempt, pair[0]))
    tried = [
        Judged(place, attempt.outcome_type, distinct(attempt.keys), attempt.versions)
        for place, (_, attempt) in enumerate(ordered, start=1)
    ]
    last = Judged(CONCLUSION, report.outcome_type, distinct(report.keys), report.versions)
    return [step for step in [*tried, last] if step.keys]


def digest(report: Report) -> bytes:
    """Return 32 bytes that are equal for the same outcome: versions, traces and metadata do not count."""
    attempts = [[a.attempt, str(a.outcome_type), sorted(set(a.keys))] for a in report.attempts]
    same = [
        report.outcome_ref,
        report.agent_id,
        report.branch,
        str(report.outcome_type),
        sorted(set(report.keys)),
        float(report.causal_confidence),
        report.verified_by != "",
        sorted(attempts, key=json.dumps),
    ]
    return hashlib.sha256(json.dumps(same, ensure_ascii=True).encode()).digest()

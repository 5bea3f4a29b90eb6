"""What an entry is at one moment: the plain value that services move from one version to the next."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from memories.rules.confidence import Standing, Triple
from memories.rules.evidence import Record, label
from memories.rules.policy import EvidenceStatus, MemoryType, Policy, Status


@dataclass(frozen=True, slots=True)
class State:
    """The columns that stand on the head and on every version.

    Confidence and freshness lie in 0..1, masses are sums of weights, times are aware.
    """

    memory_type: str = MemoryType.FACT
    status: str = Status.ACTIVE
    evidence_status: str = EvidenceStatus.UNTESTED
    confidence: float = 1.0
    triple_prior: float | None = None
    triple_success: float = 0.0
    triple_failure: float = 0.0
    outcome_count: int = 0
    success_count: int = 0
    failure_count: int = 0
    evidence_success: float = 0.0
    evidence_failure: float = 0.0
    prior_confidence: float | None = None
    last_outcome: str | None = None
    last_outcome_at: datetime | None = None
    discredited_at: datetime | None = None
    validators: tuple[str, ...] = ()
    positive_reinforcement: int = 0
    negative_reinforcement: int = 0
    held_at: float | None = None
    freshness: float = 1.0
    shared: bool = True
    pinned: bool = False
    ttl_at: datetime | None = None
    superseded_by: str | None = None

    @property
    def record(self) -> Record:
        return Record(
            success_count=self.success_count,
            failure_count=self.failure_count,
            outcome_count=self.outcome_count,
            evidence_success=self.evidence_success,
            evidence_failure=self.evidence_failure,
            prior_confidence=self.prior_confidence,
            discredited_at=self.discredited_at,
            last_outcome=self.last_outcome,
            last_outcome_at=self.last_outcome_at,
            validators=tuple(self.validators),
        )

    @property
    def standing(self) -> Standing:
        triple = Triple(self.triple_prior, self.triple_success, self.triple_failure)
        return Standing(self.confidence, self.record, triple, self.positive_reinforcement, self.negative_reinforcement)

    def with_standing(self, standing: Standing, policy: Policy) -> Self:
        """Return this state with another standing, and the label that follows from its record."""
        record, triple = standing.record, standing.triple
        # Name by name: `replace` would ask for every field again, which whoever checks a million versions feels.
        return type(self)(
            memory_type=self.memory_type,
            status=self.status,
            evidence_status=label(record, policy, confidence=standing.confidence),
            confidence=standing.confidence,
            triple_prior=triple.prior,
            triple_success=triple.success,
            triple_failure=triple.failure,
            outcome_count=record.outcome_count,
            success_count=record.success_count,
            failure_count=record.failure_count,
            evidence_success=record.evidence_success,
            evidence_failure=record.evidence_failure,
            prior_confidence=record.prior_confidence,
            last_outcome=record.last_outcome,
            last_outcome_at=record.last_outcome_at,
            discredited_at=record.discredited_at,
            validators=record.validators,
            positive_reinforcement=standing.positive,
            negative_reinforcement=standing.negative,
            held_at=self.held_at,
            freshness=self.freshness,
            shared=self.shared,
            pinned=self.pinned,
            ttl_at=self.ttl_at,
            superseded_by=self.superseded_by,
        )

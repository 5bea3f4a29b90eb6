"""The record that outcomes alone move, and what is read from it: label, posterior and signal."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memories.rules.policy import DEFAULT, EvidenceStatus, Policy

# Threshold comparisons round to this many decimals first: 0.7 - 0.2 - 0.2 is 0.3.
DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Record:
    """What outcomes made of one claim.

    The counts are steps; the masses are sums of weights that fade with each step. `discredited_at` and
    `last_outcome_at` are aware moments; `validators` are agent ids, newest last.
    """

    success_count: int = 0
    failure_count: int = 0
    outcome_count: int = 0
    evidence_success: float = 0.0
    evidence_failure: float = 0.0
    prior_confidence: float | None = None
    discredited_at: datetime | None = None
    last_outcome: str | None = None
    last_outcome_at: datetime | None = None
    validators: tuple[str, ...] = ()


def below(value: float, threshold: float) -> bool:
    """Tell whether a value is below a threshold, both rounded to nine decimals first."""
    return round(value, DECIMALS) < round(threshold, DECIMALS)


def label(record: Record, policy: Policy = DEFAULT, *, confidence: float | None = None) -> EvidenceStatus:
    """Return the verdict that follows from the record alone (RULES.md 2, contract.md 3.2).

    Rows from elsewhere may know how many outcomes there were but not which way they went. Only for these the
    present confidence, if given, decides between validated and contested.
    """
    if record.discredited_at is not None:
        return EvidenceStatus.DISCREDITED
    judged = record.success_count + record.failure_count
    if judged == 0 and record.outcome_count == 0:
        return EvidenceStatus.UNTESTED
    if judged == 0 and confidence is not None and below(confidence, policy.discredit_threshold):
        return EvidenceStatus.CONTESTED
    return EvidenceStatus.VALIDATED if _holds_up(record, policy) else EvidenceStatus.CONTESTED


def _holds_up(record: Record, policy: Policy) -> bool:
    """Tell whether an entry with outcomes that is not discredited is validated rather than contested."""
    if record.failure_count == 0:
        return True
    if record.success_count >= policy.label_successes and record.failure_count <= policy.label_failures:
        return True
    judged = record.success_count + record.failure_count
    return judged >= policy.label_outcomes and not below(_share(record, policy), policy.label_share)


def _share(record: Record, policy: Policy) -> float:
    """Return the share of success in the record, before a neutral prior."""
    success, failure = record.evidence_success, record.evidence_failure
    return (policy.neutral_mass + success) / (2 * policy.neutral_mass + success + failure)


def posterior(record: Record, policy: Policy = DEFAULT) -> dict[str, float | int]:
    """Return {p, n}: the share of success before a neutral prior, to three decimals, and the steps judged."""
    return {"p": round(_share(record, policy), 3), "n": record.success_count + record.failure_count}


class Masses(Protocol):
    """What a signal is read from: a record, or the state it stands in."""

    @property
    def evidence_success(self) -> float: ...

    @property
    def evidence_failure(self) -> float: ...

    @property
    def discredited_at(self) -> datetime | None: ...


def signal(record: Masses) -> float:
    """Return the record as a term of ranking in -1..1; 0 without evidence, -1 when discredited (contract.md 3.3)."""
    if record.discredited_at is not None:
        return -1.0
    success, failure = record.evidence_success, record.evidence_failure
    return (success - failure) / (1 + success + failure)

"""How outcomes move confidence (RULES.md 2)."""

from datetime import datetime

from memories.rules.evidence import Record, below
from memories.rules.explain import Line, explain
from memories.rules.policy import DEFAULT, SUCCESSES, Model, OutcomeType, Policy
from memories.rules.standing import Applied, Standing, Step, Triple, adopt, clamp, rebase, triple_confidence

__all__ = [
    "Applied",
    "Line",
    "Standing",
    "Step",
    "Triple",
    "adopt",
    "apply_outcome",
    "below",
    "clamp",
    "explain",
    "rebase",
    "triple_confidence",
]


def apply_outcome(standing: Standing, step: Step, policy: Policy = DEFAULT) -> Applied:
    """Return what one outcome step makes of an entry, with its arithmetic (RULES.md 2).

    A standing that another policy left is adopted first, so that a change of policy moves nothing by itself.
    """
    standing = adopt(standing, policy)
    outcome_type = OutcomeType(step.outcome_type)
    success = outcome_type in SUCCESSES
    before = clamp(standing.confidence)
    first_strike = _is_first_strike(standing.record, success, policy)
    surprise = 1.0 if first_strike else 1 + abs((1 if success else 0) - before)
    severity = policy.severity(outcome_type)
    weight = _weight(severity, surprise, step, policy)

    prior = standing.triple.prior if standing.triple.prior is not None else before
    faded = Triple(prior, policy.mass_decay * standing.triple.success, policy.mass_decay * standing.triple.failure)
    gained, lost = (weight, 0.0) if success else (0.0, weight)
    triple = Triple(prior, faded.success + gained, faded.failure + lost)
    factor = policy.factor(outcome_type) if policy.model == Model.MULTIPLICATIVE else None
    if factor is None:
        after = triple_confidence(triple, policy)
    else:
        # The record goes on as under the evidence model, so that labels mean the same under both.
        after = clamp(before * step.causal_confidence * factor)
        triple = rebase(after, triple.success, triple.failure, policy)
    record = _record_after(standing.record, step, before=before, after=after, weight=weight, policy=policy)
    return Applied(
        before=before,
        weight=weight,
        after=after,
        surprise=surprise,
        severity=severity,
        standing=Standing(after, record, triple, standing.positive, standing.negative),
        first_strike=first_strike,
        faded=triple_confidence(faded, policy) if factor is None else before,
        factor=factor,
        step=step,
    )


def _is_first_strike(record: Record, success: bool, policy: Policy) -> bool:
    """Tell whether this is the first failure of an entry that has won often enough to be forgiven one."""
    return not success and record.failure_count == 0 and record.success_count >= policy.first_strike_wins


def _weight(severity: float, surprise: float, step: Step, policy: Policy) -> float:
    verified = policy.verified_weight if step.verified else 1.0
    return severity * step.causal_confidence * step.credit / step.keys * surprise * verified


def _record_after(record: Record, step: Step, *, before: float, after: float, weight: float, policy: Policy) -> Record:
    """Return the record with one step more; `before` becomes its prior if the step is its first."""
    success = step.outcome_type in SUCCESSES
    return Record(
        success_count=record.success_count + success,
        failure_count=record.failure_count + (not success),
        outcome_count=record.outcome_count + 1,
        evidence_success=policy.mass_decay * record.evidence_success + (weight if success else 0.0),
        evidence_failure=policy.mass_decay * record.evidence_failure + (0.0 if success else weight),
        prior_confidence=before if record.prior_confidence is None else record.prior_confidence,
        discredited_at=_discredited_at(record, step.at, success=success, after=after, policy=policy),
        last_outcome=str(step.outcome_type),
        last_outcome_at=step.at,
        validators=_validators(record.validators, step.agent_id, policy.validators) if success else record.validators,
    )


def _discredited_at(record: Record, at: datetime, *, success: bool, after: float, policy: Policy) -> datetime | None:
    if not below(after, policy.discredit_threshold):
        return None
    return record.discredited_at if success or record.discredited_at is not None else at


def _validators(validators: tuple[str, ...], agent_id: str, kept: int) -> tuple[str, ...]:
    others = tuple(validator for validator in validators if validator != agent_id)
    return (*others, agent_id)[-kept:] if kept else ()

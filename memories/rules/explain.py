"""The arithmetic of one outcome, told line by line."""

from typing import NamedTuple

from memories.rules.kinds import GRADES, SUCCESSES, OutcomeType
from memories.rules.policy import DEFAULT, Policy
from memories.rules.standing import Applied


class Line(NamedTuple):
    """One line of a sum: what it is, in words, and its number."""

    words: str
    number: float


def explain(applied: Applied, policy: Policy = DEFAULT) -> list[Line]:
    """Return the sum behind one outcome, in the order a person would add it up.

    Before, fading and what the outcome moves add up to confidence; the lines from severity to weight multiply.
    """
    if applied.factor is not None:
        return _product(applied, applied.factor)
    return [
        Line("Confidence before", applied.before),
        *_weight_lines(applied, policy),
        Line(f"Fading: earlier evidence counts {policy.mass_decay:g} of what it did", applied.faded - applied.before),
        Line("What this outcome moves", applied.after - applied.faded),
        Line("Confidence after", applied.after),
    ]


def _weight_lines(applied: Applied, policy: Policy) -> list[Line]:
    step = applied.step
    target = 1 if step.outcome_type in SUCCESSES else 0
    lines = [
        Line(f"Severity of {_called(step.outcome_type)}", applied.severity),
        Line("times causal confidence", step.causal_confidence),
        Line(f"divided by the {_entries(step.keys)} of the step", step.keys),
    ]
    if step.credit != 1:
        lines.append(Line("times credit by uplift", step.credit))
    if applied.first_strike:
        wins = applied.standing.record.success_count
        lines.append(Line(f"times surprise: none, as this is the first failure after {wins} successes", 1.0))
    else:
        lines.append(Line(f"times surprise: 1 + |{target} - {applied.before:.3g}|", applied.surprise))
    if step.verified:
        lines.append(Line("times verified from outside the agent", policy.verified_weight))
    return [*lines, Line("Weight", applied.weight)]


def _product(applied: Applied, factor: float) -> list[Line]:
    return [
        Line("Confidence before", applied.before),
        Line("times causal confidence", applied.step.causal_confidence),
        Line(f"times the factor of {_called(applied.step.outcome_type)}", factor),
        Line("Confidence after", applied.after),
    ]


def _called(outcome_type: OutcomeType) -> str:
    """Return the type in words, with the grade an alias stands for."""
    grade = GRADES[OutcomeType(outcome_type)]
    words = str(outcome_type).replace("_", " ")
    return words if grade == outcome_type else f"{words} ({grade.replace('_', ' ')})"


def _entries(keys: int) -> str:
    return "one entry" if keys == 1 else f"{keys} entries"

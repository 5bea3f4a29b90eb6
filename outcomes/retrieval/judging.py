"""One entry judged for a question: its score, what nearby tasks say of it, and whether it may be a hit."""

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from memories.rows import Row
from memories.rules.kinds import EvidenceStatus, Status
from outcomes.retrieval.question import Question
from outcomes.rules import preconditions, scoring
from outcomes.rules.nearby import Local
from outcomes.rules.scoring import Score, Signals

DISCREDITED, CONTESTED = EvidenceStatus.DISCREDITED.value, EvidenceStatus.CONTESTED.value


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry judged for a question. `why_out` says why it is no hit, '' for a hit.

    `below` is what did what this did not, `fits_less` is what says nearly the same and fits the task better: both
    outrank it.
    """

    row: Row
    score: Score
    value: float
    status: str
    local: Local | None = None
    rescued: bool = False
    failing: bool = False
    below: str = ""
    fits_less: str = ""
    why_out: str = ""
    details: tuple[str, ...] = ()

    def left_out(self, why: str) -> "Candidate":
        """Return the same, as no hit. Most candidates are none, and `replace` would look at each field again."""
        return Candidate(
            self.row, self.score, self.value, self.status, self.local, self.rescued, self.failing, self.below,
            self.fits_less, why, self.details,
        )  # fmt: skip

    @property
    def is_warning(self) -> bool:
        return self.why_out in WARNINGS


# Why something is no hit, as the playground tells it.
IS_DISCREDITED, FAILS_HERE, IN_REVIEW = "discredited", "fails on tasks like this", "under review"
ELSEWHERE, FAR, NEEDLESS, TOO_MANY = (
    "not for this environment",
    "far from the query",
    "adds nothing",
    "beyond the limit",
)
WARNINGS = frozenset({IS_DISCREDITED, FAILS_HERE, IN_REVIEW})
AVOIDED = 3


def judge(question: Question, row: Row, signals: Signals, local: Local | None, *, rescued: bool = False) -> Candidate:
    """Return one entry scored, with what nearby tasks say of it, and the first reason why it must not be a hit.

    `rescued` says that what it was discredited by does not speak against it here.
    """
    state = row.state
    discredited = state.evidence_status == DISCREDITED
    rescued = rescued or (discredited and local is not None and local.rescues)
    if rescued:
        masses = state.evidence_success - state.evidence_failure
        signals = replace(
            signals,
            confidence=max(scoring.RESCUED_CONFIDENCE, signals.confidence),
            evidence=masses / (1 + state.evidence_success + state.evidence_failure),
        )
    if local is not None:
        signals = scoring.with_local(signals, local.signal, local.weight)
    failing = local is not None and local.fails and not discredited
    why = ""
    details: tuple[str, ...] = ()
    if discredited and not rescued and not question.discredited:
        why = IS_DISCREDITED
    elif state.status == Status.UNDER_REVIEW and not discredited:
        why = IN_REVIEW
    elif failing and not question.discredited:
        why = FAILS_HERE
    elif signals.is_procedure and question.environment:
        verdict, reasons = preconditions.judge(value_of(row), question.environment)
        why, details = (ELSEWHERE, tuple(reasons)) if verdict == preconditions.NOT_APPLICABLE else ("", ())
    score = scoring.score(signals, question.weights, question.temporal.boost)
    status = CONTESTED if rescued else state.evidence_status
    return Candidate(row, score, score.value, status, local, rescued, failing, why_out=why, details=details)


def value_of(row: Row) -> Any:
    """Return a value as it is, None where only its beginning was read."""
    try:
        return msgspec.json.decode(row.value)
    except msgspec.DecodeError:
        return None

"""What if: the same question, with one entry standing otherwise. Nothing is stored."""

from dataclasses import replace
from datetime import datetime

from memories.rows import Row
from memories.rules.kinds import EvidenceStatus, Status
from outcomes.retrieval.answering import Read

WERE = ("archived", "validated")
# An entry that three tasks went well with.
SUCCESSES, MASS, CONFIDENCE = 3, 3.0, 0.9


def suppose(known: Read, entry_key: str, were: str, now: datetime) -> Read | None:
    """Return what would be read if an entry were archived or validated; None when none of that name was read."""
    named = {row.entry_id for row in known.rows if row.entry_key == entry_key}
    if not named or were not in WERE:
        return None
    if were == "archived":
        return replace(known, rows=[row for row in known.rows if row.entry_id not in named])
    return replace(known, rows=[_validated(row, now) if row.entry_id in named else row for row in known.rows])


def _validated(row: Row, now: datetime) -> Row:
    state = replace(
        row.state,
        status=Status.ACTIVE.value,
        evidence_status=EvidenceStatus.VALIDATED.value,
        confidence=max(CONFIDENCE, row.state.confidence),
        discredited_at=None,
        success_count=row.state.success_count + SUCCESSES,
        outcome_count=row.state.outcome_count + SUCCESSES,
        evidence_success=max(MASS, row.state.evidence_success),
        evidence_failure=0.0,
        last_outcome="success",
        last_outcome_at=now,
        freshness=1.0,
    )
    return replace(row, state=state, kept=1.0, accessed_at=now)

"""What is wrong with an entry, in a sentence or two: pure words over what was read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from memories.entry.history import Landmarks
from memories.entry.why import Effect
from memories.rows import Row
from memories.rules.kinds import SUCCESSES, Change, EvidenceStatus, Status
from memories.rules.policy import Policy

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Doubt:
    """`tone` is bad, warn or "" (worth knowing); `headline` says it, `rest` adds what follows from it."""

    tone: str
    headline: str
    rest: str


def doubt(
    row: Row, effective: float, effects: Sequence[Effect], marks: Landmarks, *, policy: Policy, now: datetime
) -> Doubt | None:
    """Return what a reader should know before relying on an entry; None when nothing speaks against it.

    `effects` are those of the newest outcomes, newest first.
    """
    state = row.state
    if row.is_gone(now):
        return Doubt(
            "warn", "Its time to live is over.", "Agents do not find it any more; the history stays. " + REVIVE
        )
    if state.status == Status.ARCHIVED:
        return archived(evidence(row, effective, effects, marks))
    if state.status == Status.SUPERSEDED:
        by = "by another entry" if state.superseded_by else "and nothing took its place"
        return Doubt(
            "warn", f"It is superseded {by}.", "Agents find it only by its exact key, not in lists or searches."
        )
    told = evidence(row, effective, effects, marks)
    if state.status == Status.UNDER_REVIEW:
        waits = "It waits for a review; until then agents get it only as a warning, and only when they ask for those."
        headline = (
            told.headline if told else f"Effective confidence is {effective:.2f}, below {policy.review_below:.2f}."
        )
        if told is None and effective >= policy.review_below:
            headline = "It is under review."
        return Doubt("bad" if told and told.tone == "bad" else "warn", headline, waits)
    return told


def archived(told: Doubt | None) -> Doubt:
    """Return what is to be said of an archived entry, given what outcomes say against it."""
    where = "gents find it only by its exact key, not in lists or searches. " + REVIVE
    if told is None:
        return Doubt("warn", "It is archived.", f"A{where}")
    return Doubt(told.tone, told.headline, f"It is archived: a{where}")


REVIVE = "A new version, written or rolled back to, brings it back."


def evidence(row: Row, effective: float, effects: Sequence[Effect], marks: Landmarks) -> Doubt | None:
    """Return what outcomes say against the present claim."""
    state = row.state
    if state.evidence_status not in {EvidenceStatus.CONTESTED, EvidenceStatus.DISCREDITED}:
        return None
    discredited = state.evidence_status == EvidenceStatus.DISCREDITED
    rest = "Agents get it only as a warning." if discredited else "Agents still get it, marked as contested."
    applied = [effect for effect in effects if not effect.skipped and (effect.version_made or 0) >= marks.claim_since]
    run = list(takewhile(lambda effect: effect.outcome_type not in SUCCESSES, applied))
    # After a rollback the failures stay in the ledger, but are no part of the record any more.
    if run and run[-1].before is not None and len(run) <= state.failure_count:
        headline = f"{failures(run)}{after_rewrite(run, applied, marks)}; {run[-1].before:.2f} to {effective:.2f}."
    else:
        failed, whole = counted(state.failure_count, "failure"), counted(state.outcome_count, "outcome")
        headline = f"{failed} in {whole}; confidence is {effective:.2f}."
    return Doubt("bad" if discredited else "warn", headline, rest)


def failures(run: Sequence[Effect]) -> str:
    """Return "2 failures in 3 days"; `run` is newest first."""
    words = counted(len(run), "failure")
    if len(run) == 1:
        return words
    days = (run[0].at - run[-1].at) / DAY
    return f"{words} within a day" if days <= 1 else f"{words} in {round(days + 0.5)} days"


def after_rewrite(run: Sequence[Effect], applied: Sequence[Effect], marks: Landmarks) -> str:
    """Return " after the claim was rewritten on 19 Nov" when that lies close before the failures, else ""."""
    wins = len(applied) - len(run)
    if marks.claim_since == 1 or marks.claim_change != Change.WRITTEN or wins > len(run):
        return ""
    return f" after the claim was rewritten on {marks.claim_at.day} {marks.claim_at:%B}"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

"""Why an entry waits for a person, in one sentence: pure words over its newest steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memories.rows import Row
from memories.rules.decisions import Word
from memories.rules.kinds import SUCCESSES, Change

DAY = timedelta(days=1)
LONGEST_QUOTE = 80
MANY = 20


@dataclass(frozen=True, slots=True)
class Step:
    """A version of an entry with its act: what it changed, what was before, and who did it why."""

    number: int
    change: str
    at: datetime
    before: float | None
    after: float
    weight: float | None
    last_outcome: str | None
    kind: str
    actor: str
    cause: str
    reason: str

    @property
    def failed(self) -> bool:
        return self.change == Change.OUTCOME and self.last_outcome not in SUCCESSES

    @property
    def is_against(self) -> bool:
        """Tell whether feedback or evidence spoke against the entry."""
        return self.change in {Change.FEEDBACK, Change.EVIDENCE} and self.weight is not None and self.weight < 0

    @property
    def was_sent(self) -> bool:
        return self.kind == "decision" and self.cause == Word.SEND


def why(row: Row, reasons: Sequence[str], steps: Sequence[Step], effective: float, now: datetime) -> str:
    """Return the sentence; `steps` are the newest, newest first, `effective` the confidence now."""
    ends = f"expires {until(row.state.ttl_at, now)}" if "expiring" in reasons and row.state.ttl_at else ""
    if list(reasons) == ["expiring"]:
        return f"{capital(ends)}; confidence {effective:.2f}"
    if row.on_probation:
        said = f"on probation, as {row.agent_id} is new or has no key of its own; confidence {effective:.2f}"
    else:
        said = trigger(row, steps, effective, now) or record(row, effective)
    return f"{capital(said)}{'; ' if ends else ''}{ends}"


def trigger(row: Row, steps: Sequence[Step], effective: float, now: datetime) -> str:
    """Return what brought the entry here last, '' when none of its newest steps did."""
    for place, step in enumerate(steps):
        if step.failed:
            return failures(steps[place:], effective)
        if step.is_against:
            return against(step, effective)
        if step.was_sent:
            return f"sent to review by {step.actor}{quoted(step.reason)}; confidence {effective:.2f}"
        if step.change == Change.DECAYED:
            days = (now - row.accessed_at) // DAY
            return f"unused for {counted(days, 'day')}; {row.state.confidence:.2f} to {effective:.2f}"
        if step.change in {Change.CREATED, Change.WRITTEN, Change.ROLLBACK, Change.MERGED}:
            break
    written = steps[0] if steps else None
    if written and written.change in {Change.CREATED, Change.WRITTEN} and row.state.outcome_count == 0:
        return f"written by {written.actor} with a confidence of {written.after:.2f}"
    return ""


def failures(steps: Sequence[Step], effective: float) -> str:
    """Return "2 failures in 3 days; 0.81 to 0.38" over the failures since the last success or the present claim."""
    run = []
    for step in steps:
        if step.failed:
            run.append(step)
        elif step.change in {Change.OUTCOME, Change.CREATED, Change.WRITTEN, Change.ROLLBACK}:
            break
    first = run[-1].before if run[-1].before is not None else run[-1].after
    number = f"{MANY} failures or more" if len(run) >= MANY else counted(len(run), "failure")
    return f"{number}{span(run)}; {first:.2f} to {effective:.2f}"


def span(run: Sequence[Step]) -> str:
    if len(run) == 1:
        return ""
    days = (run[0].at - run[-1].at) / DAY
    return " within a day" if days <= 1 else f" in {round(days + 0.5)} days"


def against(step: Step, effective: float) -> str:
    what = "rejected by" if step.change == Change.FEEDBACK else "evidence against it from"
    before = step.before if step.before is not None else step.after
    return f"{what} {step.actor}{quoted(step.reason)}; {before:.2f} to {effective:.2f}"


def record(row: Row, effective: float) -> str:
    """Return the record as it stands."""
    state = row.state
    if state.outcome_count:
        return f"{state.failure_count} of {counted(state.outcome_count, 'outcome')} failed; confidence {effective:.2f}"
    if state.negative_reinforcement:
        return f"rejected {counted(state.negative_reinforcement, 'time')}; confidence {effective:.2f}"
    return f"confidence {effective:.2f}"


def until(moment: datetime, now: datetime) -> str:
    left = moment - now
    hours = max(1, round(left / timedelta(hours=1)))
    return f"in {counted(round(left / DAY), 'day')}" if left >= 2 * DAY else f"in {counted(hours, 'hour')}"


def quoted(reason: str) -> str:
    words = " ".join(reason.split())
    if not words:
        return ""
    return f": \u201c{words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + chr(0x2026)}\u201d"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]

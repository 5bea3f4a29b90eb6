"""The place of an entry in life: which status follows from what happened (RULES.md 3, thresholds, and 7).

The cases, in the order they are asked. `effective` is the value after the event; "below" rounds to nine decimals.

| cause      | status before  | status after                                                                       |
|------------|----------------|------------------------------------------------------------------------------------|
| kept       | any            | active, and held at the effective value                                            |
| claimed    | under review   | under review: only a person, a review key or outcomes end a review                 |
| claimed    | any other      | active; under review when below 0.3 (a write never archives). A hold ends: it was  |
|            |                | given to the old claim                                                             |
| any other  | superseded     | unchanged: people decide                                                           |
| any other  | archived       | unchanged: people decide                                                           |
| any other  | active, held   | active, unless this is a failure or a rejection, or effective has fallen 0.1 below |
|            |                | the hold; then the hold ends and the rows below apply                              |
| restated   | active         | under review when below 0.3                                                        |
| restated   | under review   | under review                                                                       |
| any other  | active         | archived below 0.1, under review below 0.3, else active                            |
| success    | under review   | active at 0.5 and above, unless a person sent it there; archived below 0.1         |
| any other  | under review   | archived below 0.1, else under review                                              |

Only a success brings an entry back by itself. Old failures fade with every outcome, so that many small failures can
raise confidence; a report of failure is still no reason to trust an entry again.
"""

from dataclasses import dataclass
from enum import StrEnum

from memories.rules.claims import Carried, carry_over, claim_digest, normal_form, same_claim
from memories.rules.evidence import below
from memories.rules.policy import DEFAULT, SUCCESSES, OutcomeType, Policy, Status

__all__ = [
    "REFRESHING",
    "WRITES",
    "Carried",
    "Cause",
    "Place",
    "after_change",
    "carry_over",
    "cause_of",
    "claim_digest",
    "normal_form",
    "refreshes",
    "same_claim",
    "settle",
]


class Cause(StrEnum):
    """What happened to an entry, as far as its place in life is concerned."""

    CLAIMED = "claimed"  # a new or a changed claim was written
    RESTATED = "restated"  # the same claim was written again and kept its record
    SUCCESS = "success"
    FAILURE = "failure"
    ACCEPTED = "accepted"  # by an agent: it moves confidence and nothing else
    KEPT = "kept"  # by a person or a review key: acceptance, approval, rollback, edit
    REJECTED = "rejected"
    EVIDENCE = "evidence"
    DECAY = "decay"


WRITES = frozenset({Cause.CLAIMED, Cause.RESTATED})
REFRESHING = frozenset({Cause.CLAIMED, Cause.SUCCESS, Cause.ACCEPTED, Cause.KEPT})
_ENDS_A_HOLD = frozenset({Cause.FAILURE, Cause.REJECTED, Cause.CLAIMED})
_SETTLED = frozenset({Status.SUPERSEDED, Status.ARCHIVED})


@dataclass(frozen=True, slots=True)
class Place:
    """A status, and the effective value at which a verdict holds it (None: thresholds act)."""

    status: Status
    held_at: float | None = None


def cause_of(outcome_type: OutcomeType) -> Cause:
    """Return the cause an outcome of this type is."""
    return Cause.SUCCESS if outcome_type in SUCCESSES else Cause.FAILURE


def refreshes(cause: Cause) -> bool:
    """Tell whether this cause resets freshness to 1; any other access keeps what is left (RULES.md 4)."""
    return cause in REFRESHING


def settle(
    place: Place,
    effective: float,
    *,
    cause: Cause,
    policy: Policy = DEFAULT,
    before: float | None = None,
    sent_by_person: bool = False,
) -> Place:
    """Return the place after an event that left this effective confidence.

    `before` is the effective value just before the event: with it, a threshold that decay had crossed without a run
    noticing counts as crossed, so that a missed run changes nothing. `sent_by_person` says that a person put the
    entry under review; then outcomes do not end the review.
    """
    if before is not None:
        place = settle(place, before, cause=Cause.DECAY, policy=policy)
    if cause == Cause.KEPT:
        return Place(Status.ACTIVE, effective)
    held_at = None if _released(place.held_at, effective, cause, policy) else place.held_at
    status = _status_after(place.status, effective, cause, policy, held=held_at is not None, sent=sent_by_person)
    return Place(status, held_at)


def after_change(
    status: Status,
    effective: float,
    *,
    policy: Policy = DEFAULT,
    cause: Cause,
    held_at: float | None = None,
    before: float | None = None,
    sent_by_person: bool = False,
) -> Status:
    """Return the status alone; `settle` also says what became of the hold."""
    place = Place(status, held_at)
    settled = settle(place, effective, cause=cause, policy=policy, before=before, sent_by_person=sent_by_person)
    return settled.status


def _released(held_at: float | None, effective: float, cause: Cause, policy: Policy) -> bool:
    if held_at is None or cause in _ENDS_A_HOLD:
        return True
    return not below(held_at - policy.hold_drop, effective)


def _status_after(status: Status, effective: float, cause: Cause, policy: Policy, *, held: bool, sent: bool) -> Status:
    if cause == Cause.CLAIMED and status != Status.UNDER_REVIEW:
        status = Status.ACTIVE
    if status in _SETTLED or held:
        return status
    if below(effective, policy.archive_below) and cause not in WRITES:
        return Status.ARCHIVED
    if status == Status.UNDER_REVIEW:
        lifted = cause == Cause.SUCCESS and not sent and not below(effective, policy.return_at)
        return Status.ACTIVE if lifted else Status.UNDER_REVIEW
    return Status.UNDER_REVIEW if below(effective, policy.review_below) else Status.ACTIVE

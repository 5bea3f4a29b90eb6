"""When decay alone will change the place of an entry, and the curve that leads there."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Unpack

from memories.rules.decay import Traits, effective, freshness, next_crossing
from memories.rules.lifecycle import Place
from memories.rules.policy import DEFAULT, Status


@dataclass(frozen=True, slots=True)
class Forecast:
    """The moments at which an entry goes under review and is archived if nothing happens; None for never."""

    under_review_at: datetime | None
    archived_at: datetime | None

    @property
    def next_due(self) -> datetime | None:
        """The first moment at which the decay job has something to write."""
        return min((moment for moment in (self.under_review_at, self.archived_at) if moment), default=None)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the curve of effective confidence."""

    at: datetime
    effective: float


_DAY = timedelta(days=1)
_NEVER = Forecast(None, None)


def forecast(
    place: Place, *, confidence: float, kept: float, last_access: datetime, **traits: Unpack[Traits]
) -> Forecast:
    """Return when decay alone crosses the thresholds that act on this place (RULES.md 3 and 4).

    An entry that would cross both lines on the same day is archived at once. What is below a line from the start is
    so by somebody's word; silence speaks from the first whole day on. A moment may lie in the past: then a run was
    missed, and the transition is due.
    """
    if place.status not in {Status.ACTIVE, Status.UNDER_REVIEW} or traits["pinned"]:
        return _NEVER
    policy = traits.get("policy", DEFAULT)

    def crossing(threshold: float, *, inclusive: bool = False) -> datetime | None:
        moment = next_crossing(
            threshold, confidence=confidence, kept=kept, last_access=last_access, inclusive=inclusive, **traits
        )
        return None if moment is None else max(moment, last_access + _DAY)

    released = last_access
    if place.held_at is not None:
        fallen = crossing(place.held_at - policy.hold_drop, inclusive=True)
        if fallen is None:
            return _NEVER
        released = fallen
    archived = crossing(policy.archive_below)
    archived_at = None if archived is None else max(archived, released)
    if place.status == Status.UNDER_REVIEW:
        return Forecast(None, archived_at)
    review = crossing(policy.review_below)
    review_at = None if review is None else max(review, released)
    return Forecast(None if review_at == archived_at else review_at, archived_at)


def curve(
    *,
    confidence: float,
    kept: float,
    last_access: datetime,
    start: datetime,
    days: Iterable[int],
    **traits: Unpack[Traits],
) -> list[Point]:
    """Return effective confidence so many days after `start` if nothing happens, for each of the days."""
    points = []
    for day in days:
        at = start + timedelta(days=day)
        points.append(Point(at, effective(confidence, freshness(kept, last_access, at, **traits))))
    return points

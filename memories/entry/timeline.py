"""How an entry's confidence went and where silence will take it: the points of a chart, and of the table beside it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from memories.entry import why
from memories.rows import Row
from memories.rules.kinds import SUCCESSES, Change, OutcomeType, Status
from memories.rules.policy import Policy
from memories.viewers import Viewer

# Longer histories show the first, the last, the lowest and the highest step of so many stretches, and new claims.
WHOLE = 120
STRETCHES = 36
CLAIMS = 20
AHEAD_POINTS = 24
DAY = timedelta(days=1)
TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Point:
    """A version on the timeline: what confidence was before and after, and the outcome that moved it, if one did."""

    number: int
    at: datetime
    change: str
    confidence: float
    before: float | None
    weight: float | None
    policy: str
    new_claim: bool
    outcome_id: int | None
    outcome_ref: str | None
    outcome_type: str | None
    causal_confidence: float | None
    keys: int | None
    verified: bool | None
    verified_by: str | None
    credit: float | None

    @property
    def kind(self) -> str:
        """Return outcome, claim (something else is said from here on) or other."""
        if self.outcome_type is not None:
            return "outcome"
        return "claim" if self.new_claim else "other"

    @property
    def good(self) -> bool:
        return self.outcome_type in SUCCESSES

    @property
    def what(self) -> str:
        """Return in a word or two what happened."""
        if self.outcome_type is not None:
            return self.outcome_type.replace("_", " ")
        if self.change == Change.WRITTEN:
            return "claim rewritten" if self.new_claim else "written again"
        return "rolled back" if self.change == Change.ROLLBACK else self.change


@dataclass(frozen=True, slots=True)
class Steps:
    """The points of a history, oldest first; `total` is how many there are, `skipped` how many are left out."""

    points: list[Point]
    total: int

    @property
    def skipped(self) -> int:
        return self.total - len(self.points)


STEPS = """
    WITH steps AS (
        SELECT v.number, v.at, v.change, v.confidence, v.before, v.weight, v.policy,
               c.digest IS DISTINCT FROM lag(c.digest) OVER (ORDER BY v.number) AS new_claim
          FROM memories_entryversion v
          JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
         WHERE v.account_id = %(account)s AND v.entry_id = %(id)s
    ),
    ranked AS (
        SELECT s.*, count(*) FILTER (WHERE s.new_claim) OVER () AS claims,
               row_number() OVER (PARTITION BY s.number / %(stride)s ORDER BY s.confidence, s.number) AS lowest,
               row_number() OVER (PARTITION BY s.number / %(stride)s ORDER BY s.confidence DESC, s.number) AS highest
          FROM steps s
    )
    SELECT k.number, k.at, k.change, k.confidence, k.before, k.weight, k.policy, k.new_claim,
           f.outcome_id, f.outcome_ref, f.outcome_type, f.causal_confidence, f.keys, f.verified, f.verified_by, f.credit
      FROM ranked k
      LEFT JOIN memories_effect f ON f.account_id = %(account)s AND f.entry_id = %(id)s AND f.at = k.at
                                 AND f.version_made = k.number
     WHERE k.lowest = 1 OR k.highest = 1 OR k.number IN (1, %(last)s) OR (k.new_claim AND k.claims <= %(most_claims)s)
     ORDER BY k.number
"""


def steps(viewer: Viewer, row: Row) -> Steps:
    """Return the history of an entry's row as points, thinned when it is long: every peak and every low stays."""
    total = row.head_version
    values = {
        "account": viewer.account_id,
        "id": row.entry_id,
        "last": total,
        "stride": 1 if total <= WHOLE else -(-total // STRETCHES),
        "most_claims": CLAIMS,
    }
    with connection.cursor() as cursor:
        cursor.execute(STEPS, values)
        return Steps([Point(*found) for found in cursor.fetchall()], total)


def sum_of(point: Point, policy: Policy) -> str:
    """Return the product behind an outcome's weight, such as 2.054 = 2 times 0.8 divided by 2 times 1.711 times 1.5.

    It is "" where there is none. Only for what the present policy moved: the factors of another are not known.
    """
    if point.outcome_type is None or point.weight is None or point.policy != f"{policy.name}@{policy.version}":
        return ""
    severity, verified = (
        policy.severity(OutcomeType(point.outcome_type)),
        policy.verified_weight if point.verified else 1.0,
    )
    factors = severity * (point.causal_confidence or 0) * (point.credit or 0) / (point.keys or 1) * verified
    words = f"{point.weight:.3f} = {severity:g} {TIMES} {point.causal_confidence:.3g}"
    words += f" ÷ {point.keys}" if point.keys != 1 else ""
    words += f" {TIMES} {point.credit:.3g}" if point.credit != 1 else ""
    words += f" {TIMES} {point.weight / factors:.3f}" if factors > 0 else ""
    return words + (f" {TIMES} {verified:g}" if point.verified else "")


@dataclass(frozen=True, slots=True)
class Ahead:
    """A point of the forecast; `mark` says which line it crosses, "" for none."""

    at: datetime
    effective: float
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What happens if nothing happens: the curve as far as the chart shows it, and the two moments, however far."""

    points: list[Ahead]
    under_review_at: datetime | None
    archived_at: datetime | None


NOTHING_AHEAD = Forecast([], None, None)


def ahead(row: Row, policy: Policy, now: datetime, *, since: datetime) -> Forecast:
    """Return the forecast of a head's row; `since`, where its chart begins, decides how far ahead is worth showing.

    What people decided about (superseded, archived, pinned) and what is over waits for no threshold.
    """
    state, silence = row.state, why.silence_of(row)
    if state.status not in {Status.ACTIVE, Status.UNDER_REVIEW} or state.pinned or row.is_gone(now):
        return NOTHING_AHEAD
    due = silence.forecast(policy)
    crossings = [
        (max(at, now), mark)
        for at, mark in ((due.under_review_at, "review line"), (due.archived_at, "archive line"))
        if at is not None
    ]
    end = horizon(now, since, min((at for at, _ in crossings), default=None))
    if state.ttl_at is not None and state.ttl_at <= end:
        crossings.append((state.ttl_at, "expires"))
        end = state.ttl_at
    plain = [now + (end - now) * i / AHEAD_POINTS for i in range(AHEAD_POINTS + 1)]
    marked = {at: mark for at, mark in crossings if at <= end}
    points = [Ahead(at, silence.effective(at, policy), marked.get(at, "")) for at in sorted({*plain, *marked})]
    return Forecast(points, due.under_review_at, due.archived_at)


def horizon(now: datetime, since: datetime, crossing: datetime | None) -> datetime:
    """Return how far to look ahead: a bit beyond the crossing, but never so far that the past shrinks to a stripe."""
    past = max(now - since, DAY)
    most = max(45 * DAY, 3 * past / 2)
    wanted = 5 * (crossing - now) / 4 if crossing is not None else past / 3
    return now + min(most, max(wanted, past / 5, 7 * DAY))


def words(steps: Steps, forecast: Forecast) -> str:
    """Return the chart in a sentence or two, for those who do not see it."""
    points = steps.points
    highest, lowest = max(points, key=lambda p: p.confidence), min(points, key=lambda p: p.confidence)
    told = f"Confidence was {points[0].confidence:.2f} on {day(points[0].at)} and is {points[-1].confidence:.2f} since"
    told += f" {day(points[-1].at)}; highest {highest.confidence:.2f}, lowest {lowest.confidence:.2f}."
    if forecast.under_review_at is not None:
        told += f" If nothing happens it goes under review on {day(forecast.under_review_at)}."
    elif forecast.archived_at is not None:
        told += f" If nothing happens it is archived on {day(forecast.archived_at)}."
    return told


def day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y}"

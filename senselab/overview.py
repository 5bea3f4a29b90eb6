"""The figures of the home page, each read by itself: when one fails it is not known, and the others still show.

What needs a person comes with the page. How the last days went is summed over all that was done in them, so the page
loads it when it is there.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import DatabaseError

from memories import activity, browsing, search, tallies
from memories.activity import Writer
from memories.browsing import Listed
from memories.changes import moves
from memories.changes.moves import Titled
from memories.checking import nightly
from memories.figures import Totals
from memories.jobs import health
from memories.rules.kinds import EvidenceStatus
from memories.search import Search
from memories.viewers import Viewer
from outcomes import reads as outcomes
from outcomes.reads import Day, Ended

log = logging.getLogger(__name__)
T = TypeVar("T")
OUTCOME_DAYS, WRITE_DAYS = 30, 14
WEEK = timedelta(days=7)
FEW = 6
DOUBTED = (EvidenceStatus.CONTESTED.value, EvidenceStatus.DISCREDITED.value)


@dataclass(frozen=True, slots=True)
class AgentLine:
    """An agent of the last week, with how its tasks ended."""

    writer: Writer
    ended: Ended | None


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of all entries: its word in addresses and on pages, how many, the tone of its bar, and its share."""

    word: str
    count: int
    tone: str
    share: float | None


@dataclass(frozen=True, slots=True)
class Overview:
    """What the home page shows. None is a figure that could not be read; it must never be shown as 0."""

    totals: Totals | None
    expiring: int | None
    changes: list[Titled] | None
    doubtful: list[Listed] | None
    # What somebody altered, and what is wrong with the jobs, in sentences; empty when they run.
    jobs: list[str] | None

    @property
    def is_empty(self) -> bool:
        """Tell whether nobody ever wrote anything here."""
        return self.totals == Totals() and self.changes == []

    @property
    def evidence(self) -> list[Bar]:
        return self._bars({"validated": "ok", "untested": "mute", "contested": "warn", "discredited": "bad"})

    @property
    def tiers(self) -> list[Bar]:
        return self._bars({"hot": "accent", "warm": "mute", "archive": "line"})

    def _bars(self, tones: dict[str, str]) -> list[Bar]:
        if self.totals is None:
            return []
        counts = {word: getattr(self.totals, "cold" if word == "archive" else word) for word in tones}
        whole = sum(counts.values())
        return [Bar(word, counts[word], tone, counts[word] / whole if whole else None) for word, tone in tones.items()]

    @property
    def tier_parts(self) -> list[tuple[str, float]]:
        return [(css, bar.count) for css, bar in zip(("a", "b2", "c"), self.tiers, strict=False)]

    @property
    def waiting(self) -> int | None:
        return self.totals.under_review if self.totals else None


@dataclass(frozen=True, slots=True)
class Course:
    """How the last days went: what the home page shows a moment later. None is a figure that could not be read."""

    written_this_week: int | None
    days: list[Day] | None
    writes: list[int] | None
    agents: list[AgentLine] | None

    @property
    def rate(self) -> float | None:
        """Return the share of successes within the last 7 days, None when nothing ended or nobody knows."""
        return outcomes.rate_of(self.days[-7:]) if self.days else None

    @property
    def points(self) -> float | None:
        """Return by how many percentage points the rate of 7 days lies above that of the 7 days before."""
        before = outcomes.rate_of(self.days[-14:-7]) if self.days else None
        return None if self.rate is None or before is None else 100 * (self.rate - before)

    @property
    def points_apart(self) -> float:
        return abs(self.points or 0.0)

    @property
    def rates(self) -> list[float]:
        """Return the daily rates of the last two weeks for a spark line; days without outcomes are left out."""
        return [day.rate for day in (self.days or [])[-14:] if day.rate is not None]

    @property
    def ended_this_week(self) -> int:
        return sum(day.successes + day.failures for day in (self.days or [])[-7:])

    @property
    def ended(self) -> int:
        return sum(day.successes + day.failures for day in self.days or [])

    @property
    def written_today(self) -> int | None:
        return self.writes[-1] if self.writes else None


def of(viewer: Viewer, now: datetime) -> Overview:
    """Return what needs a person; eight statements, whatever the account's size."""
    doubted = Search(evidence=DOUBTED, sort="doubt", limit=FEW)
    return Overview(
        totals=figure(lambda: tallies.of(viewer, recalls=False).total),
        expiring=figure(lambda: search.count(Search(expires_by=now + WEEK), viewer, now)),
        changes=figure(lambda: moves.listed(viewer, limit=FEW + 1).rows),
        doubtful=figure(lambda: browsing.listed(doubted, viewer, now)[0]),
        jobs=figure(lambda: [*nightly.words(viewer.account_id), *health.words(viewer.account_id, now)]),
    )


def course(viewer: Viewer, now: datetime) -> Course:
    """Return how the last days went; five statements."""
    return Course(
        written_this_week=figure(lambda: search.count(Search(since=now - WEEK), viewer, now)),
        days=figure(lambda: outcomes.days(viewer, now, OUTCOME_DAYS)),
        writes=figure(lambda: activity.writes_by_day(viewer, now, WRITE_DAYS)),
        agents=figure(lambda: agent_lines(viewer, now)),
    )


def agent_lines(viewer: Viewer, now: datetime) -> list[AgentLine]:
    ended = outcomes.by_agent(viewer, now - WEEK)
    return [AgentLine(writer, ended.get(writer.agent_id)) for writer in activity.agents(viewer, now, FEW)]


def figure(read: Callable[[], T]) -> T | None:
    """Return a figure, or None when the database would not say; the log says why."""
    try:
        return read()
    except DatabaseError:
        log.exception("a figure of the overview could not be read")
        return None

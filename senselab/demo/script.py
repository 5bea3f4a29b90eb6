"""The six weeks as a list of events in order: pure, drawn from a seed and the moment they start."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

from senselab.demo import measures, poison, tasks
from senselab.demo.busy import Busy, task_of
from senselab.demo.cast import DEPLOY_BOT, HOMES, MIRA, RUNBOOK_IMPORT, RUNNING, SERVICES, TOM
from senselab.demo.events import DayEnded, Event, Looked, Replaced, Swept, Task, Wrote
from senselab.demo.lessons import Lesson, lessons
from senselab.demo.stories import CATALOG, FALLBACK, stories

DAYS = 42
SEED = 2291
# Tasks of a working day and of a day of a weekend, and reads without a task.
WORKDAY, WEEKEND, LOOKS = 50, 22, 14
SATURDAY = 5
# How much of a day's work falls into each hour, from midnight UTC on.
HOURS = (2, 1, 1, 1, 1, 2, 4, 8, 12, 14, 14, 13, 9, 12, 14, 13, 11, 9, 6, 5, 4, 4, 3, 2)
SUMMARIES = 0.06
# What stories need to be there before they begin; so does what is replaced later on.
EARLY = frozenset({*poison.spoilt(), FALLBACK, f"{CATALOG}/image-cdn", "shop/checkout-service/payment-timeout-ms"})
UNPOPULAR = "shop/storefront/newsletter-popup"


def script(start: datetime, *, seed: int = SEED, share: float = 1.0) -> list[Event]:
    """Return everything that happens from `start` on, in order; `share` of the usual number of tasks."""
    rng = Random(seed)
    learned = placed(rng, [*lessons(), *measures.measured(rng)])
    events: list[Event] = [*stories(), *written(rng, learned), *restated(learned)]
    by_path = {path: [lesson for lesson in learned if lesson.path == path] for path in HOMES}
    for day in range(DAYS):
        weekend = (start + timedelta(days=day + 0.5)).weekday() >= SATURDAY
        events += days_work(rng, by_path, day, start, round((WEEKEND if weekend else WORKDAY) * share))
        events += looked(rng, by_path, day, start, round(LOOKS * share))
        events.append(DayEnded(day + 1))
    events += [Swept(lesson.expires + 0.0003) for lesson in learned if lesson.expires and lesson.expires < DAYS]
    # What would happen after the end has not happened yet.
    return sorted((event for event in events if event.at <= DAYS), key=lambda event: event.at)


def placed(rng: Random, given: Sequence[Lesson]) -> list[Lesson]:
    """Return lessons with a day, an author, and whether and how often anybody relies on them."""
    spoilt = poison.spoilt()
    early = EARLY | {f"{lesson.path}/{lesson.replaces}" for lesson in given if lesson.replaces} | {UNPOPULAR}
    made = []
    for lesson in given:
        soon = lesson.entry_key in early
        day = rng.uniform(0, 2) if soon else birthday(rng)
        agent = RUNBOOK_IMPORT if lesson.type == "procedure" and rng.random() < 0.4 else at_home(rng, lesson.path)
        # Two in nine are never relied on by anybody.
        used = lesson.used * (1 if soon else rng.choice((0, 0, 0.4, 0.7, 1, 1, 1.5, 2, 3)))
        made.append(
            replace(
                lesson,
                day=day if lesson.day is None else lesson.day,
                agent=lesson.agent or agent,
                used=used,
                turns=lesson.turns + spoilt.get(lesson.entry_key, ()),
            )
        )
    return made


def birthday(rng: Random) -> float:
    """Return a day: half of everything in the first week, as agents start with what they already know."""
    return rng.uniform(0, 7) if rng.random() < 0.5 else rng.uniform(7, 40.5)


def at_home(rng: Random, path: str) -> str:
    agents = HOMES[path]
    return rng.choices(agents, weights=range(len(agents), 0, -1))[0]


def written(rng: Random, learned: Sequence[Lesson]) -> Iterator[Event]:
    """Yield when lessons are written, rewritten, and put in the place of others."""
    for lesson in learned:
        first = wrote(lesson)
        yield first
        for revision in lesson.later:
            if revision.day > first.at + 0.5:
                yield replace(
                    first, at=revision.day, value=revision.value, confidence=revision.confidence, reason=revision.reason
                )
        if lesson.replaces:
            old = f"{lesson.path}/{lesson.replaces}"
            yield Replaced(first.at + 0.08, old, lesson.entry_key, rng.choice((MIRA, TOM)), lesson.why)
    why = "Annoyed more people than it won, in every test"
    yield Replaced(38.4, UNPOPULAR, None, MIRA, why)


def wrote(lesson: Lesson) -> Wrote:
    return Wrote(
        at=lesson.day or 0.0,
        agent=lesson.agent,
        path=lesson.path,
        key=lesson.key,
        type=lesson.type,
        value=lesson.value,
        confidence=lesson.confidence,
        private=lesson.private,
        pinned=lesson.pinned or None,
        expires=lesson.expires,
        importance=lesson.importance,
        refs=lesson.refs,
        artifacts=lesson.artifacts,
    )


def restated(learned: Sequence[Lesson]) -> Iterator[Wrote]:
    """Yield the import of runbooks, which says every second week what it said before."""
    for day in (14.1, 28.1):
        for place, lesson in enumerate(learned):
            runbook = lesson.agent == RUNBOOK_IMPORT and lesson.type == "procedure"
            if runbook and (lesson.day or 0) < day - 1 and lesson.entry_key not in EARLY:
                yield replace(wrote(lesson), at=day + 0.0002 * place, reason="Imported again")


def days_work(
    rng: Random, learned: Mapping[str, Sequence[Lesson]], day: int, start: datetime, many: int
) -> list[Event]:
    """Return the tasks of one day, and what is noted after some of them."""
    events: list[Event] = []
    for _ in range(many):
        at = moment(rng, day, start)
        path = rng.choice(RUNNING if rng.random() < 0.85 else tuple(HOMES))
        found = task_of(rng, Busy(at, at_home(rng, path)), learned[path])
        if found is not None:
            events.append(found)
            if rng.random() < SUMMARIES:
                events.append(noted(rng, found, path))
    return events


def looked(
    rng: Random, learned: Mapping[str, Sequence[Lesson]], day: int, start: datetime, many: int
) -> Iterator[Looked]:
    """Yield what agents read on one day without a task."""
    for number in range(many):
        path = rng.choice(SERVICES)
        keys = [one.entry_key for one in learned[path] if (one.day or 0) < day and one.used > 0 and not one.private]
        some = tuple(rng.sample(keys, min(len(keys), rng.randint(1, 4))))
        yield Looked(moment(rng, day, start), at_home(rng, path), some, f"s-{day:02d}{number:02d}")


def moment(rng: Random, day: int, start: datetime) -> float:
    """Return a moment of a day that begins at the clock time of `start`, mostly while people work."""
    clock = rng.choices(range(24), weights=HOURS)[0] / 24 + rng.random() / 24
    begins = (start.hour + start.minute / 60 + start.second / 3600) / 24
    return day + (clock - begins) % 1.0


def noted(rng: Random, task: Task, path: str) -> Wrote:
    """Return what the agent of a task writes down afterwards."""
    value = tasks.summary(rng, task.ref, path, task.told["task_input"])
    agent = task.agent if rng.random() < 0.9 else DEPLOY_BOT
    confidence = round(rng.uniform(0.5, 0.9), 2)
    at = task.at + rng.uniform(0.002, 0.02)
    return Wrote(at, agent, path, f"task-summary-{task.ref.lower()}", "experience", value, confidence, refs=cited(task))


def cited(task: Task) -> tuple[str, ...]:
    return tuple(relied.entry_key for relied in task.wanted[:2])

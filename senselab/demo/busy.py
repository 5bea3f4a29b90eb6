"""One task, drawn: what it relies on, how it would end, and who says so."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from memories.rules.kinds import OutcomeType
from senselab.demo import tasks
from senselab.demo.cast import RUNNING
from senselab.demo.events import Relied, Task
from senselab.demo.lessons import Lesson

DEPLOY_FAILURES = {
    OutcomeType.REGRESSION: 10,
    OutcomeType.P2_INCIDENT: 4,
    OutcomeType.P1_INCIDENT: 1,
}
TASK_FAILURES = {
    OutcomeType.MINOR_FAILURE: 9,
    OutcomeType.FAILURE: 6,
    OutcomeType.CRITICAL_FAILURE: 1,
}
INCIDENTS = frozenset({OutcomeType.P1_INCIDENT, OutcomeType.P2_INCIDENT})
OUTSIDERS = ("customer", "test suite", "support", "second agent")


@dataclass(frozen=True, slots=True)
class Busy:
    """Who works, and when."""

    at: float
    agent: str


def task_of(rng: Random, busy: Busy, learned: Sequence[Lesson]) -> Task | None:
    """Return a task over what an entity's lessons say by then, None when there is nothing to rely on."""
    known = [lesson for lesson in learned if is_known(lesson, busy)]
    if not known:
        return None
    path = known[0].path
    wanted = drawn(rng, known, rng.choices((1, 2, 3, 4), weights=(45, 33, 16, 6))[0])
    deploy = path in RUNNING and rng.random() < 0.4
    failures = DEPLOY_FAILURES if deploy else TASK_FAILURES
    failure = rng.choices(list(failures), weights=list(failures.values()))[0]
    relied = tuple(Relied(lesson.entry_key, rng.random() < lesson.holds_on(busy.at)) for lesson in wanted)
    well = all(one.holds for one in relied)
    verified_by = verifier(rng, deploy=deploy, failure=None if well else failure)
    what = tasks.asked(rng, path, deploy=deploy)
    return Task(
        at=busy.at,
        agent=busy.agent,
        ref=reference(rng, deploy=deploy, incident=not well and failure in INCIDENTS),
        wanted=relied,
        success=OutcomeType.CLEAN_DEPLOY if deploy else OutcomeType.SUCCESS,
        failure=failure,
        causal_confidence=rng.choice((1.0, 1.0, 0.9, 0.8, 0.7, 0.5)),
        verified_by=verified_by,
        retries=rng.random() < 0.35,
        stubborn=rng.random() < 0.12,
        replayed=rng.random() < 0.004,
        told=tasks.told(rng, path, what, verified_by),
    )


def is_known(lesson: Lesson, busy: Busy) -> bool:
    """Tell whether a lesson is there by then, is in use, and may be seen by who works."""
    mine = not lesson.private or lesson.agent == busy.agent
    return mine and lesson.used > 0 and lesson.day is not None and lesson.day < busy.at


def drawn(rng: Random, known: Sequence[Lesson], many: int) -> list[Lesson]:
    """Return some lessons, each at most once, those used more often more likely."""
    left = list(known)
    taken: list[Lesson] = []
    while left and len(taken) < many:
        (one,) = rng.choices(left, weights=[lesson.used for lesson in left])
        left.remove(one)
        taken.append(one)
    return taken


def verifier(rng: Random, *, deploy: bool, failure: OutcomeType | None) -> str:
    """Return what outside the agent vouches for how the task ended, '' for nothing."""
    if failure in INCIDENTS:
        return "incident"
    if deploy:
        return "ci" if rng.random() < 0.7 else ""
    return rng.choice(OUTSIDERS) if rng.random() < 0.2 else ""


def reference(rng: Random, *, deploy: bool, incident: bool) -> str:
    if incident:
        return f"INC-{rng.randint(3000, 3999)}"
    return f"deploy-{rng.randint(2000, 2999)}" if deploy else f"task-{rng.randint(10_000, 99_999)}"

"""What a policy looks like: three curves as tables; charts are drawn from them and sliders redraw them (policy.mjs)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memories.rules import decay, tiers
from memories.rules.confidence import Standing, Step, apply_outcome
from memories.rules.kinds import MemoryType, OutcomeType
from memories.rules.policy import Policy

DAYS = (0, 1, 7, 14, 21, 30, 45, 60, 90, 120, 150, 180, 240, 300, 365)
AGES = (0, 1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60)
RECALLS = (0, 3, 20)
# An entry its author is fairly sure of, five tasks that went well, three that did not.
BEGINS = 0.7
SEQUENCE = (OutcomeType.SUCCESS,) * 5 + (OutcomeType.FAILURE,) * 3
START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Series:
    """A column: its words, the tone of its line, and whether it is the policy in force (dashed) or the drafted one."""

    words: str
    tone: str
    in_force: bool = False


@dataclass(frozen=True, slots=True)
class Curve:
    """A chart: what runs along it, its columns, and a row of values for each step."""

    name: str
    title: str
    along: str
    series: list[Series]
    rows: list[tuple[str, list[float]]]


def silence(draft: Policy, present: Policy) -> Curve:
    """Return the freshness that days of silence leave of each type, never recalled, without outcomes or feedback."""
    tones = {"fact": "ink", "belief": "warn", "experience": "ok", "procedure": "accent"}
    series = [Series("Fact, in force", "mute", True), *(Series(kind.capitalize(), tones[kind]) for kind in MemoryType)]
    rows = [
        (str(day), [left(MemoryType.FACT, day, present), *(left(kind, day, draft) for kind in MemoryType)])
        for day in DAYS
    ]
    return Curve("silence", "What silence leaves", "Days of silence", series, rows)


def left(kind: MemoryType, day: int, policy: Policy) -> float:
    return decay.freshness(
        1.0, START, START + day * DAY, memory_type=kind, recall_count=0, outcome_count=0, positive=0, negative=0,
        pinned=False, policy=policy,
    )  # fmt: skip


def outcomes(draft: Policy, present: Policy) -> Curve:
    """Return the confidence after five successes and three failures of one entry, reported by agents alone."""
    series = [Series("In force", "mute", True), Series("Drafted", "ink")]
    steps = ["start", *(f"{number}. {kind}" for number, kind in enumerate(SEQUENCE, 1))]
    pairs = zip(steps, confidences(present), confidences(draft), strict=True)
    return Curve("outcomes", "What outcomes do", "Step", series, [(step, [old, new]) for step, old, new in pairs])


def confidences(policy: Policy) -> Sequence[float]:
    standing, found = Standing(BEGINS), [BEGINS]
    for kind in SEQUENCE:
        standing = apply_outcome(standing, Step(kind, 1, 1.0, False, "agent", START), policy).standing
        found.append(standing.confidence)
    return found


def priorities(draft: Policy, present: Policy) -> Curve:
    """Return the priority by age of a claim of confidence 0.7, by how often it was recalled."""
    tones = {0: "ink", 3: "ok", 20: "accent"}
    series = [Series("Never recalled, in force", "mute", True)]
    series += [Series("Never recalled" if not n else f"{n} recalls", tones[n]) for n in RECALLS]
    rows = [(str(age), [priority(0, age, present), *(priority(n, age, draft) for n in RECALLS)]) for age in AGES]
    return Curve("priority", "Who comes first", "Days since it was said", series, rows)


def priority(recalls: int, age: int, policy: Policy) -> float:
    now = START + age * DAY
    return tiers.priority(
        importance=None, effective=BEGINS, written_at=START, now=now, recall_count=recalls, policy=policy
    ).value


def curves(draft: Policy, present: Policy) -> list[Curve]:
    return [silence(draft, present), outcomes(draft, present), priorities(draft, present)]

"""What agents note about every service alike: latencies, budgets, limits, who is on call, what is at risk."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from memories.rules.kinds import MemoryType
from senselab.demo.cast import RUNBOOK_IMPORT, RUNNING, SERVICES, TEAMS
from senselab.demo.lessons import Lesson, Revision

NEIGHBOURS = (
    "the tax service",
    "the geocoder",
    "the mail relay",
    "the feature flags",
    "the object store",
    "the resolver",
)
WHEN_SLOW = (
    "requests pile up behind it: its timeout is longer than ours",
    "we go on with the last answer for 15 minutes and nobody notices",
    "the pool runs dry within two minutes, and health checks with it",
    "only the nightly jobs suffer, but those for hours",
    "half of the retries come back to us: it answers late, not never",
)
CHECKS = ("the error rate is back below 0.1 %", "p95 is where it was", "the queue is shorter than a minute ago")
WHY_WINDOW = ("new certificates", "a kernel update", "the storage moves", "a rehearsal of the failover")


def measured(rng: Random) -> list[Lesson]:
    """Return the lessons of this kind, drawn anew with every seed."""
    made: list[Lesson] = []
    for path in RUNNING:
        made += [latency(rng, path), budget(rng, path), capacity(rng, path), restart(rng, path), dependency(rng, path)]
        made += [errors(rng, path)]
    for path in SERVICES:
        made += [on_call(rng, path), limit(rng, path)]
    return [*made, *windows(rng)]


def again(rng: Random, make: Callable[[], Any], reasons: Sequence[str]) -> tuple[Revision, ...]:
    """Return up to two later measurements."""
    days = sorted(rng.uniform(8, 39) for _ in range(rng.choice((0, 1, 1, 2))))
    return tuple(Revision(day, make(), rng.choice(reasons), confidence=0.85) for day in days)


def latency(rng: Random, path: str) -> Lesson:
    middle = rng.randint(12, 90)

    def measure() -> dict[str, Any]:
        p50 = round(middle * rng.uniform(0.85, 1.2))
        p95 = round(p50 * rng.uniform(3, 6))
        return {"p50": p50, "p95": p95, "p99": round(p95 * rng.uniform(1.6, 2.8)), "window": "7 d"}

    later = again(rng, measure, ("Measured again", "Measured after the release", "Weekly measurement"))
    return Lesson(path, "latency-ms", MemoryType.FACT, measure(), confidence=0.85, holds=0.95, used=0.7, later=later)


def budget(rng: Random, path: str) -> Lesson:
    objective = rng.choice((0.995, 0.999, 0.9995))

    def measure() -> dict[str, Any]:
        return {"objective": objective, "window_days": 28, "spent": round(rng.uniform(0.05, 0.9), 2)}

    later = again(rng, measure, ("Weekly measurement", "After the incident review"))
    return Lesson(path, "error-budget", MemoryType.FACT, measure(), confidence=0.8, holds=0.96, used=0.4, later=later)


def capacity(rng: Random, path: str) -> Lesson:
    instances = rng.randint(3, 24)
    value = {
        "instances": instances,
        "cpu_per_instance": rng.choice((1, 2, 4)),
        "peak_rps": instances * rng.randint(20, 160),
        "headroom": round(rng.uniform(0.2, 0.6), 2),
    }
    return Lesson(
        path, "capacity", MemoryType.FACT, value, confidence=0.8, holds=0.95, used=rng.choice((0.0, 0.5, 1.0))
    )


def limit(rng: Random, path: str) -> Lesson:
    value = {
        "requests_per_second": rng.choice((20, 50, 120, 400)),
        "burst": rng.choice((10, 40, 80)),
        "per": rng.choice(("client", "address", "key")),
        "over": "429 with Retry-After",
    }
    return Lesson(
        path, "rate-limit", MemoryType.FACT, value, confidence=0.85, holds=0.97, used=rng.choice((0.0, 0.4, 0.8))
    )


def on_call(rng: Random, path: str) -> Lesson:
    name = path.rpartition("/")[2]
    value = {
        "team": TEAMS[path],
        "channel": f"#{name}-alerts",
        "escalate_after_minutes": rng.choice((10, 15, 20)),
        "night": rng.choice(("same team", "platform", "nobody: wait for 07:00")),
    }
    return Lesson(path, "on-call", MemoryType.FACT, value, confidence=0.9, used=0.0, agent=RUNBOOK_IMPORT)


def restart(rng: Random, path: str) -> Lesson:
    name = path.rpartition("/")[2]
    value = {
        "goal": f"Restart {name} without anybody noticing",
        "steps": [
            f"Say so in #{name}-alerts.",
            f"Restart one instance; wait {rng.choice((60, 90, 120))} seconds.",
            f"Go on only when {rng.choice(CHECKS)}.",
            f"Restart the others, {rng.choice((2, 3))} at a time.",
        ],
        "if it goes wrong": "roll back the last release first, then look",
    }
    return Lesson(
        path, "runbook-restart", MemoryType.PROCEDURE, value, confidence=0.85, holds=0.96, agent=RUNBOOK_IMPORT
    )


def dependency(rng: Random, path: str) -> Lesson:
    neighbour, effect = rng.choice(NEIGHBOURS), rng.choice(WHEN_SLOW)
    key = f"risk-{neighbour.removeprefix('the ').replace(' ', '-')}"
    value = f"When {neighbour} is slow, {effect}."
    return Lesson(path, key, MemoryType.BELIEF, value, confidence=round(rng.uniform(0.5, 0.8), 2), holds=0.92)


def errors(rng: Random, path: str) -> Lesson:
    shares = sorted((round(rng.uniform(0.05, 0.4), 2) for _ in range(3)), reverse=True)
    codes = rng.sample(("408", "409", "422", "429", "499", "502", "503", "504"), 3)
    value = {"of_all_errors": dict(zip(codes, shares, strict=True)), "sample": rng.randint(400, 9000), "window": "14 d"}
    return Lesson(path, "error-mix", MemoryType.EXPERIENCE, value, confidence=0.7, holds=0.95, used=0.5)


def windows(rng: Random) -> Iterator[Lesson]:
    """Yield maintenance windows: knowledge with a time to live, most of them over by now."""
    for number, path in enumerate(rng.sample(RUNNING, 12), start=1):
        day = 3 * number + rng.uniform(0, 1.5)
        value = {
            "window": f"MW-{1100 + 7 * number}",
            "why": rng.choice(WHY_WINDOW),
            "hours": rng.choice((1, 2, 4)),
            "expect": rng.choice(("read-only", "a short gap", "nothing to be seen")),
        }
        yield Lesson(
            path, f"maintenance-mw-{1100 + 7 * number}", MemoryType.FACT, value,
            confidence=0.95, holds=0.98, used=1.5, agent=RUNBOOK_IMPORT, day=day, expires=day + rng.uniform(2.5, 6.5),
        )  # fmt: skip

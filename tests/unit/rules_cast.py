"""The people and values the tests of the rules share."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from memories.rules.confidence import Applied, Standing, Step, apply_outcome
from memories.rules.policy import DEFAULT, MemoryType, OutcomeType, Policy

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HALF = st.floats(0, 1)
TYPES = st.sampled_from(OutcomeType)


def a_step(outcome_type: str = "success", **values) -> Step:
    known = {"keys": 1, "causal_confidence": 1.0, "verified": False, "agent_id": "agent/ada", "at": NOON}
    return Step(OutcomeType(outcome_type), **(known | values))


def traits(**values) -> dict:
    known = {"memory_type": MemoryType.FACT, "recall_count": 0, "outcome_count": 0}
    return known | {"positive": 0, "negative": 0, "pinned": False} | values


def run(start: float | Standing, *steps: str | Step, policy: Policy = DEFAULT) -> list[Applied]:
    """Return what each step, given as a type or whole, makes of an entry."""
    standing = start if isinstance(start, Standing) else Standing(start)
    applied = []
    for number, step in enumerate(steps):
        whole = a_step(step, at=NOON + timedelta(hours=number)) if isinstance(step, str) else step
        applied.append(apply_outcome(standing, whole, policy))
        standing = applied[-1].standing
    return applied


@st.composite
def steps(draw) -> Step:
    return a_step(
        draw(TYPES),
        keys=draw(st.integers(1, 12)),
        causal_confidence=draw(HALF),
        verified=draw(st.booleans()),
        agent_id=draw(st.sampled_from(["agent/ada", "agent/bob", "dev/eve"])),
        credit=draw(HALF),
    )

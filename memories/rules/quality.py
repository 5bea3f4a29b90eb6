"""How well an entry is put: advice, never a refusal (contract.md 3.13)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

SHORT: Final = 50
ENOUGH: Final = 0.8
SURE: Final = 0.9
# A belief says why it is held.
REASONS: Final = re.compile(
    r"\b(because|since|due to|as|therefore|so that|caused?|reason|evidence|observed|measured|after|when)\b", re.I
)


class Issue(NamedTuple):
    """What could be better: its kind, what is meant, and what would help."""

    type: str
    message: str
    suggestion: str
    costs: float


@dataclass(frozen=True, slots=True)
class Asked:
    """What is judged; `siblings` tells whether anything else stands under the path."""

    value: str
    memory_type: str
    confidence: float
    pattern_refs: tuple[str, ...]
    siblings: bool


class Quality(NamedTuple):
    """A score in 0..1, what to do about it, and why."""

    score: float
    action: str
    issues: list[Issue]

    def told(self) -> dict[str, Any]:
        issues = [{"type": i.type, "message": i.message, "suggestion": i.suggestion} for i in self.issues]
        return {"score": self.score, "action": self.action, "issues": issues}


def quality(asked: Asked) -> Quality:
    """Return how well a value is put. Advice: nothing is refused for it."""
    value = json.loads(asked.value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    issues = list(_issues(asked, value, text))
    score = round(max(0.0, 1.0 - sum(issue.costs for issue in issues)), 2)
    return Quality(score, "stored_ok" if score >= ENOUGH else "stored_with_suggestions", issues)


def _issues(asked: Asked, value: Any, text: str) -> Iterator[Issue]:
    if len(text) < SHORT:
        yield Issue("too_short", f"The value has {len(text)} characters.", "Say when it holds and what to do.", 0.3)
    if asked.memory_type == "procedure":
        yield from _procedure(value)
    elif isinstance(value, str) and len(text) > SHORT:
        yield Issue("unstructured", "The value is one text.", "Use an object with named parts.", 0.1)
    if asked.siblings and not asked.pattern_refs:
        yield Issue("no_references", "Other entries stand here; this one refers to none.", "Add pattern_refs.", 0.15)
    if asked.memory_type == "belief":
        yield from _belief(asked, text)


def _procedure(value: Any) -> Iterator[Issue]:
    if not (isinstance(value, dict) and value.get("goal") and value.get("steps")):
        yield Issue("procedure_incomplete", "A procedure has a goal and steps.", "Add goal and steps.", 0.25)


def _belief(asked: Asked, text: str) -> Iterator[Issue]:
    if not REASONS.search(text):
        yield Issue("no_reasoning", "The belief does not say why.", "Add what it rests on.", 0.1)
    if asked.confidence > SURE:
        yield Issue("overconfident", f"A belief of confidence {asked.confidence:g}.", "Start a belief lower.", 0.1)

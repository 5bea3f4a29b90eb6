"""What the demo's agents learn, as plain data: one JSON line each under lore/, in the folder and file of its entity."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

LORE = Path(__file__).parent / "lore"


@dataclass(frozen=True, slots=True)
class Revision:
    """What somebody wrote over a lesson on a later day; `holds` None leaves how well it holds as it was."""

    day: float
    value: Any
    reason: str = ""
    confidence: float = 0.8
    holds: float | None = None


@dataclass(frozen=True, slots=True)
class Lesson:
    """One thing to be learned.

    Days count from the start of the six weeks; `day` None is drawn. `holds` is the probability that a task relying on
    it goes well, `used` how often tasks rely on it against others of its entity (0: never). `replaces` is the key of
    the entry that is superseded by this one, with `why` as the reason.
    """

    path: str
    key: str
    type: str
    value: Any
    confidence: float = 0.8
    holds: float = 0.95
    used: float = 1.0
    agent: str = ""
    day: float | None = None
    private: bool = False
    pinned: bool = False
    expires: float | None = None
    importance: float | None = None
    refs: tuple[str, ...] = ()
    artifacts: tuple[Mapping[str, Any], ...] = ()
    later: tuple[Revision, ...] = ()
    replaces: str = ""
    why: str = ""
    # From when on it holds how well: (day, probability), ascending.
    turns: tuple[tuple[float, float], ...] = field(default=())

    @property
    def entry_key(self) -> str:
        return f"{self.path}/{self.key}"

    def holds_on(self, day: float) -> float:
        """Return the probability that a task relying on it on that day goes well."""
        known = [self.holds, *(probability for since, probability in self.turns if since <= day)]
        return known[-1]


NAMES = {field.name for field in fields(Lesson)}


def lessons() -> list[Lesson]:
    """Return everything under lore/, entity by entity.

    :raises ValueError: a line has a field that no lesson has.
    """
    return [
        lesson_of(path.relative_to(LORE).with_suffix("").as_posix(), line)
        for path in sorted(LORE.rglob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]


def lesson_of(entity_path: str, line: str) -> Lesson:
    told = json.loads(line)
    if unknown := set(told) - NAMES:
        raise ValueError(f"{entity_path}: no lesson has {', '.join(sorted(unknown))}")
    later = tuple(Revision(**revision) for revision in told.pop("later", ()))
    told |= {name: tuple(told.get(name, ())) for name in ("refs", "artifacts")}
    return turned(Lesson(path=entity_path, later=later, **told))


def turned(lesson: Lesson) -> Lesson:
    """Return a lesson that holds as well as its latest revision does."""
    turns = tuple((revision.day, revision.holds) for revision in lesson.later if revision.holds is not None)
    return replace(lesson, turns=turns) if turns else lesson

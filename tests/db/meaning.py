"""A model small enough to be read: each sense of a word is a direction."""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from memories import vectors

SENSES = {
    "shut": "close", "closed": "close", "close": "close", "geschlossen": "close",
    "shop": "store", "store": "store", "laden": "store",
    "retry": "again", "again": "again", "repeat": "again",
    "money": "pay", "payment": "pay", "invoice": "pay",
}  # fmt: skip
AXES = sorted(set(SENSES.values()))


@dataclass(frozen=True)
class Meaning:
    """Counts the senses of words; what has none lies on an axis of its own."""

    name: str = "meaning"
    dimensions: int = len(AXES) + 1

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(re.findall(r"\w+", text.casefold())) for text in texts]

    def _vector(self, words: list[str]) -> list[float]:
        counted = [float(sum(SENSES.get(word) == axis for word in words)) for axis in AXES]
        counted.append(0.0 if any(counted) else 1.0)
        length = math.hypot(*counted)
        return [value / length for value in counted]


@contextmanager
def chosen(model: Meaning | None) -> Iterator[None]:
    """Let this process have a model for a while."""
    vectors.use(model)
    try:
        yield
    finally:
        vectors.use(None)

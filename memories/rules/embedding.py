"""What of an entry is embedded, and what a vector is."""

import math
import re
from collections.abc import Sequence

from memories.rules.folding import chunks, spoken

# More than a model reads of a text.
CHARACTERS = 2_000
LONGEST_VECTOR = 4_000
DEFINED = re.compile(
    r"\b(?:def|class|function|fn|func|interface|struct|type|table)\s+([A-Za-z_]\w{2,40})", re.IGNORECASE
)
SIGNS = re.compile(r'[{}\[\]"\s]+')
DEFINITIONS = 12


def text_of(entity_path: str, key: str, value: str, *, is_artifact: bool) -> str:
    """Return what a model reads of an entry: its names and what it says; of an artifact what it is, not its code."""
    names = f"{named(entity_path)}, {named(key)}"
    if is_artifact:
        defined = dict.fromkeys(DEFINED.findall(spoken(value[: 20 * CHARACTERS])))
        return f"{names}: file {key}" + (f" with {', '.join(list(defined)[:DEFINITIONS])}" if defined else "")
    return f"{names}: {SIGNS.sub(' ', spoken(value[: 2 * CHARACTERS])).strip()}"[:CHARACTERS]


def named(name: str) -> str:
    """Return a name as words: `checkout-service/retryPolicy` is checkout service retry policy."""
    return " ".join(part for chunk in chunks(name) for part in (chunk.parts))


def normalised(vector: Sequence[float]) -> list[float] | None:
    """Return a vector of length 1, None for one that points nowhere or is none."""
    if not 1 <= len(vector) <= LONGEST_VECTOR or not all(math.isfinite(value) for value in vector):
        return None
    length = math.hypot(*vector)
    return [value / length for value in vector] if 0 < length < math.inf else None


def written(vector: Sequence[float]) -> str:
    """Return a vector as pgvector reads it."""
    return "[" + ",".join(format(value, ".6g") for value in vector) + "]"


def clients(dimensions: int) -> str:
    """Return the name of the model behind vectors that clients send: whose it is only they know."""
    return f"client-{dimensions}"

"""The store that both servers hold: a pure function of its size and an index."""

import random
from typing import Any

SYLLABLES = (
    "ka", "lo", "mi", "ra", "ten", "vo", "su", "pel", "dor", "in", "ex", "qua", "ber", "fi", "gan", "zor", "nu", "hal",
    "ist", "or",
)  # fmt: skip
TYPES = ("fact", "fact", "belief", "experience")


def _vocabulary() -> list[str]:
    """Return 6,000 words that no language has, in a fixed order; its head is common, its tail rare."""
    r = random.Random(7)
    made = sorted({"".join(r.choice(SYLLABLES) for _ in range(r.randint(2, 4))) for _ in range(9000)})[:6000]
    r.shuffle(made)
    return made


WORDS = _vocabulary()


def word(r: random.Random) -> str:
    """Return a word: few are common, most are rare."""
    return WORDS[int(len(WORDS) * r.random() ** 3)]


def words(r: random.Random, count: int) -> str:
    return " ".join(word(r) for _ in range(count))


def rare_words(r: random.Random, count: int) -> str:
    half = len(WORDS) // 2
    return " ".join(WORDS[half + r.randrange(half)] for _ in range(count))


def path(i: int, size: int) -> str:
    """Return the entity path of entry i: about twenty entries share one."""
    return f"org{i % 7}/service-{(i // 20) % max(1, size // 20)}"


def key(i: int) -> str:
    return f"note-{i}"


def value(i: int, version: int = 1) -> dict[str, Any]:
    r = random.Random(i * 1_000_003 + version)
    text = words(r, r.randint(25, 55))
    return {"text": text, "source": f"run-{i % 97}", "tags": [word(r), word(r)], "score": round(r.random(), 3)}


def body(i: int, size: int, version: int = 1, *, name: str = "") -> dict[str, Any]:
    """Return the body of POST /api/v1/entries for a version of entry i, or for a new one of that name beside it."""
    return {
        "entity_path": path(i, size),
        "key": name or key(i),
        "value": value(i, version),
        "confidence": confidence(i),
        "memory_type": TYPES[i % 4],
        "agent_id": f"agent-{i % 25}",
    }


def confidence(i: int) -> float:
    return round(0.5 + (i % 50) / 100, 2)

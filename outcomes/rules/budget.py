"""What fits into so many tokens: the most telling first, whole or not at all."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

LETTERS_A_TOKEN = 4
Item = TypeVar("Item")


def tokens_of(text: str) -> int:
    """Return about how many tokens a text is: a fourth of its letters, one for each sign beyond ASCII."""
    plain = sum(sign.isascii() for sign in text)
    return -(-plain // LETTERS_A_TOKEN) + len(text) - plain


def cost(told: Any) -> int:
    """Return about how many tokens a part of an answer is, as JSON."""
    return tokens_of(json.dumps(told, ensure_ascii=False, default=str))


def first(items: Sequence[Item], most: int, cost_of: Callable[[Item], int]) -> list[Item]:
    """Return the items from the first on that fit together."""
    kept: list[Item] = []
    for item in items:
        most -= cost_of(item)
        if most < 0:
            break
        kept.append(item)
    return kept


def fit(summary: Mapping[str, Any], order: Sequence[str], most: int) -> dict[str, Any]:
    """Return a summary whose lists hold what fits, in the order of importance of its sections; the rest is kept.

    A section that is no list is kept whole or left out (None). What does not fit is passed over, what is smaller after
    it is not.
    """
    told: dict[str, Any] = {
        name: [] if isinstance(part, list) else None for name, part in summary.items() if name in order
    }
    fitted: dict[str, Any] = {name: told.get(name, part) for name, part in summary.items()}
    room = most - cost(fitted)
    for name in order:
        part = summary.get(name)
        for item in part if isinstance(part, list) else [part]:
            price = cost(item)
            if item is None or price > room:
                continue
            room -= price
            if isinstance(part, list):
                fitted[name].append(item)
            else:
                fitted[name] = item
    return fitted

"""Phrases of time in a query: they say how new an answer should be, not what it is about (contract.md 3.9, step 1)."""

import re
from dataclasses import dataclass

FORTNIGHT = 14
NEAR_BOOST, FAR_BOOST = 2.0, 1.5
UNIT_DAYS = {"day": 1, "week": 7, "month": 30}
# (pattern, days): the first that matches takes its words; longer phrases stand before those they contain.
PHRASES = (
    (r"just now|earlier today|this (?:morning|afternoon)|tonight|today", 1),
    (r"yesterday", 2),
    (r"last week", 14),
    (r"(?:this|past) week", 7),
    (r"last month", 60),
    (r"(?:this|past) month", 30),
    (r"lately|recently|recent|latest|newest", 7),
)
_COUNTED = re.compile(r"\b(?:(?:in|over|for) )?(?:the )?(?:last |past )?(\d{1,4}) (day|week|month)s?(?: ago)?\b", re.I)
_NAMED = [(re.compile(rf"\b(?:(?:in|from|of|since) )?(?:the )?(?:{words})\b", re.I), days) for words, days in PHRASES]
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Temporal:
    """What is left of a query, and how many days back its phrases reach (None: it has none)."""

    text: str
    days: int | None

    @property
    def boost(self) -> float:
        """Return what recency counts more by."""
        if self.days is None:
            return 1.0
        return NEAR_BOOST if self.days <= FORTNIGHT else FAR_BOOST


def read(query: str) -> Temporal:
    """Return a query without its phrases of time; one that is nothing else keeps its text."""
    windows: list[int] = []

    def counted(match: re.Match[str]) -> str:
        windows.append(int(match[1]) * UNIT_DAYS[match[2].lower()] + 1)
        return " "

    text = _COUNTED.sub(counted, query)
    for pattern, days in _NAMED:
        text, times = pattern.subn(" ", text)
        windows += [days] * min(times, 1)
    if not windows:
        return Temporal(query, None)
    left = " ".join(text.split())
    return Temporal(left if _WORD.search(left) else query, min(windows))

"""A regime shift: rules that held for long begin to fail, so what holds must be found out anew (contract.md 3.9)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

SUCCESSES = 3
RECENT = timedelta(days=7)
NEWEST, FAILURES = 5, 2


@dataclass(frozen=True, slots=True)
class Lately:
    """How an entry did on one task: whether it went well, in which session, and whether somebody else said so."""

    won: bool
    session_id: str
    verified: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """What tells whether a rule turned."""

    successes: int
    failures: int
    status: str
    last_won: bool | None
    last_at: datetime | None
    lately: tuple[Lately, ...] = ()


def turned(rule: Rule, now: datetime) -> bool:
    """Tell whether a rule that held stopped holding."""
    if rule.successes < SUCCESSES or rule.failures < 1 or rule.status == "validated":
        return False
    if rule.last_won is not False or rule.last_at is None or now - rule.last_at > RECENT:
        return False
    return not rule.lately or _fails_lately(rule.lately[:NEWEST])


def _fails_lately(newest: Sequence[Lately]) -> bool:
    failed = [one for one in newest if not one.won]
    if any(one.verified for one in newest) and not any(one.verified for one in failed):
        return False
    return len({one.session_id or str(at) for at, one in enumerate(failed)}) >= FAILURES


def told(keys: Sequence[str]) -> dict[str, Any] | None:
    """Return a shift as a briefing tells it, None when nothing turned."""
    if not keys:
        return None
    return {
        "suspected": True,
        "entries": list(keys),
        "message": "Rules that held for long failed lately; check them before relying on them.",
    }

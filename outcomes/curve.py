"""Whether agents get better: rates of success over windows of tasks, and how long recoveries take; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

WINDOW = 20
# Tasks about a path before and after something was discredited there, for its recovery to be measured.
MEASURED = 5


@dataclass(frozen=True, slots=True)
class Session:
    """A task that ended, oldest first in lists."""

    at: datetime
    success: bool
    verified: bool
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shift:
    """An entry that was discredited at a moment, after it had stood."""

    entity_path: str
    key: str
    at: datetime


def rate(sessions: Sequence[Session]) -> float | None:
    """Return the share of successes, None of nothing."""
    return sum(one.success for one in sessions) / len(sessions) if sessions else None


def curve(sessions: Sequence[Session], window: int = WINDOW) -> list[dict[str, Any]]:
    """Return windows of so many tasks each, the last one shorter, with their rate of success."""
    parts = [sessions[start : start + window] for start in range(0, len(sessions), window)]
    return [
        {
            "episode": number,
            "sessions": len(part),
            "success_rate": rate(part),
            "from": part[0].at,
            "to": part[-1].at,
        }
        for number, part in enumerate(parts, start=1)
    ]


def learning(sessions: Sequence[Session], shifts: Iterable[Shift], window: int = WINDOW) -> dict[str, Any]:
    """Return what `GET /learning` tells of tasks, oldest first (contract.md 2.18)."""
    episodes = curve(sessions, window)
    full = [episode for episode in episodes if episode["sessions"] == window]
    first = full[0]["success_rate"] if len(full) > 1 else None
    latest = full[-1]["success_rate"] if len(full) > 1 else None
    return {
        "sessions": len(sessions),
        "successes": sum(one.success for one in sessions),
        "success_rate": rate(sessions) or 0.0,
        "window": window,
        "first": first,
        "latest": latest,
        "change": None if first is None or latest is None else latest - first,
        "curve": episodes,
        "recovery": recovery(sessions, shifts),
        "verified_share": sum(one.verified for one in sessions) / len(sessions) if sessions else 0.0,
        "span": {"from": sessions[0].at if sessions else None, "to": sessions[-1].at if sessions else None},
    }


def recovery(sessions: Sequence[Session], shifts: Iterable[Shift]) -> dict[str, Any]:
    """Return how tasks about a path went on after an entry there was discredited."""
    events = [recovered(sessions, shift) for shift in shifts]
    measured = [event for event in events if event["measured"]]
    lengths = [event["sessions_to_recover"] for event in measured if event["recovered"]]
    return {
        "shifts": len(events),
        "measured": len(measured),
        "recovered": len(lengths),
        "median_sessions_to_recover": median(lengths) if lengths else None,
        "open": [f"{e['entity_path']}/{e['key']}" for e in measured if not e["recovered"]],
        "events": events,
    }


def recovered(sessions: Sequence[Session], shift: Shift) -> dict[str, Any]:
    """Return whether success about a path came back to what it was before, and after how many tasks."""
    about = [one for one in sessions if shift.entity_path in one.paths]
    before = [one for one in about if one.at < shift.at]
    after = [one for one in about if one.at > shift.at]
    is_measured = len(before) >= MEASURED and len(after) >= MEASURED
    bar = rate(before) or 0.0
    spans = range(MEASURED, len(after) + 1) if is_measured else ()
    back = next((end for end in spans if (rate(after[end - MEASURED : end]) or 0.0) >= bar), None)
    return {
        "entity_path": shift.entity_path,
        "key": shift.key,
        "at": shift.at,
        "before": len(before),
        "after": len(after),
        "bar": bar,
        "measured": is_measured,
        "reason": "" if is_measured else f"fewer than {MEASURED} tasks on one side",
        "recovered": back is not None,
        "sessions_to_recover": back,
        "rate_after": rate(after) or 0.0,
    }

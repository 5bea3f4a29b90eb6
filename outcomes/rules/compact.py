"""Rows cut to what an agent acts on (contract.md 1.4)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

KEPT = (
    "entity_path", "key", "version", "value", "provenance", "confidence", "memory_type", "evidence_status", "posterior",
    "success_count", "failure_count", "last_outcome", "discredited_at", "validators",
)  # fmt: skip
MARKS = ("_score", "_avoid", "_rescued", "_pinned")
LEADING, LEADING_CHARACTERS, OTHER_CHARACTERS = 2, 1_200, 120
CUT = " […]"


def row(told: Mapping[str, Any], place: int, value: str) -> dict[str, Any]:
    """Return a hit in its compact form; `value` is its JSON text, `place` counts from 0."""
    short = {name: told[name] for name in KEPT} | {name: told[name] for name in MARKS if name in told}
    short["provenance"] = {name: told["provenance"][name] for name in ("agent_id", "session_id", "written_at")}
    short["_breakdown"] = {"evidence_status": told["_breakdown"]["evidence_status"]}
    kept, cut = shown(value, place)
    short["value"] = kept
    if cut:
        short["value_truncated"] = True
    return short


def shown(value: str, place: int) -> tuple[Any, bool]:
    """Return a value as a compact hit at a place shows it, and whether it was cut.

    The first two keep their form and up to 1,200 characters of a text; later ones become texts of 120.
    """
    is_text = value.startswith('"')
    if place < LEADING:
        if not is_text:
            return msgspec.Raw(value.encode()), False
        return shortened(msgspec.json.decode(value, type=str), LEADING_CHARACTERS)
    return shortened(msgspec.json.decode(value, type=str) if is_text else value, OTHER_CHARACTERS)


def text_of(value: str, most: int) -> str:
    """Return JSON text as it is read: a text without its quotes and escapes, cut to so many characters."""
    try:
        text = msgspec.json.decode(value) if value.startswith('"') else value
    except msgspec.DecodeError:
        text = value
    return shortened(str(text), most)[0]


def shortened(text: str, most: int) -> tuple[str, bool]:
    return (text, False) if len(text) <= most else (text[:most] + CUT, True)


def warning(status: str, failed_on: str, replaced_by: Sequence[str], action: str | None) -> str:
    """Return an avoid row in one line: its state, its last failure, what replaced it, which action resolved it."""
    parts = [status.capitalize().replace("_", " ")]
    if failed_on:
        parts.append(f"last failed on {failed_on}")
    if replaced_by:
        parts.append(f"use instead: {', '.join(replaced_by)}")
    if action:
        parts.append(f"resolved by {action}")
    return "; ".join(parts) + "."

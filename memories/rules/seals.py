"""What the seal of a version covers: its state without names, and the digests its names and its content enter by."""

import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from memories.rules import claims, integrity
from memories.rules.state import State

NAMED = frozenset({"validators", "superseded_by"})
COVERED = tuple(field.name for field in fields(State) if field.name not in NAMED)
FIRST = b""


def covered(
    state: State, *, number: int, change: str, at: datetime, before: float | None, weight: float | None, policy: str
) -> dict[str, Any]:
    """Return what a seal covers of a version, by name."""
    return {name: getattr(state, name) for name in COVERED} | {
        "number": number,
        "change": change,
        "at": at,
        "before": before,
        "weight": weight,
        "policy": policy,
    }


def names_digest(salt: bytes, state: State, *names: str) -> bytes:
    """Return the digest of all names a version carries: its own (in the order given) and those in its state."""
    return integrity.digest(salt, *names, *state.validators, state.superseded_by or "")


def references(pattern_refs: Sequence[str], artifact_refs: str) -> str:
    """Return a claim's references as one text, the same however a database spells `artifact_refs` (JSON text)."""
    return NONE if not pattern_refs and artifact_refs == "[]" else _references(pattern_refs, artifact_refs)


def _references(pattern_refs: Sequence[str], artifact_refs: str) -> str:
    return claims.normal_form(f"[{json.dumps(list(pattern_refs))},{artifact_refs}]").decode("ascii")


NONE = _references((), "[]")


def claim_content(salt: bytes, value: str, references: str) -> bytes:
    """Return the digest of a claim's value and references."""
    return integrity.digest(salt, value, references)


def content_digest(salt: bytes, content: bytes, reason: str) -> bytes:
    """Return the digest of what a version says: its claim's content and the reason given."""
    return integrity.digest(salt, content.hex(), reason)

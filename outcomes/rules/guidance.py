"""How much an agent should lean on what it is told: strong, thin or none (contract.md 3.9)."""

from collections.abc import Iterable, Mapping
from typing import Any

STRONG, THIN, NONE = "strong", "thin", "none"


def winning(prior: Mapping[str, Any]) -> bool:
    """Tell whether an action won here more than once, and more often than not."""
    return prior["n"] >= 2 and prior["p"] >= 0.6


def strength(statuses: Iterable[str], priors: Mapping[str, Any] | None = None, *, shifted: bool = False) -> str:
    """Return strong for something validated or an action that wins, none for nothing but untested, else thin."""
    seen = list(statuses)
    tried = (priors or {}).get("tried") or []
    if shifted:
        return THIN
    if "validated" in seen or any(winning(prior) for prior in tried):
        return STRONG
    return THIN if "contested" in seen or any(prior["won"] for prior in tried) else NONE

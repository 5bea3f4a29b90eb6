"""Whether a procedure is for the environment a run is in (contract.md 3.14)."""

from collections.abc import Mapping
from typing import Any

NAMES = ("model", "agent_version", "runtime", "platform")
APPLICABLE, NOT_APPLICABLE, UNKNOWN = "applicable", "not_applicable", "unknown"


def wanted(value: Any) -> dict[str, list[str]]:
    """Return what a procedure demands of its environment, by name; anything else among its preconditions is prose."""
    said = value.get("preconditions") if isinstance(value, dict) else None
    demands: dict[str, list[str]] = {}
    for part in [said] if isinstance(said, dict) else said if isinstance(said, list) else []:
        for name, allowed in part.items() if isinstance(part, dict) else ():
            if name in NAMES:
                listed = allowed if isinstance(allowed, list) else [allowed]
                demands.setdefault(name, []).extend(str(one) for one in listed if one is not None)
    return {name: allowed for name, allowed in demands.items() if allowed}


def meets(said: str, allowed: str) -> bool:
    """Tell whether a value is the one allowed, or begins with it where that ends in a star."""
    return said.startswith(allowed[:-1]) if allowed.endswith("*") else said == allowed


def judge(value: Any, environment: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return applicable, not_applicable or unknown (the run does not say), and why."""
    contradicted, untold = [], []
    for name, allowed in wanted(value).items():
        said = environment.get(name)
        if not said:
            untold.append(f"{name}: this run does not say; needed: {' or '.join(allowed)}")
        elif not any(meets(said, one) for one in allowed):
            contradicted.append(f"{name} is {said}; needed: {' or '.join(allowed)}")
    if contradicted:
        return NOT_APPLICABLE, contradicted
    return (UNKNOWN, untold) if untold else (APPLICABLE, [])

"""Holds the last run of `make bench` against the one before on the same machine; exit code 1 when ours lost 15 %."""

import json
import sys
from pathlib import Path
from typing import Any

RUNS = Path(__file__).resolve().parents[2] / "var" / "bench" / "runs"
LOSS = 0.85


def ours(run: dict[str, Any]) -> dict[tuple[str, int], float]:
    rates = [one for one in run["rates"] if one["target"] == "ours" and not one["errors"]]
    return {(one["operation"], one["clients"]): one["per_second"] for one in rates}


def cores(run: dict[str, Any]) -> str:
    return str(run["machine"]).partition(", load")[0]


def lost(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return what became slower by more than 15 %, a line each; only what both measured on such a machine and size."""
    if (before["size"], cores(before)) != (after["size"], cores(after)):
        return []
    old, new = ours(before), ours(after)
    return [
        f"{operation} at {clients}: {new[operation, clients]:,.0f} a second, was {old[operation, clients]:,.0f}"
        for operation, clients in old.keys() & new.keys()
        if new[operation, clients] < LOSS * old[operation, clients]
    ]


def main() -> None:
    runs = sorted(RUNS.glob("*.json"))[-2:]
    if len(runs) < 2:
        sys.exit("Two runs of `make bench` are needed.")
    found = lost(*(json.loads(run.read_text()) for run in runs))
    print("\n".join(found) or "Nothing became slower by more than 15 %.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()

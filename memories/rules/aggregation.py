"""Reducing values to figures: count, sum, mean, least, most, by group (contract.md 2.16)."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from memories.rules.refusals import Refused

OPERATIONS: Final = ("count", "sum", "mean", "min", "max", "stats")


def at(value: Any, path: str | None) -> Any:
    """Return what stands at a dotted path in a value, None where there is nothing; without a path the value."""
    for part in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def rows(values: Iterable[str], row_path: str | None) -> Iterator[Any]:
    """Yield the rows in JSON texts: each element of the list at `row_path`, or each value itself."""
    for text in values:
        found = at(json.loads(text), row_path)
        if row_path and isinstance(found, list):
            yield from found
        elif found is not None or not row_path:
            yield found


def refuse_unknown(operation: str, field: str | None) -> None:
    """:raises Refused: there is no such operation, or it needs a field."""
    if operation not in OPERATIONS:
        raise Refused("/op", f"An operation is one of {', '.join(OPERATIONS)}, not {operation!r}.", 400)
    if operation != "count" and not field:
        raise Refused("/field", f"{operation} needs a field.", 400)


def reduce(found: list[Any], operation: str, field: str | None) -> dict[str, Any]:
    """Return the figures of some rows: `count`, and what the operation asks for, None of no numbers."""
    if operation == "count":
        return {"count": len(found) if not field else sum(at(row, field) is not None for row in found)}
    # true and false are no numbers here, though Python counts with them.
    told = [number for row in found if type(number := at(row, field)) in {int, float}]
    numbers = [float(number) for number in told]
    total = sum(numbers)
    figures: dict[str, Any] = {
        "sum": total,
        "mean": total / len(numbers) if numbers else None,
        "min": min(numbers, default=None),
        "max": max(numbers, default=None),
    }
    return {"count": len(numbers), **(figures if operation == "stats" else {operation: figures[operation]})}


def grouped(found: Iterable[Any], group_by: str) -> dict[str, list[Any]]:
    """Return rows by what stands at a dotted path, as text; in the order in which groups first came."""
    groups: dict[str, list[Any]] = {}
    for row in found:
        key = at(row, group_by)
        groups.setdefault(key if isinstance(key, str) else json.dumps(key), []).append(row)
    return groups

"""Two worlds compared: one where somebody has what is asked for, and one where nobody has."""

from collections.abc import Callable
from typing import Any

from tests.walls import asking
from tests.walls.asking import Asker, Call, Table
from tests.walls.world import World


def walked(asker: Asker, table: Table, w: World) -> dict[tuple[str, int], tuple[Call, str]]:
    """Return what somebody is told on every way of calling every route."""
    told = {}
    for route, calls in table.items():
        for place, call in enumerate(calls(w)):
            if not (w.is_private and asking.impersonates(call, route)):
                told[route, place] = call, asker(route, call)
    return told


def first_of(table: Table) -> Table:
    """Return one way to call each route, for those who get no further, or the same again."""
    return {route: lambda w, calls=calls: calls(w)[:1] for route, calls in table.items()}


def differences(with_it: dict, without: dict, known: set[str]) -> dict[str, Any]:
    found = {}
    for (route, place), (call, told) in with_it.items():
        alone = without[route, place][1]
        if told != alone:
            found[f"{call.method} {route} {call.query} {call.body}"] = first_difference(told, alone)
        if words := asking.learned(call, route, told) - known:
            found[f"{call.method} {route} {place} tells"] = words
    return found


def first_difference(told: str, alone: str) -> tuple[str, str]:
    at = next((n for n, pair in enumerate(zip(told, alone, strict=False)) if pair[0] != pair[1]), 0)
    return told[max(0, at - 60) : at + 120], alone[max(0, at - 60) : at + 120]


def compared(
    askers: dict[str, tuple[Asker, Table]], tell: Callable[[], World], then: Callable[[World], None] = lambda w: None
) -> dict[str, Any]:
    """Return where the answers differ between a world in which something was told and one in which nothing was; `then`
    happens in both."""
    with asking.rolled_back():
        w = tell()
        then(w)
        with_it = {name: walked(asker, table, w) for name, (asker, table) in askers.items()}
    then(w)
    found: dict[str, Any] = {}
    for name, (asker, table) in askers.items():
        wrong = differences(with_it[name], walked(asker, table, w), w.known)
        found |= {f"{name}: {call}": what for call, what in wrong.items()}
    # What differs is long, and pytest would cut it.
    print(*(f"{call}\n    {what}" for call, what in found.items()), sep="\n")
    return found

"""Imports point down (DESIGN.md, The house): who stands above may lean on what is below, never the other way round."""

import sys

import pytest

from tests.house.project import Module, ours, sources

# What of the project stands on top; the rest of senselab are shared rooms.
TOP = (
    "urls", "views", "overview", "health", "metrics", "problems", "demo", "management", "asgi", "wsgi",
    "administration", "mcp", "cli",
)  # fmt: skip
# Inside an app, from below; what is not named are reads, between the tables and the services.
FLOORS = {
    "rules": 0,
    "querysets": 1,
    "reads": 2,
    "services": 3,
    "jobs": 4,
    "management": 5,
    "api": 5,
    "ui": 5,
}
TABLES = 1
PURE = ("memories.rules", "outcomes.rules", "senselab.errors")


def storey(name: str) -> int:
    """Return how high a module of ours stands in the house."""
    app, _, rest = name.partition(".")
    if app == "senselab":
        return 3 if rest.split(".")[0] in TOP else 0
    return {"memories": 1, "outcomes": 2}[app]


def floor(name: str) -> int:
    """Return how high a module stands inside its app."""
    room = name.split(".")[1] if "." in name else "reads"
    if room == "models":
        return TABLES
    return FLOORS.get(room, FLOORS["reads"])


def edges(modules: list[Module]) -> list[tuple[str, str]]:
    known = {module.name for module in ours()}
    found = []
    for module in modules:
        for imported in module.imports():
            # `from memories.heads import Head` names a thing in a module, `from memories import heads` a module.
            name = imported if imported in known else imported.rpartition(".")[0]
            if name in known and name != module.name:
                found.append((module.name, name))
    return sorted(set(found))


EDGES = edges(ours())


def test_the_house_has_its_arrows():
    assert len(EDGES) > 200
    assert ("outcomes.services", "memories.heads") in EDGES


def test_imports_between_the_apps_point_down():
    assert [f"{who} -> {whom}" for who, whom in EDGES if storey(who) < storey(whom)] == []


def test_imports_inside_an_app_point_down():
    inside = [(who, whom) for who, whom in EDGES if who.split(".")[0] == whom.split(".")[0] != "senselab"]
    assert [f"{who} -> {whom}" for who, whom in inside if floor(who) < floor(whom)] == []


def test_api_and_pages_do_not_know_each_other():
    rooms = [(who, whom, {*who.split(".")[1:2], *whom.split(".")[1:2]}) for who, whom in EDGES]
    assert [f"{who} -> {whom}" for who, whom, parts in rooms if parts == {"api", "ui"}] == []


@pytest.mark.parametrize("module", sources("memories/rules", "outcomes/rules"), ids=lambda module: module.name)
def test_rules_know_nothing_but_python_and_rules(module):
    strangers = [
        name
        for name in module.imports()
        if name.split(".")[0] not in sys.stdlib_module_names
        and not name.startswith(PURE)
        and name.split(".")[0] != "msgspec"
    ]
    assert strangers == []


def test_nothing_of_the_product_leans_on_its_tests():
    assert [module.name for module in ours() for name in module.imports() if name.split(".")[0] == "tests"] == []


def test_no_two_modules_wait_for_each_other():
    """Following the arrows from any module never leads back to it."""
    below: dict[str, set[str]] = {}
    for who, whom in EDGES:
        below.setdefault(who, set()).add(whom)

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(below.get(start, ()))
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += below.get(name, ())
        return seen

    assert [name for name in below if name in reached(name)] == []

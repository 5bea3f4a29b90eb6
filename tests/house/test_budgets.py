"""The manners of STYLE.md that can be counted."""

import ast
import re
from importlib import metadata

import pytest
from django.core.management import call_command

from tests.house.project import ROOT, Module, ours, sources

MODULE_LINES, TEST_LINES, FUNCTION_LINES = 300, 400, 40
FORBIDDEN = {"utils", "util", "helpers", "helper", "mixins", "base", "common", "misc"}
TESTS = sources("tests")
CLOCKS = {"now", "utcnow", "today", "localtime", "time", "monotonic", "localdate"}
QUERYING = {"filter", "exclude", "annotate", "order_by", "raw", "extra"}


def names(modules: list[Module]) -> list[str]:
    return [module.name for module in modules]


def test_no_module_is_longer_than_its_budget():
    assert {module.name: module.lines for module in ours() if module.lines > MODULE_LINES} == {}
    assert {module.name: module.lines for module in TESTS if module.lines > TEST_LINES} == {}


def test_no_function_is_longer_than_forty_lines():
    long = {
        f"{module.name}.{function.name}": function.end_lineno - function.lineno + 1
        for module in [*ours(), *TESTS]
        for function in module.functions()
        if function.end_lineno is not None and function.end_lineno - function.lineno >= FUNCTION_LINES
    }
    assert long == {}


def test_no_module_is_named_for_what_does_not_belong_anywhere():
    assert [name for name in names([*ours(), *TESTS]) if FORBIDDEN & set(name.split("."))] == []


def called(module: Module, words: set[str]) -> list[str]:
    """Return where a module calls a method of one of these names, and on what."""
    calls = [node.func for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
    found = [func for func in calls if isinstance(func, ast.Attribute) and func.attr in words]
    return [f"{module.name}:{func.lineno} {ast.unparse(func)}" for func in found]


def test_rules_and_services_have_no_clock():
    timeless = [m for m in ours() if {"rules", "services"} & set(m.parts) and m.parts[0] != "senselab"]
    readings = [call for module in timeless for call in called(module, CLOCKS)]
    assert [call for call in readings if re.search(r"\b(timezone|datetime|date|time)\.", call)] == []


def test_views_ask_named_questions():
    doors = [m for m in ours() if {"ui", "api", "views", "templatetags"} & set(m.parts)]
    asked = [call for module in doors for call in called(module, QUERYING)]
    assert [call for call in asked if " register." not in call] == []


def test_templates_ask_nothing():
    asking = re.compile(r"\.objects\b|\.filter\b|_set\.(all|count|first)\b")
    tags = {path.name: re.findall(r"{[{%].*?[%}]}", path.read_text()) for path in (ROOT / "templates").rglob("*.html")}
    assert [name for name, found in tags.items() if any(asking.search(tag) for tag in found)] == []


def test_nobody_catches_everything():
    broad = [
        f"{module.name}:{node.lineno}"
        for module in ours()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"})
    ]
    assert broad == []


def test_tests_do_not_sleep():
    assert [call for module in TESTS for call in called(module, {"sleep"}) if "time.sleep" in call] == []


def test_every_module_says_what_it_is_for():
    plain = {"apps", "version"}
    assert [m.name for m in ours() if m.tree.body and m.parts[-1] not in plain and not ast.get_docstring(m.tree)] == []


def test_migrations_are_complete(db):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


PINS = {
    name: [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith(("#", "-r "))]
    for name in ("requirements.txt", "requirements-observability.txt", "requirements-dev.txt")
}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(*files: str) -> dict[str, str]:
    pairs = (line.split("==") for file in files for line in PINS[file])
    return {plain(name): version for name, version in pairs}


@pytest.mark.parametrize("name", PINS)
def test_every_requirement_is_pinned_once(name):
    assert [line for line in PINS[name] if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []
    assert len(pinned(name)) == len(PINS[name])


@pytest.mark.parametrize(
    "files",
    [("requirements.txt",), ("requirements.txt", "requirements-observability.txt"), tuple(PINS)],
    ids=["run", "observe", "test"],
)
def test_what_a_requirement_needs_is_pinned_as_well(files):
    from packaging.requirements import Requirement

    pins = pinned(*files)
    needed = {
        (plain(requirement.name), name)
        for name in pins
        for requirement in map(Requirement, metadata.requires(name) or [])
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    }
    assert {pair for pair in needed if pair[0] not in pins} == set()


def test_what_is_installed_is_what_is_pinned():
    pins = pinned(*PINS)
    assert {name: metadata.version(name) for name in pins} == pins

"""The room of rules knows plain values only: no framework, no database, no clock, nothing of the floors above."""

import ast
from pathlib import Path

import pytest

import memories.rules

MODULES = sorted(Path(memories.rules.__file__).parent.glob("*.py"))
ALLOWED = {
    "bisect", "collections", "dataclasses", "datetime", "decimal", "enum", "fnmatch", "hashlib", "itertools", "json",
    "math", "msgspec", "re", "typing", "unicodedata", "functools", "operator",
}  # fmt: skip
CLOCKS = {"now", "utcnow", "today", "time", "monotonic"}


def imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_of_rules_imports_only_plain_things(module):
    outside = {name for name in imported(ast.parse(module.read_text())) if not name.startswith("memories.rules")}
    # The named refusals are plain as well.
    assert {name.split(".")[0] for name in outside - {"senselab.errors"}} <= ALLOWED


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_no_rule_asks_a_clock(module):
    asked = {
        node.func.attr
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert not asked & CLOCKS

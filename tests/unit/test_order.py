"""Test files that wait begin before those that work, so that nobody waits for them in the end."""

from dataclasses import dataclass

from tests.order import pytest_collection_modifyitems


@dataclass
class Item:
    nodeid: str


def test_files_that_wait_come_first_and_then_those_of_most_tests():
    names = ["unit/test_a.py::one", "db/test_b.py::one", "db/test_b.py::two[x::y]", "browser/test_c.py::one",
             "ops/test_a.py::one", "ops/test_a.py::two", "ops/test_soak.py::one"]  # fmt: skip
    items = [Item(f"tests/{name}") for name in names]
    pytest_collection_modifyitems(items)
    assert [item.nodeid.removeprefix("tests/") for item in items] == [
        "ops/test_soak.py::one", "ops/test_a.py::one", "ops/test_a.py::two", "browser/test_c.py::one",
        "db/test_b.py::one", "db/test_b.py::two[x::y]", "unit/test_a.py::one",
    ]  # fmt: skip

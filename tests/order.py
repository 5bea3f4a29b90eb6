"""pytest plugin: in which order test files begin, and in how many processes.

Files that start whole programs mostly wait, the soak longest: begun first, they wait beside what works, and begun last,
everybody would wait for them. One process more than there are cores takes up what waiting leaves.
"""

import os
from collections import Counter

import pytest

# By the start of a file's path; what fits none of them comes after, files of most tests first.
FIRST = ("tests/ops/test_soak", "tests/ops/", "tests/browser/", "tests/ui/test_page_costs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Counter(file_of(item) for item in items)

    def place(item: pytest.Item) -> tuple[int, int]:
        file = file_of(item)
        early = [n for n, start in enumerate(FIRST) if file.startswith(start)]
        return (early[0], 0) if early else (len(FIRST), -tests[file])

    items.sort(key=place)


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers() -> int:
    return (os.cpu_count() or 1) + 1

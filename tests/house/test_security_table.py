"""docs/security.md names a test for each threat, and each is there."""

import re

import pytest

from tests.house.project import ROOT

ROWS = [line for line in (ROOT / "docs" / "security.md").read_text().splitlines() if line.startswith("| ")][1:]
NAMED = sorted({name for row in ROWS for name in re.findall(r"tests/[\w/]+\.py(?:::\w+)?", row)})


def test_every_threat_names_what_stands_in_the_way_and_a_test():
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in ROWS]
    assert len(cells) > 25
    assert [row[0] for row in cells if len(row) != 3 or not all(row) or "tests/" not in row[2]] == []


@pytest.mark.parametrize("name", NAMED)
def test_each_named_test_is_there(name):
    path, _, function = name.partition("::")
    assert (ROOT / path).is_file()
    assert not function or re.search(rf"^def {function}\(", (ROOT / path).read_text(), re.MULTILINE)

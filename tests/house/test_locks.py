"""What is installed is what was read: the locks say what the plain requirements say, and of each file its hash."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.project import ROOT

PLAIN = sorted(path.name for path in ROOT.glob("requirements*.txt"))


def pins(path: Path) -> Iterator[str]:
    """Yield what a requirements file pins, and the files it builds on."""
    for line in path.read_text().splitlines():
        if line.startswith("-r "):
            yield from pins(path.parent / line.removeprefix("-r ").strip())
        elif found := re.match(r"([\w.-]+)==([\w.+!]+)", line):
            yield f"{re.sub(r'[-_.]+', '-', found[1]).lower()}=={found[2]}"


def locked(name: str) -> list[str]:
    return re.split(r"\n(?=\S)", (ROOT / "locks" / name).read_text().strip())


@pytest.mark.parametrize("name", PLAIN)
def test_a_lock_pins_what_its_file_does(name):
    assert set(pins(ROOT / "locks" / name)) == set(pins(ROOT / name)), "run `make lock`"


@pytest.mark.parametrize("name", PLAIN)
def test_each_package_is_locked_by_the_hashes_of_its_files(name):
    assert [one.split()[0] for one in locked(name) if not re.search(r"--hash=sha256:[0-9a-f]{64}", one)] == []


def test_what_is_installed_by_the_makefile_is_installed_by_hash():
    makefile = (ROOT / "Makefile").read_text()
    assert re.findall(r"install -r \S+", makefile) == []
    dockerfile = (ROOT / "docs" / "deploy" / "Dockerfile").read_text()
    assert "--require-hashes" in dockerfile

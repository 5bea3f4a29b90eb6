"""The sheets, the scripts, the icons and what others made: nothing inline, nothing from elsewhere, nothing changed."""

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STATIC, TEMPLATES = ROOT / "static", ROOT / "templates"
VENDOR = STATIC / "vendor"
PAGES = sorted(TEMPLATES.rglob("*.html"))
SOURCES = [*PAGES, *sorted((ROOT / "senselab").rglob("*.py")), *sorted(ROOT.glob("*/ui/*.py"))]


def vendored() -> dict[str, tuple[str, str]]:
    """Return {file: (licence file, sha256)} from the table of the README."""
    rows = re.findall(
        r"^\| (\S+\.\w+) \|.*licenses/(\S+) \| ([0-9a-f]{64}) \|$", (VENDOR / "README.md").read_text(), re.M
    )
    return {name: (licence, digest) for name, licence, digest in rows}


def icons() -> set[str]:
    return set(re.findall(r'<symbol id="([\w-]+)"', (STATIC / "icons.svg").read_text()))


def test_every_vendored_file_is_listed_with_its_licence_and_nothing_else_is():
    files = {path.name for path in VENDOR.iterdir() if path.is_file()} - {"README.md"}
    assert files == set(vendored())
    assert all((VENDOR / "licenses" / licence).exists() for licence, _ in vendored().values())


@pytest.mark.parametrize("name", sorted(vendored()))
def test_a_vendored_file_is_what_the_list_says(name):
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == vendored()[name][1]


def test_the_three_sheets_stay_within_their_budget():
    sheets = sorted((STATIC / "css").iterdir())
    assert [sheet.name for sheet in sheets] == ["layout.css", "parts.css", "tokens.css"]
    assert sum(sheet.stat().st_size for sheet in sheets) <= 45 * 1024


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TEMPLATES)))
def test_a_template_has_no_inline_script_or_style_and_loads_nothing_from_elsewhere(page):
    text = page.read_text()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|hx-on|hx-vals=.js:", text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text)


def test_every_icon_that_a_page_names_is_in_the_sprite():
    text = "\n".join(path.read_text() for path in SOURCES)
    named = set(re.findall(r"""\{% icon ["']([a-z0-9-]+)["']|\bicon\(["']([a-z0-9-]+)["']""", text))
    assert {name for pair in named for name in pair if name} - icons() == set()


def test_every_icon_of_a_mark_is_in_the_sprite():
    from senselab import marks, ui

    pairs = [*marks.STATUS.values(), *marks.CHANGES.values()]
    named = {*marks.EVIDENCE.values(), *marks.TYPES.values(), *marks.TIERS.values(), *(icon for icon, _ in pairs)}
    assert named | {place.icon for place in ui.PLACES} <= icons()


def test_sheets_load_only_files_that_are_here():
    for sheet in (STATIC / "css").iterdir():
        for url in re.findall(r"url\(([^)]+)\)", sheet.read_text()):
            assert (sheet.parent / url).resolve().is_file()

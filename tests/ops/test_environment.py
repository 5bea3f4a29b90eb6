import re

from tests.ops.conftest import ROOT


def test_every_setting_stands_in_the_example_with_a_line_of_meaning() -> None:
    rooms = [path for room in ("senselab", "memories", "outcomes") for path in (ROOT / room).rglob("*.py")]
    read = re.compile(r"""(?:env\.\w+\(|os\.environ\.get\()\s*["']([A-Z][A-Z_]+)["']""")
    asked = {name for path in rooms for name in read.findall(path.read_text())} - {"PATH", "XDG_CONFIG_HOME"}
    example = re.findall(r"^# [^\n]+\.\n#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.M)
    assert asked == set(example)


def test_all_requirements_are_pinned() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith(("#", "-r"))]
        assert lines
        assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []

"""What the image holds, by .dockerignore; what it runs, `make clean-folder` runs without a container engine."""

from pathlib import Path

from tests.ops.conftest import ROOT


def test_the_image_holds_nothing_but_what_runs() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    assert patterns[0] == "*"
    let_in = {line[1:] for line in patterns if line.startswith("!")}
    assert let_in == {"LICENSE", "locks", "manage.py", "memories", "outcomes", "senselab", "static", "templates"}
    assert all((ROOT / name).exists() for name in let_in)
    assert not [path for name in let_in for path in Path(ROOT / name).rglob(".env*")]

"""What the image runs, run without a container engine in a clean folder; what it holds, by .dockerignore."""

import subprocess
import sys
from pathlib import Path

from tests.ops.conftest import ROOT

SCRIPT = ROOT / "docs" / "deploy" / "clean_folder.py"


def test_what_the_image_runs_works_in_a_clean_folder_and_ends_well() -> None:
    done = subprocess.run([sys.executable, SCRIPT], cwd="/", capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    assert said.startswith("No container engine is used")
    for words in ("RUN pip install --require-hashes", "CMD python manage.py up (as senselab", "STOPSIGNAL SIGTERM"):
        assert words in said
    assert [said.count(f"HEALTHCHECK of the {name}: well") for name in ("image", "worker")] == [1, 1]
    assert "All of it works. Not shown here: " in said


def test_the_image_holds_nothing_but_what_runs() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    assert patterns[0] == "*"
    let_in = {line[1:] for line in patterns if line.startswith("!")}
    assert let_in == {"LICENSE", "locks", "manage.py", "memories", "outcomes", "senselab", "static", "templates"}
    assert all((ROOT / name).exists() for name in let_in)
    assert not [path for name in let_in for path in Path(ROOT / name).rglob(".env*")]

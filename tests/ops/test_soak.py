"""Two minutes of soak: parts are killed with -9 while agents write; what was acknowledged is there (make soak: ten)."""

import os
import subprocess
import sys

from tests.ops.conftest import ROOT


def test_what_was_acknowledged_survives_whatever_is_killed() -> None:
    command = [sys.executable, "-m", "tests.load.soak", "120"]
    environment = os.environ | {"DATABASE_URL": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing was lost." in done.stdout

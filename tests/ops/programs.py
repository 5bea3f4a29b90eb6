"""Programs that tests ask: those that are installed, else from Debian's packages, unpacked and not installed.

Installing a web server would start it; unpacking leaves the machine as it was.
"""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNPACKED = ROOT / "var" / "programs"
PLACES = ("usr/sbin", "usr/bin", "sbin", "bin")


def program(name: str, *, of: str = "") -> str:
    """Return the path of a program; `of` is its Debian package, when that has another name.

    :raises AssertionError: it is neither installed nor to be had.
    """
    search = os.pathsep.join([os.environ["PATH"], "/usr/sbin", *(str(UNPACKED / place) for place in PLACES)])
    found = shutil.which(name, path=search) or (unpack(of or name) and shutil.which(name, path=search))
    assert found, f"This test needs {name}: install it with your package manager (macOS: brew install {name})."
    return found


def unpack(package: str) -> bool:
    """Fetch a Debian package and unpack it under var/programs; False where that cannot be done."""
    if not shutil.which("apt-get"):
        return False
    UNPACKED.mkdir(parents=True, exist_ok=True)
    fetch = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package]
    if subprocess.run(fetch, cwd=UNPACKED, check=False, capture_output=True).returncode:
        subprocess.run(["apt-get", "-qq", "update"], check=False, capture_output=True)
        subprocess.run(fetch, cwd=UNPACKED, check=False, capture_output=True)
    files = sorted(UNPACKED.glob(f"{package}_*.deb"))
    unpacking = [subprocess.run(["dpkg", "-x", file, UNPACKED], check=False).returncode for file in files]
    return unpacking != [] and not any(unpacking)

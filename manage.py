#!/usr/bin/env python
"""Run a command; the embedded database is started for its duration when it does not run already."""

import contextlib
import os
import sys
from pathlib import Path

import environ
from django.core.management import execute_from_command_line

BASE_DIR = Path(__file__).resolve().parent
# `up` looks after the database itself; the others never ask it anything.
WITHOUT_DATABASE = {"up", "help", "version", "check", "collectstatic", "diffsettings", "findstatic", "spectacular"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "senselab.settings")
    environ.Env.read_env(BASE_DIR / ".env")
    with contextlib.ExitStack() as cleanup:
        command = next(iter(sys.argv[1:]), "help")
        if not os.environ.get("DATABASE_URL") and command.strip("-") not in WITHOUT_DATABASE:
            hold_server(cleanup)
        execute_from_command_line(sys.argv)


def hold_server(cleanup: contextlib.ExitStack) -> None:
    from senselab import engine, postgres

    try:
        cleanup.callback(postgres.use(Path(os.environ.get("SENSELAB_DATA") or BASE_DIR / "var")).close)
    except engine.DatabaseUnavailable as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

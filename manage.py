#!/usr/bin/env python
"""Run a command; the embedded database is started for its duration when it does not run already."""

import contextlib
import os
import sys
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError, connection

# `up` looks after the database itself; the others never ask it anything.
WITHOUT_DATABASE = {"up", "help", "version", "check", "collectstatic", "diffsettings", "findstatic", "spectacular"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "senselab.settings")
    try:
        data = settings.DATA_DIR
    except (ImproperlyConfigured, ValueError) as error:
        sys.exit(f"A setting cannot be used: {error}.")
    with contextlib.ExitStack() as cleanup:
        command = next(iter(sys.argv[1:]), "help")
        if not os.environ.get("DATABASE_URL") and command.strip("-") not in WITHOUT_DATABASE:
            hold_server(data, cleanup)
        run()


def run() -> None:
    """Run the command; a database that cannot be reached is one sentence, whatever the command."""
    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        if connection.connection is not None:
            raise
        sys.exit(f"The database does not answer: {str(error).splitlines()[0]}")


def hold_server(data: Path, cleanup: contextlib.ExitStack) -> None:
    from senselab import engine, postgres

    try:
        cleanup.callback(postgres.use(data).close)
    except engine.DatabaseUnavailable as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

"""Commands for the machine SenseLab runs on: they ask no server, and are what `manage.py` does under the same name."""

import os
import sys
from pathlib import Path

import typer

MANAGE = Path(__file__).resolve().parents[2] / "manage.py"
# What follows the word is for manage.py to understand, --help included.
HANDED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def backup(context: typer.Context) -> None:
    """Copy the whole database and prove the copy by restoring it (on the server's machine)."""
    hand_on(context)


def restore(context: typer.Context) -> None:
    """Put the newest copy, or the one given, in the place of the database (on the server's machine)."""
    hand_on(context)


def hand_on(context: typer.Context) -> None:
    os.execv(sys.executable, [sys.executable, str(MANAGE), str(context.info_name), *context.args])

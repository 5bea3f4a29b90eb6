"""What the commands about entries share: the account, who acts, and the entry that a key stands for."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from memories import viewers
from memories.queue import review_names
from memories.rows import Row
from memories.rules import names
from memories.services.acts import Actor
from memories.viewers import Viewer
from senselab.accounts import services as accounts
from senselab.errors import NotFound


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody at the command line: a person, who sees everything in the account, and whose verdict holds."""

    viewer: Viewer
    actor: Actor
    now: datetime

    @property
    def author(self) -> str:
        """Return who entries are written by."""
        return f"human/{self.actor.name}"


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("--account", default=accounts.DEFAULT_ACCOUNT, help="slug of the account (default)")
    parser.add_argument("--branch", default="main", help="the branch (main)")
    parser.add_argument("--by", default="operator", help="the name to act under (operator)")


def asked(options: dict[str, Any]) -> Asked:
    """:raises NoSuchAccount: there is no account of that slug. :raises Refused: the name to act under cannot be one."""
    viewer = viewers.person(accounts.find_account(options["account"]))
    return Asked(viewer, Actor("person", names.clean_name(options["by"], pointer="--by")), timezone.now())


def entry(who: Asked, branch: str, entry_key: str) -> Row:
    """:raises NotFound: there is no shared entry of that key."""
    row = review_names.by_entry_key(who.viewer, branch, entry_key)
    if row is None or row.owner or row.is_gone(who.now):
        raise NotFound(f"There is no entry {entry_key!r}; an entry key is its path, a slash and its key.")
    return row


def told(row: Row, before: float) -> str:
    """Return one line on what became of an entry."""
    state = row.state
    return f"{row.entry_key} v{row.version}: {before:.2f} to {state.confidence:.2f}, {state.status.replace('_', ' ')}"

"""The words of deciding: what a reviewer can do with an entry, and how it is told afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from memories.rules.kinds import Change


class Word(StrEnum):
    """A decision, as it is asked for. The last three are made by whole acts, not by keys."""

    ACCEPT = "accept"
    REJECT = "reject"
    EDIT = "edit"
    ROLLBACK = "rollback"
    SUPERSEDE = "supersede"
    ARCHIVE = "archive"
    SNOOZE = "snooze"
    PIN = "pin"
    UNPIN = "unpin"
    SKIP = "skip"
    COMMENT = "comment"
    SEND = "send"
    RESTORE = "restore"
    UNDO = "undo"


PAST: Final[Mapping[str, str]] = {
    Word.ACCEPT: "accepted it",
    Word.REJECT: "rejected it",
    Word.EDIT: "edited it",
    Word.SUPERSEDE: "superseded it",
    Word.ARCHIVE: "archived it",
    Word.SNOOZE: "put it off",
    Word.PIN: "pinned it",
    Word.UNPIN: "unpinned it",
    Word.COMMENT: "commented on it",
    Word.SEND: "sent it to review",
}
# With less than this to live an active entry waits for a decision.
EXPIRING: Final = timedelta(days=3)
# Those that reviewers ask for, over the API and by a key of the page.
ASKED: Final = (*(word for word in Word if word not in {Word.SEND, Word.RESTORE, Word.UNDO}),)


def made(change: str, cause: str) -> str:
    """Return the decision that made a version, given the version's change and the cause of its change set."""
    if change == Change.ROLLBACK:
        return Word.ROLLBACK.value
    return Word.SUPERSEDE.value if change == Change.SUPERSEDED else cause


def told(change: str, cause: str) -> str:
    """Return what a decision did, after the name of whoever made it: accepted it, rolled it back to v14."""
    if change == Change.ROLLBACK:
        return f"rolled it back to {cause}"
    return PAST.get(made(change, cause), "decided about it")


@dataclass(frozen=True, slots=True)
class Item:
    """An entry to decide about and the version that was seen; `to_version` is where a restore goes (None: archive)."""

    entry_id: int
    version: int
    to_version: int | None = None

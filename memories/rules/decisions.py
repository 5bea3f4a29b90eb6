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
    Word.ACCEPT: "accepted",
    Word.REJECT: "rejected",
    Word.EDIT: "edited",
    Word.SUPERSEDE: "superseded",
    Word.ARCHIVE: "archived",
    Word.SNOOZE: "put off",
    Word.PIN: "pinned",
    Word.UNPIN: "unpinned",
    Word.COMMENT: "commented on",
    Word.SEND: "sent to review",
}
# With less than this to live an active entry waits for a decision.
EXPIRING: Final = timedelta(days=3)
# Those that reviewers ask for, over the API and by a key of the page.
ASKED: Final = (*(word for word in Word if word not in {Word.SEND, Word.RESTORE, Word.UNDO}),)


def told(change: str, cause: str) -> str:
    """Return what a decision did, as "rex ... it" goes on: accepted, rolled back to v14."""
    if change == Change.ROLLBACK:
        return f"rolled back to {cause}"
    if change == Change.SUPERSEDED:
        return PAST[Word.SUPERSEDE]
    return PAST.get(cause, "decided about")


@dataclass(frozen=True, slots=True)
class Item:
    """An entry to decide about and the version that was seen; `to_version` is where a restore goes (None: archive)."""

    entry_id: int
    version: int
    to_version: int | None = None

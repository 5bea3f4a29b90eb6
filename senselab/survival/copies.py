"""The copies there are: files in one folder, each with a note that says what it is and whether it was proven."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from senselab.survival.programs import CannotBackUp

STAMP = "%Y%m%dT%H%M%SZ"


class Note(msgspec.Struct, frozen=True):
    """What is known of a copy; `proven_at` is None until it was restored and every seal verified."""

    made_at: datetime
    bytes: int
    sha256: str
    server: int
    proven_at: datetime | None = None
    looked: str = ""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the database and its note."""

    path: Path
    note: Note

    @property
    def proven(self) -> bool:
        return self.note.proven_at is not None


def path_for(folder: Path, now: datetime) -> Path:
    return folder / f"senselab-{now.astimezone(UTC).strftime(STAMP)}.dump"


def note_of(path: Path) -> Path:
    return path.with_suffix(".json")


def write_note(path: Path, note: Note) -> None:
    """Write a note whole or not at all."""
    part = note_of(path).with_suffix(".part")
    part.write_bytes(msgspec.json.encode(note) + b"\n")
    part.replace(note_of(path))


def listed(folder: Path) -> list[Copy]:
    """Return all copies, the newest first; a file without a note was never finished and is none."""
    found = []
    for note in sorted(folder.glob("senselab-*.json"), reverse=True):
        path = note.with_suffix(".dump")
        if path.exists():
            found.append(Copy(path, msgspec.json.decode(note.read_bytes(), type=Note)))
    return found


def checked(copy: Copy) -> Copy:
    """Return the copy.

    :raises CannotBackUp: the file is not what was written.
    """
    if digest(copy.path) != copy.note.sha256:
        raise CannotBackUp(f"{copy.path} is damaged: its checksum differs from the one written with it.")
    return copy


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def spare(copies: Sequence[Copy], *, keep: int, days: int, now: datetime) -> list[Copy]:
    """Return the copies to drop: beyond `keep`, and older than `days`; the newest proven one always stays.

    0 means without that limit.
    """
    proven = next((copy for copy in copies if copy.proven), None)
    old = now - timedelta(days=days)
    beyond = {copy.path for copy in copies[keep:]} if keep else set()
    aged = {copy.path for copy in copies if days and copy.note.made_at < old}
    stays = {copies[0].path} if copies else set()
    stays |= {proven.path} if proven else set()
    return [copy for copy in copies if copy.path in (beyond | aged) - stays]


def drop(copy: Copy) -> None:
    # The note first: a file without one is no copy any more.
    note_of(copy.path).unlink(missing_ok=True)
    copy.path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove what an interrupted backup left behind."""
    for path in [*folder.glob("senselab-*.part"), *folder.glob("senselab-*.dump")]:
        if path.suffix == ".part" or not note_of(path).exists():
            path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Make sure that a file and its name are on the disk."""
    for target in (path, path.parent):
        fd = os.open(target, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

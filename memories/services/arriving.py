"""Reads a history that is on its way in: lines in batches, each held to what an export writes."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from memories.rules.policy import DEFAULT, Policy
from memories.transfer.tables import FORMAT, SCHEMA, all_types
from senselab.errors import Refusal

# A batch is this many lines, or fewer when they are long.
ROWS, BYTES = 1_000, 4_000_000
LONGEST = 256 * 1024 * 1024


class BadFile(Refusal):
    """The file is not what an export wrote."""

    title = "Not an export"


class Line(msgspec.Struct):
    """As much of a line as is needed to know where it belongs."""

    line: str


class Header(msgspec.Struct):
    format: str
    schema: int
    columns: dict[str, list[str]]


class End(msgspec.Struct):
    lines: int
    sha256: str


@dataclass(slots=True)
class Arrival:
    """A file on its way in: which columns it knows, how many lines of each kind came."""

    known: dict[str, list[str]] = field(default_factory=dict)
    came: dict[str, int] = field(default_factory=dict)
    count: int = 0
    ended: bool = False
    account_line: str = ""
    # The account's own rule about keys and tokens; that which arrives stands in its line.
    own: Policy = DEFAULT


def batches(arrival: Arrival, lines: Iterable[bytes]) -> Iterator[tuple[str, list[bytes], str]]:
    """Yield lines of one kind at a time, as the file has them, with the digest of the file up to there.

    The same file gives the same batches; what its last line says is checked when it comes.

    :raises BadFile: the file is not what an export wrote.
    """
    sha256, kind, size = hashlib.sha256(), "", 0
    batch: list[bytes] = []
    for line in lines:
        now = kind_of(line, arrival)
        if now == "end":
            check_end(line, arrival, sha256.hexdigest())
            continue
        sha256.update(line)
        arrival.count += 1
        if arrival.count == 1:
            arrival.known = columns_of(line)
            continue
        if batch and (now != kind or len(batch) >= ROWS or size >= BYTES):
            yield kind, batch, sha256.hexdigest()
            batch, size = [], 0
        kind, size = now, size + len(line)
        batch.append(line)
    if batch:
        yield kind, batch, sha256.hexdigest()
    if not arrival.ended:
        raise BadFile("The file ends before its last line: it was cut short. Nothing was taken in.")


def kind_of(line: bytes, arrival: Arrival) -> str:
    """:raises BadFile: the line is none of ours, or too long to be one."""
    number = arrival.count + 1
    if len(line) > LONGEST:
        raise BadFile(f"Line {number:,} is longer than {LONGEST:,} bytes. Nothing was taken in.")
    try:
        kind = msgspec.json.decode(line, type=Line).line
    except msgspec.DecodeError as error:
        raise BadFile(f"Line {number:,} is no line of an export ({error}). Nothing was taken in.") from error
    if arrival.ended or (number == 1) != (kind == "header") or (number > 1 and kind not in {*arrival.known, "end"}):
        raise BadFile(f"Line {number:,} ({kind[:40]!r}) does not belong there. Nothing was taken in.")
    return kind


def columns_of(line: bytes) -> dict[str, list[str]]:
    """Return which columns the lines of each kind hold.

    :raises BadFile: the format is another one, or a later one.
    """
    try:
        header = msgspec.json.decode(line, type=Header)
    except msgspec.DecodeError as error:
        raise BadFile(f"The first line is not an export's ({error}). Nothing was taken in.") from error
    ours = all_types()
    strange = {name for kind, names in header.columns.items() for name in set(names) - set(ours.get(kind, ()))}
    if header.format != FORMAT or header.schema > SCHEMA or strange or set(header.columns) - set(ours):
        raise BadFile("The file was written by a later release; upgrade this one first. Nothing was taken in.")
    return header.columns


def check_end(line: bytes, arrival: Arrival, sha256: str) -> None:
    try:
        end = msgspec.json.decode(line, type=End)
    except msgspec.DecodeError as error:
        raise BadFile(f"The last line is not an export's ({error}). Nothing was taken in.") from error
    if end.lines != arrival.count or end.sha256 != sha256:
        raise BadFile("The file was changed after it was written: its checksum differs. Nothing was taken in.")
    arrival.ended = True

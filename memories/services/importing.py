"""Takes in a history that left another account: all of it, in one transaction, or nothing."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from django.db import DataError, IntegrityError, connection, transaction

from memories.rules import wordings
from memories.rules.kinds import SecretsRule
from memories.rules.policy import Policy
from memories.rules.refusals import Refused
from memories.services import arriving_sql, guarding
from memories.transfer.tables import ACCOUNT, BY_KIND, FIGURES, FORMAT, SCHEMA, TABLES, Table, all_types
from memories.viewers import account_policy
from senselab.accounts.models import Account
from senselab.errors import Conflict, Refusal

# A batch is this many lines, or fewer when they are long.
ROWS, BYTES = 1_000, 4_000_000
LONGEST = 256 * 1024 * 1024
Tell = Callable[[int], None]


class NotEmpty(Conflict):
    """History is taken in only where there is none."""


class BadFile(Refusal):
    """The file is not what an export wrote."""

    title = "Not an export"


class Line(msgspec.Struct):
    """As much of a line as is needed to know where it belongs."""

    line: str


class Claim(msgspec.Struct):
    """As much of a claim's line as may hold a key."""

    value: str
    artifact_refs: msgspec.Raw = msgspec.Raw(b"[]")


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

    account_id: int
    known: dict[str, list[str]] = field(default_factory=dict)
    came: dict[str, int] = field(default_factory=dict)
    count: int = 0
    ended: bool = False
    # The account's own rule about keys and tokens, and that which arrives.
    policies: list[Policy] = field(default_factory=list)


def take_in(account: Account, lines: Iterable[bytes], *, tell: Tell = lambda count: None) -> int:
    """Store an exported history in an empty account and return how many lines it had; `tell` hears how many so far.

    :raises NotEmpty: the account holds something, or somebody wrote while the history came in.
    :raises BadFile: it is no export, one of a later release, damaged or cut short.
    """
    arrival = Arrival(account.pk, policies=[account_policy(account)])
    try:
        with transaction.atomic():
            refuse_unless_empty(account.pk)
            with connection.cursor() as cursor:
                for statement in arriving_sql.prepare():
                    cursor.execute(statement)
                for kind, batch in batches(arrival, lines):
                    store(cursor, arrival, kind, batch)
                    tell(arrival.count)
                make_words(cursor, arrival, tell)
                refuse_if_somebody_wrote(cursor, arrival)
    except (DataError, IntegrityError) as error:
        said = f"Up to line {arrival.count:,} something cannot be stored: {str(error).splitlines()[0]}."
        raise BadFile(f"{said} Nothing was taken in.") from error
    return arrival.count


def refuse_unless_empty(account_id: int) -> None:
    """:raises NotEmpty: the account holds something."""
    with connection.cursor() as cursor:
        # Two imports into one account come one after the other.
        cursor.execute("SELECT 1 FROM accounts_account WHERE id = %s FOR NO KEY UPDATE", [account_id])
        for table in TABLES:
            cursor.execute(f"SELECT 1 FROM {table.db_table} WHERE account_id = %s LIMIT 1", [account_id])
            if cursor.fetchone():
                raise NotEmpty(f"This account holds a {table.kind} already; history goes into an empty one only.")


def batches(arrival: Arrival, lines: Iterable[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """Yield lines of one kind at a time, as the file has them; what the last line says is checked when it comes.

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
            yield kind, batch
            batch, size = [], 0
        kind, size = now, size + len(line)
        batch.append(line)
    if batch:
        yield kind, batch
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


def store(cursor: Any, arrival: Arrival, kind: str, batch: list[bytes]) -> None:
    try:
        text = b",".join(batch).decode()
    except UnicodeDecodeError as error:
        said = f"Up to line {arrival.count:,} something is no UTF-8 ({error.reason})."
        raise BadFile(f"{said} Nothing was taken in.") from error
    values: dict[str, Any] = {"account": arrival.account_id, "lines": f"[{text}]"}
    arrival.came[kind] = arrival.came.get(kind, 0) + len(batch)
    present = arrival.known[kind]
    if kind == "claim":
        refuse_secrets(arrival, batch)
    if kind == ACCOUNT:
        cursor.execute(arriving_sql.update_account(present), values)
        arrival.policies.append(account_policy(Account.objects.get(pk=arrival.account_id)))
    elif kind == FIGURES:
        cursor.execute(arriving_sql.FIGURES_SQL, values)
    else:
        insert(cursor, BY_KIND[kind], present, values)


def refuse_secrets(arrival: Arrival, batch: list[bytes]) -> None:
    """Hold claims to the account's rule about keys and tokens; none can be taken out here, as seals stand on values.

    :raises BadFile: a claim holds one where such are refused or redacted.
    """
    strict = [policy for policy in arrival.policies if guarding.acts_before(policy)]
    if not strict:
        return
    refusing = replace(strict[0], secrets=str(SecretsRule.REFUSE))
    for line in batch:
        said = msgspec.json.decode(line, type=Claim)
        try:
            for text in (said.value, bytes(said.artifact_refs).decode()):
                guarding.kept_text(text, refusing, pointer="")
        except Refused as refusal:
            raise BadFile(f"Up to line {arrival.count:,} there is a claim: {refusal.detail}") from refusal


def insert(cursor: Any, table: Table, present: list[str], values: dict[str, Any]) -> None:
    for note in arriving_sql.notes(table):
        cursor.execute(note, {"lines": values["lines"]})
    missing = {name: column.get_default() for name, column in table.columns.items() if name not in present}
    prepared = {name: table.columns[name].get_db_prep_save(value, connection) for name, value in missing.items()}
    cursor.execute(arriving_sql.insert(table, present), values | prepared)


def make_words(cursor: Any, arrival: Arrival, tell: Tell) -> None:
    """Make what every entry is found by."""
    after = 0
    while True:
        cursor.execute(arriving_sql.HEADS, {"account": arrival.account_id, "after": after, "batch": ROWS})
        rows = cursor.fetchall()
        if not rows:
            return
        after = rows[-1][1]
        cursor.execute(arriving_sql.VALUES, {"account": arrival.account_id, "claims": [row[0] for row in rows]})
        values = dict(cursor.fetchall())
        kept = [wordings.kept(path, key, values[claim]) for claim, _, path, key in rows]
        columns = {
            "ids": [row[1] for row in rows],
            "words": [words.words for words in kept],
            "stems": [words.stems for words in kept],
            "names": [words.name for words in kept],
        }
        cursor.execute(arriving_sql.WORDS, {"account": arrival.account_id, **columns})
        tell(arrival.count)


def refuse_if_somebody_wrote(cursor: Any, arrival: Arrival) -> None:
    """:raises NotEmpty: somebody wrote to the account meanwhile."""
    for table in TABLES:
        cursor.execute(f"SELECT count(*) FROM {table.db_table} WHERE account_id = %s", [arrival.account_id])
        if cursor.fetchone()[0] != arrival.came.get(table.kind, 0):
            raise NotEmpty("Somebody wrote to this account while its history came in. Nothing was taken in.")

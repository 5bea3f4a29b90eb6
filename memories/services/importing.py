"""Takes in a history that left another account: all of it or nothing, and on from where it was interrupted."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import msgspec
from django.db import DataError, IntegrityError, connection, transaction

from memories.rules import wordings
from memories.rules.kinds import SecretsRule
from memories.rules.policy import Policy, PolicyError
from memories.rules.refusals import Refused
from memories.services import arriving_sql, guarding
from memories.services.arriving import ROWS, Arrival, BadFile, batches
from memories.services.staging import Stage
from memories.transfer.tables import ACCOUNT, BY_KIND, FIGURES, TABLES, Table
from memories.viewers import account_policy
from senselab.accounts.models import Account
from senselab.errors import Conflict, Refusal

Tell = Callable[[int], None]


class NotEmpty(Conflict):
    """History is taken in only where there is none."""


class Claim(msgspec.Struct):
    """As much of a claim's line as may hold a key."""

    value: str
    artifact_refs: msgspec.Raw = msgspec.Raw(b"[]")


def take_in(account: Account, lines: Iterable[bytes], *, tell: Tell = lambda count: None, source: str = "") -> int:
    """Store an exported history in an empty account and return how many lines it had; `tell` hears how many so far.

    With a `source`, an import of the same that was interrupted goes on where it was.

    :raises NotEmpty: the account holds something, or somebody wrote while the history came in.
    :raises BadFile: it is no export, one of a later release, damaged or cut short.
    :raises UnderWay: another process takes a history into the account.
    """
    refuse_unless_empty(account.pk)
    own = account_policy(account)
    return take_in_as(account.slug, lambda: account, lines, own=own, tell=tell, source=source)


def take_in_as(
    slug: str, account_of: Callable[[], Account], lines: Iterable[bytes], *, own: Policy, tell: Tell, source: str
) -> int:
    """Do the same for an account that `account_of` finds or makes once all has come; `own` is its policy."""
    stage, arrival = Stage(slug, source), Arrival(own=own)
    with stage.alone():
        stage.open()
        try:
            gather(stage, arrival, lines, tell)
            with transaction.atomic(), connection.cursor() as cursor:
                move(cursor, stage, arrival, account_of())
        except (DataError, IntegrityError) as error:
            forget(stage)
            said = f"Up to line {arrival.count:,} something cannot be stored: {str(error).splitlines()[0]}."
            raise BadFile(f"{said} Nothing was taken in.") from error
        except Refusal:
            forget(stage)
            raise
        if arrival.count >= MANY:
            analyse()
    return arrival.count


def analyse() -> None:
    """Let the planner know at once of what came: planned for empty tables, a check of it would take hours."""
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(table.db_table for table in TABLES)}")


def gather(stage: Stage, arrival: Arrival, lines: Iterable[bytes], tell: Tell) -> None:
    """Stage all batches but those that are there from before, and what entries are found by.

    :raises BadFile: the file is not what an export wrote, or another one than before.
    """
    kept = stage.kept
    arrival.came, arrival.account_line = msgspec.json.decode(kept.came, type=dict[str, int]), kept.account_line
    for number, (kind, batch, sha256) in enumerate(batches(arrival, lines), 1):
        if number == kept.batches and sha256 != kept.sha256:
            raise BadFile("The file is another one than that whose import was interrupted. Begin anew with it.")
        if number > kept.batches:
            with stage.batch() as cursor:
                store(cursor, arrival, kind, batch)
                kept.batches, kept.sha256 = number, sha256
                kept.came, kept.account_line = msgspec.json.encode(arrival.came).decode(), arrival.account_line
        tell(arrival.count)
    while words_of_some(stage):
        tell(arrival.count)


def move(cursor: Any, stage: Stage, arrival: Arrival, account: Account) -> None:
    """Move what has come into the account, in the transaction that is open.

    :raises NotEmpty: somebody wrote to the account meanwhile.
    """
    try:
        refuse_unless_empty(account.pk)
    except NotEmpty as error:
        raise NotEmpty(MEANWHILE) from error
    if arrival.account_line:
        update = arriving_sql.update_account(arrival.known[ACCOUNT])
        cursor.execute(update, {"account": account.pk, "lines": arrival.account_line})
    stage.unload(cursor, account.pk)
    refuse_if_somebody_wrote(cursor, account.pk, arrival)


def forget(stage: Stage) -> None:
    """Leave nothing of a history that cannot be taken in."""
    with transaction.atomic(), connection.cursor() as cursor:
        stage.drop(cursor)


# From so many lines on the planner has to know of them before its own rounds tell it.
MANY = 10_000
MEANWHILE = "Somebody wrote to this account while its history came in. Nothing was taken in."


def refuse_unless_empty(account_id: int) -> None:
    """:raises NotEmpty: the account holds something."""
    with connection.cursor() as cursor:
        # Two imports into one account come one after the other.
        cursor.execute("SELECT 1 FROM accounts_account WHERE id = %s FOR NO KEY UPDATE", [account_id])
        for table in TABLES:
            cursor.execute(f"SELECT 1 FROM {table.db_table} WHERE account_id = %s LIMIT 1", [account_id])
            if cursor.fetchone():
                raise NotEmpty(f"This account holds a {table.kind} already; history goes into an empty one only.")


def store(cursor: Any, arrival: Arrival, kind: str, batch: list[bytes]) -> None:
    try:
        text = b",".join(batch).decode()
    except UnicodeDecodeError as error:
        said = f"Up to line {arrival.count:,} something is no UTF-8 ({error.reason})."
        raise BadFile(f"{said} Nothing was taken in.") from error
    values: dict[str, Any] = {"lines": f"[{text}]"}
    arrival.came[kind] = arrival.came.get(kind, 0) + len(batch)
    present = arrival.known[kind]
    if kind == "claim":
        refuse_secrets(arrival, batch)
    if kind == ACCOUNT:
        arrival.account_line = values["lines"]
        arriving_policy(arrival)
    elif kind == FIGURES:
        cursor.execute(arriving_sql.FIGURES_SQL, values)
    else:
        insert(cursor, BY_KIND[kind], present, values)


def arriving_policy(arrival: Arrival) -> Policy:
    """Return the policy that comes along; that of the account where none does.

    :raises BadFile: it makes no sense.
    """
    if not arrival.account_line:
        return arrival.own
    try:
        told = msgspec.json.decode(arrival.account_line)[0]
        return Policy.from_values({**told.get("policy_values", {}), "version": told.get("policy_version", 1)})
    except (msgspec.DecodeError, PolicyError, TypeError) as error:
        raise BadFile(f"The account's policy makes no sense ({error}). Nothing was taken in.") from error


def refuse_secrets(arrival: Arrival, batch: list[bytes]) -> None:
    """Hold claims to the account's rule about keys and tokens; none can be taken out here, as seals stand on values.

    :raises BadFile: a claim holds one where such are refused or redacted.
    """
    strict = [policy for policy in (arrival.own, arriving_policy(arrival)) if guarding.acts_before(policy)]
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


def words_of_some(stage: Stage) -> bool:
    """Make what some more entries are found by; False when all have it."""
    with stage.batch() as cursor:
        cursor.execute(arriving_sql.WORDED)
        cursor.execute(arriving_sql.HEADS, {"after": cursor.fetchone()[0], "batch": ROWS})
        rows = cursor.fetchall()
        cursor.execute(arriving_sql.VALUES, {"claims": [row[0] for row in rows]})
        values = dict(cursor.fetchall())
        kept = [wordings.kept(path, key, values[claim]) for claim, _, path, key in rows if claim in values]
        columns = {
            "ids": [row[1] for row in rows],
            "words": [words.words for words in kept],
            "stems": [words.stems for words in kept],
            "names": [words.name for words in kept],
        }
        if len(kept) == len(rows) > 0:
            cursor.execute(arriving_sql.WORDS, columns)
    return len(kept) == len(rows) > 0


def refuse_if_somebody_wrote(cursor: Any, account_id: int, arrival: Arrival) -> None:
    """:raises NotEmpty: somebody wrote to the account meanwhile."""
    for table in TABLES:
        cursor.execute(f"SELECT count(*) FROM {table.db_table} WHERE account_id = %s", [account_id])
        if cursor.fetchone()[0] != arrival.came.get(table.kind, 0):
            raise NotEmpty(MEANWHILE)

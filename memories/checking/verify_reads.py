"""Reads an account's ledger in batches, whole entries at a time, and hands it to memories.checking.verify."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from django.db import connection, transaction

from memories.ageing import policy_reads
from memories.checking import halves, verify, verify_sums
from memories.checking.verify import Entry, Finding, History, Said, Version
from memories.entry.why import Effect
from memories.heads import STATE, ClaimHead
from memories.rules.state import State
from memories.viewers import account_policy
from senselab.accounts.models import Account

# A batch holds as many entries as have about so many versions; values are read so many at a time.
VERSIONS, ENTRIES, VALUES = 2_000, 1_000, 50

LAST = 2**63 - 1

SIZES = """
    SELECT e.id, e.version FROM memories_entry e
     WHERE e.account_id = %s AND e.id > %s AND e.id <= %s ORDER BY e.id LIMIT %s
"""
HEADS = f"""
    SELECT e.id, e.branch, e.entity_path, e.key, e.owner, e.version, e.claim_id, e.agent_id, e.written_at, e.salt,
           e.seal, e.integrity_chain, e.renamed_at, {", ".join(f"e.{name}" for name in STATE)}
      FROM memories_entry e WHERE e.account_id = %s AND e.id = ANY(%s) ORDER BY e.id
"""
LEDGER = f"""
    SELECT v.entry_id, v.number, v.change, v.at, v.before, v.weight, v.policy, v.integrity_chain, v.names_digest,
           v.content_digest, v.seal, s.actor_kind, s.actor, s.reason, c.erased_at, s.erased_at IS NOT NULL AND EXISTS (
               SELECT 1 FROM memories_changeset t
                WHERE t.account_id = s.account_id AND t.kind = 'erasure' AND t.at = s.erased_at AND t.id > s.id),
           {", ".join(f"v.{name}" for name in STATE)},
           c.id, c.agent_id, c.session_id, c.written_at, c.digest, c.salt, c.content_hash, c.content
      FROM memories_entryversion v
      JOIN memories_changeset s ON s.account_id = v.account_id AND s.id = v.change_set_id
      JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
     WHERE v.account_id = %s AND v.entry_id = ANY(%s) ORDER BY v.entry_id, v.number
"""
CLAIM = len(fields(ClaimHead))
EFFECT = tuple(field.name for field in fields(Effect))
EFFECTS = f"""
    SELECT f.entry_id, f.policy, {", ".join(f"f.{name}" for name in EFFECT)}
      FROM memories_effect f WHERE f.account_id = %s AND f.entry_id = ANY(%s) ORDER BY f.entry_id, f.at, f.id
"""
CLAIMS = """
    SELECT c.id, c.value, c.pattern_refs, c.artifact_refs::text, c.digest, c.salt, c.content_hash, c.content,
           c.erased_at IS NOT NULL
      FROM memories_claim c WHERE c.account_id = %s AND c.id = ANY(%s) ORDER BY c.id
"""


@dataclass(slots=True)
class Tally:
    """How much was looked at; `unknown` counts versions whose policy is kept nowhere, so that no sum can be redone."""

    entries: int = 0
    versions: int = 0
    unknown: int = 0


@contextmanager
def one_view() -> Iterator[None]:
    """Read everything as of one moment, so that what is written meanwhile cannot look like a contradiction."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        # Within somebody's transaction their view is the one there is.
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def versions(account_id: int) -> int:
    """Return how many versions there are to look at."""
    return int(rows("SELECT count(*) FROM memories_entryversion WHERE account_id = %s", account_id)[0][0])


def account_findings(
    account: Account, tally: Tally, tell: Callable[[], None] = lambda: None
) -> Iterator[tuple[str, Finding]]:
    """Yield (where, what does not fit) for one account, counting in `tally`; a batch is in memory at a time.

    `tell` is called after each batch. A large account is looked at by two processes.
    """
    middle = halves.middle(account.pk, versions(account.pk))
    if middle is None:
        yield from entry_findings(account, tally, tell)
    else:
        yield from both_halves(account, tally, tell, middle)
    yield from verify_sums.findings(account.pk)


def both_halves(account: Account, tally: Tally, tell: Callable[[], None], middle: int) -> Iterator[tuple[str, Finding]]:
    before, mine = replace(tally), Tally()

    def told() -> None:
        both = zip(astuple(before), astuple(mine), second.looked, strict=True)
        tally.entries, tally.versions, tally.unknown = (sum(three) for three in both)
        tell()

    with halves.SecondHalf(account.pk, middle) as second:
        yield from entry_findings(account, mine, told, up_to=middle)
        if second.ended(told):
            yield from second.findings()
            return
    tally.entries, tally.versions, tally.unknown = (
        sum(two) for two in zip(astuple(before), astuple(mine), strict=True)
    )
    yield from entry_findings(account, tally, tell, after=middle)


def entry_findings(
    account: Account, tally: Tally, tell: Callable[[], None], *, after: int = 0, up_to: int = LAST
) -> Iterator[tuple[str, Finding]]:
    """Yield what does not fit in the entries after one id and up to another."""
    policies = policy_reads.known(account.pk, account_policy(account))
    for ids in entry_batches(account.pk, after, up_to):
        histories = read_histories(account.pk, ids)
        first_said: dict[int, tuple[str, int]] = {}
        for history in histories:
            tally.entries += 1
            tally.versions += len(history.versions)
            tally.unknown += sum(version.policy not in policies for version in history.versions)
            for version in history.versions:
                first_said.setdefault(version.claim.id, (history.entry.words, version.number))
            for finding in verify.findings(history, policies):
                yield history.entry.words, finding
        for claim_id, words in claim_findings(account.pk, list(first_said)):
            entry, number = first_said[claim_id]
            yield entry, Finding(number, words)
        tell()


def entry_batches(account_id: int, last: int = 0, up_to: int = LAST) -> Iterator[list[int]]:
    """Yield ids of entries, ascending, whose versions make about one batch."""
    while sizes := rows(SIZES, account_id, last, up_to, ENTRIES):
        batch, versions = [], 0
        for entry_id, version in sizes:
            batch.append(entry_id)
            versions += version
            if versions >= VERSIONS:
                break
        last = batch[-1]
        yield batch


def read_histories(account_id: int, ids: Sequence[int]) -> list[History]:
    wanted = list(ids)
    versions: dict[int, list[Version]] = defaultdict(list)
    for entry_id, *row in rows(LEDGER, account_id, wanted):
        versions[entry_id].append(_version(row))
    effects: dict[int, list[tuple[Effect, str]]] = defaultdict(list)
    for entry_id, policy, *row in rows(EFFECTS, account_id, wanted):
        effects[entry_id].append((Effect(*row), policy))
    entries = [_entry(row) for row in rows(HEADS, account_id, wanted)]
    return [History(entry, versions[entry.id], effects[entry.id]) for entry in entries]


def _entry(row: Sequence[Any]) -> Entry:
    values = _plain(row)
    plain = len(row) - len(STATE)
    return Entry(*[*values[:plain], State(*values[plain:])])


def _version(row: Sequence[Any]) -> Version:
    values = _plain(row)
    claim = len(row) - CLAIM
    state = claim - len(STATE)
    return Version(*[*values[:state], State(*values[state:claim]), ClaimHead(*values[claim:])])


# What the database gives as views and lists is compared as bytes and tuples.
PLAIN: dict[type, Any] = {memoryview: bytes, list: tuple}


def _plain(row: Sequence[Any]) -> list[Any]:
    return [value if type(value) not in PLAIN else PLAIN[type(value)](value) for value in row]


def claim_findings(account_id: int, ids: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield (claim id, what does not fit) for claims, reading few values at a time."""
    for start in range(0, len(ids), VALUES):
        for claim_id, *row in rows(CLAIMS, account_id, ids[start : start + VALUES]):
            for words in verify.claim_findings(Said(*_plain(row))):
                yield claim_id, words


def rows(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()

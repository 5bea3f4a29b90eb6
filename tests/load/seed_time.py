"""A store of so many entries for the benchmark of time, made by SQL in a database that is dropped afterwards."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from psycopg import sql

from memories.ageing import silence_sql
from memories.checking import verify_sums
from memories.rules.policy import DEFAULT
from senselab.accounts import services as accounts
from senselab.accounts.models import Account

# What a database with a whole store is noted with.
WHOLE = "seeded"
NOTE = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database()"

ENTRIES = """
    INSERT INTO memories_entry (account_id, id, branch, entity_path, key, owner, version, claim_id, agent_id,
        written_at, created_at, changed_at, accessed_at, settled_confidence, due_at, tier, salt, seal, integrity_chain,
        memory_type, status, evidence_status, confidence, triple_success, triple_failure, outcome_count, success_count,
        failure_count, evidence_success, evidence_failure, validators, positive_reinforcement, negative_reinforcement,
        freshness, shared, pinned)
    SELECT %(account)s, n, 'main', 'team-' || n %% 40 || '/service-' || n %% 1000, 'k' || n, '', 1, n,
           'agent/' || n %% 20, s.at, s.at, s.at, s.at, 0, NULL, 3, decode(md5(n::text), 'hex'),
           sha256(n::text::bytea), encode(sha256(n::text::bytea), 'hex'),
           (ARRAY['fact', 'belief', 'experience', 'procedure'])[1 + n %% 4], 'active', 'untested',
           0.7 + 0.3 * ((n * 7919) %% 1000) / 1000.0, 0, 0, 0, 0, 0, 0, 0, '{}', 0, 0, 1, true, false
      FROM generate_series(1, %(entries)s::bigint) AS n,
           LATERAL (SELECT %(now)s::timestamptz - ((n * 104729) %% 1728000) * interval '1 second' AS at) s
"""
CHANGES = """
    INSERT INTO memories_changeset (account_id, id, kind, actor_kind, actor, session_id, reason, cause, request_id, at,
                                    size)
    VALUES (%(account)s, 1, 'write', 'agent', 'agent/0', '', '', '', '', %(now)s, %(entries)s)
"""
CLAIMS = """
    INSERT INTO memories_claim (account_id, id, entry_id, value, is_artifact, agent_id, session_id, written_at,
        pattern_refs, artifact_refs, digest, salt, content_hash, content)
    SELECT e.account_id, e.claim_id, e.id, '{"text": "' || repeat('retry with jitter ', 8) || e.id || '"}', false,
           e.agent_id, '', e.written_at, '{}', '[]', sha256(e.id::text::bytea), e.salt, e.integrity_chain, e.seal
      FROM memories_entry e WHERE e.account_id = %(account)s
"""
VERSIONS = """
    INSERT INTO memories_entryversion (account_id, entry_id, number, claim_id, change_set_id, change, at, policy,
        integrity_chain, names_digest, content_digest, seal, memory_type, status, evidence_status, confidence,
        triple_success, triple_failure, outcome_count, success_count, failure_count, evidence_success,
        evidence_failure, validators, positive_reinforcement, negative_reinforcement, freshness, shared, pinned)
    SELECT e.account_id, e.id, 1, e.claim_id, 1, 'created', e.written_at, 'evidence-v1@1', e.integrity_chain, e.seal,
           e.seal, e.seal, e.memory_type, e.status, e.evidence_status, e.confidence, 0, 0, 0, 0, 0, 0, 0, '{}', 0, 0,
           1, true, false
      FROM memories_entry e WHERE e.account_id = %(account)s
"""
WORDS = """
    INSERT INTO memories_entrytext (account_id, entry_id, words, name)
    SELECT e.account_id, e.id, to_tsvector('simple', translate(e.entity_path, '/-', '  ') || ' retry jitter ' || e.key),
           e.entity_path || '/' || e.key
      FROM memories_entry e WHERE e.account_id = %(account)s
"""
RECALLS = """
    INSERT INTO memories_recall (account_id, entry_id, recall_count, freshness, accessed_at)
    SELECT e.account_id, e.id, 1 + e.id %% 9, 1, e.accessed_at + interval '1 hour'
      FROM memories_entry e WHERE e.account_id = %(account)s AND e.id %% 10 = 0
"""
COUNTERS = f"""
    INSERT INTO memories_counter (account_id, {verify_sums.PLACE}, {", ".join(verify_sums.NAMES)}, recalls,
                                  tokens_saved)
    SELECT %(account)s, {verify_sums.PLACE}, {verify_sums.COUNTED}, {verify_sums.NANOS}, 0, 0
      FROM memories_entry e WHERE e.account_id = %(account)s GROUP BY {verify_sums.PLACE}
"""
SETTLED = f"""
    UPDATE memories_entry e SET settled_confidence = {silence_sql.effective_of_head(DEFAULT)},
                                due_at = {silence_sql.due_of_head(DEFAULT)}
      FROM memories_entry o LEFT JOIN memories_recall r ON r.account_id = o.account_id AND r.entry_id = o.id
     WHERE e.account_id = %(account)s AND o.account_id = e.account_id AND o.id = e.id
"""


class Store:
    """The seeded account; its entries can be made older, or due."""

    def __init__(self, account_id: int, entries: int) -> None:
        self.account_id, self.entries, self.turn = account_id, entries, 0

    def execute(self, statement: str, **more: Any) -> int:
        """Run a statement as it stands: no trigger fires and no key is checked."""
        started = time.monotonic()
        values = {"account": self.account_id, "entries": self.entries, "now": timezone.now(), **more}
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            cursor.execute(statement, values)
            changed = cursor.rowcount
            cursor.execute("SET session_replication_role = origin")
        print(
            f"  {statement.split(maxsplit=1)[0]} {statement.split()[2]}: {time.monotonic() - started:.1f} s",
            file=sys.stderr,
        )
        return changed

    def make_due(self, one_in: int) -> int:
        """Let silence have worn one entry in so many below the review line, each time others."""
        self.turn += 1
        return self.execute(
            """UPDATE memories_entry SET confidence = 0.31, accessed_at = %(now)s - interval '20 days', freshness = 1,
                      memory_type = 'belief', due_at = %(now)s - interval '1 day'
                WHERE account_id = %(account)s AND id %% %(one_in)s = %(turn)s AND status = 'active'
                  AND id <= %(entries)s AND id %% 10 <> 0""",
            one_in=one_in,
            turn=self.turn,
        )

    def age(self, days: int) -> int:
        """Let every entry have been silent for so many days longer, and no job have run meanwhile."""
        self.execute(
            """UPDATE memories_jobrun SET started_at = started_at - %(days)s * interval '1 day'
                WHERE account_id = %(account)s""",
            days=days,
        )
        return self.execute(
            """UPDATE memories_entry SET accessed_at = accessed_at - %(days)s * interval '1 day'
                WHERE account_id = %(account)s""",
            days=days,
        )


@contextmanager
def store(
    name: str,
    entries: int,
    *,
    says: Mapping[str, str] | None = None,
    before: Callable[[], Account] | None = None,
    more: Callable[[Store], None] | None = None,
    keep: bool = False,
) -> Iterator[Store]:
    """Make a database with a store of so many entries; it is dropped in the end.

    `says` replaces the statements that make entries, changes, claims, versions and words, `before` makes the account,
    `more` seeds what else there is. With `keep` the database stays, and a later run with `keep` takes it as it is.
    """
    address = str(settings.DATABASE_URL)
    database = sql.Identifier(name)
    with psycopg.connect(address, autocommit=True) as server:
        found = server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
        if found and not keep:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))
        if not found or not keep:
            server.execute(sql.SQL("CREATE DATABASE {}").format(database))
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield _seeded_once(entries, says or {}, before or (lambda: accounts.create_account("bench")), more)
    finally:
        connection.close()
        if not keep:
            with psycopg.connect(address, autocommit=True) as server:
                server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(database))


def _seeded_once(
    entries: int, says: Mapping[str, str], before: Callable[[], Account], more: Callable[[Store], None] | None
) -> Store:
    """Return the store of this database, made unless it is there whole: a note on the database says so."""
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(NOTE)
        if cursor.fetchone()[0] == WHOLE:
            return Store(Account.objects.earliest("id").pk, entries)
        print(f"Seeding {entries:,} entries.", file=sys.stderr)
        made = seeded(Store(before().pk, entries), says)
        if more:
            more(made)
        name = connection.ops.quote_name(str(connection.settings_dict["NAME"]))
        cursor.execute(f"COMMENT ON DATABASE {name} IS '{WHOLE}'")
    return made


def seeded(made: Store, says: Mapping[str, str]) -> Store:
    usual = {"entries": ENTRIES, "changes": CHANGES, "claims": CLAIMS, "versions": VERSIONS, "words": WORDS}
    told = {**usual, **says}
    for statement in (told["entries"], told["changes"], told["claims"], RECALLS, SETTLED, told["versions"]):
        made.execute(statement)
    for statement in (told["words"], COUNTERS):
        made.execute(statement)
    with connection.cursor() as cursor:
        for table in ("entry", "claim", "changeset"):
            cursor.execute(f"SELECT setval('memories_{table}_id_seq', %s)", [made.entries + 1])
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")
    return made

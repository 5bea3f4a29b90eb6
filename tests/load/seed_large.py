"""The data set of `make bench` by SQL, as writing a million entries through the API takes an hour.

Names, values and words are those of tests.load.dataset; texts repeat after TEXTS entries, which no rate depends on.
There is a change set for each write, a past task for one entry in five, one entry in a hundred that waits for review
and one with VERSIONS versions.
"""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial

from django.db import connection
from django.utils import timezone

from memories.rules.kinds import OutcomeType
from outcomes.rules import Attempt
from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.db import acts
from tests.load import dataset, seed_search, seed_time
from tests.load.seed_time import Store

TEXTS, VERSIONS = 20_000, 500
DEEP = {"path": "deep", "key": "history"}
ENTRIES = """
    INSERT INTO memories_entry (account_id, id, branch, entity_path, key, owner, version, claim_id, agent_id,
        written_at, created_at, changed_at, accessed_at, settled_confidence, due_at, tier, salt, seal, integrity_chain,
        memory_type, status, evidence_status, confidence, triple_success, triple_failure, outcome_count, success_count,
        failure_count, evidence_success, evidence_failure, validators, positive_reinforcement, negative_reinforcement,
        freshness, shared, pinned, ttl_at)
    SELECT %(account)s, i + 1, 'main', 'org' || i %% 7 || '/service-' || (i / 20) %% greatest(1, %(entries)s / 20),
           'note-' || i, '', 1, i + 1, 'agent-' || i %% 25, s.at, s.at, s.at, s.at, 0, NULL, 3,
           decode(md5(i::text), 'hex'), sha256(i::text::bytea), encode(sha256(i::text::bytea), 'hex'),
           (ARRAY['fact', 'fact', 'belief', 'experience'])[1 + i %% 4],
           CASE i %% 200 WHEN 7 THEN 'under_review' ELSE 'active' END,
           CASE i %% 200 WHEN 9 THEN 'contested' ELSE 'untested' END,
           CASE i %% 200 WHEN 7 THEN 0.25 ELSE 0.5 + (i %% 50) / 100.0 END, s.tried / 2, s.tried / 2,
           s.tried, s.tried / 2, s.tried / 2, s.tried / 2, s.tried / 2, '{}', 0, 0, 1, true, false,
           CASE i %% 1000 WHEN 11 THEN %(now)s::timestamptz + i %% 30 * interval '1 day' END
      FROM generate_series(0, %(entries)s::bigint - 1) AS i,
           LATERAL (SELECT %(now)s::timestamptz - ((i * 104729) %% 1728000) * interval '1 second' AS at,
                           CASE i %% 200 WHEN 9 THEN 4 ELSE 0 END AS tried) s
"""
CHANGES = """
    INSERT INTO memories_changeset (account_id, id, kind, actor_kind, actor, session_id, reason, cause, request_id, at,
                                    size)
    SELECT e.account_id, e.id, 'write', 'agent', e.agent_id, '', '', '', '', e.written_at, 1
      FROM memories_entry e WHERE e.account_id = %(account)s
"""
CLAIMS = f"""
    INSERT INTO memories_claim (account_id, id, entry_id, value, is_artifact, agent_id, session_id, written_at,
        pattern_refs, artifact_refs, digest, salt, content_hash, content)
    SELECT e.account_id, e.claim_id, e.id, t.value, false, e.agent_id, '', e.written_at, '{{}}', '[]',
           sha256(e.id::text::bytea), e.salt, e.integrity_chain, e.seal
      FROM memories_entry e JOIN bench_text t ON t.id = e.id %% {TEXTS} WHERE e.account_id = %(account)s
"""
# As memories.rules.wordings would have it.
WORDS = f"""
    INSERT INTO memories_entrytext (account_id, entry_id, words, name)
    SELECT e.account_id, e.id, t.words || setweight(to_tsvector('simple', translate(s.name, '/-', '  ')), 'A'), s.name
      FROM memories_entry e JOIN bench_text t ON t.id = e.id %% {TEXTS},
           LATERAL (SELECT e.entity_path || '/' || e.key AS name) s
     WHERE e.account_id = %(account)s
"""
TEXT = """
    INSERT INTO bench_text
    SELECT id, value, setweight(to_tsvector('simple', said), 'B') || setweight(to_tsvector('english', said), 'D')
      FROM unnest(%s::int[], %s::text[], %s::text[]) AS t(id, value, said)
"""
SAYS = {
    "entries": ENTRIES,
    "changes": CHANGES,
    "claims": CLAIMS,
    "versions": seed_time.VERSIONS.replace("e.claim_id, 1, 'created'", "e.claim_id, e.id, 'created'"),
    "words": WORDS,
}


def before() -> Account:
    """Make the account, the person and the texts that claims are given in turn."""
    if accounts.first_run() is None:
        raise RuntimeError("there is an account already; drop the database first")
    values = [dataset.value(i) for i in range(TEXTS)]
    said = [" ".join((value["text"], value["source"], *value["tags"])) for value in values]
    with connection.cursor() as cursor:
        cursor.execute("CREATE UNLOGGED TABLE bench_text (id int PRIMARY KEY, value text, words tsvector)")
        cursor.execute(TEXT, [list(range(TEXTS)), [json.dumps(value) for value in values], said])
    return accounts.find_account(accounts.DEFAULT_ACCOUNT)


def more(store: Store) -> None:
    """Seed past tasks and the entry with many versions."""
    seed_search.tasks(store)
    deep(store)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE bench_text")


def deep(store: Store) -> None:
    """Give one entry so many versions, most of them by outcomes."""
    now, made = timezone.now(), 0
    while made < VERSIONS:
        at = now - timedelta(days=300 - 290 * made / VERSIONS)
        acts.put(store.account_id, {"n": made}, **DEEP, confidence=0.6, now=at)
        kinds = [OutcomeType("success" if n % 3 else "failure") for n in range(90)]
        tried = tuple(Attempt(n, kind, ("/".join(DEEP.values()),)) for n, kind in enumerate(kinds, 1))
        acts.told(store.account_id, f"deep-{made}", "success", "/".join(DEEP.values()), attempts=tried, now=at)
        made = acts.entry(store.account_id, **DEEP).version


# A store of that data set by the name of its database; see seed_time.store.
store: Callable[..., AbstractContextManager[Store]] = partial(
    seed_time.store, says=SAYS, before=before, more=more, keep=True
)

"""How PostgreSQL runs the hot statements among ten thousand entries: down an index, never through a whole table."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.http import HttpResponse

from memories import recalls
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from memories.search import Search
from memories.vectors import reading, table
from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.db import acts
from tests.db.conftest import Caller

HOT = {f"memories_{name}" for name in ("entry", "claim", "entryversion", "entrytext")}
PATHS = 10


@pytest.fixture(scope="module")
def large(django_db_setup: None, django_db_blocker: Any) -> Iterator[Caller]:
    """A caller in an account of ten thousand entries; they are gone when this module is through."""
    with django_db_blocker.unblock(), transaction.atomic():
        account = accounts.create_account("large")
        for path in range(PATHS):
            ids = acts.fill(account, 1_000, path=f"shop/{path}")
            recalls.write(account.pk, DEFAULT, [Read(entry_id, 1, acts.BOB, "", acts.NOON, 200) for entry_id in ids])
        # Most change sets are one write; were all a thousand, a page of them would be every entry there is.
        for number in range(200):
            acts.put(account, number, path="shop/writes", key=f"w{number}")
        acts.fill(account, 20, path="shop/usual")
        with connection.cursor() as cursor:
            # As the database does by itself after a while: ten thousand words that wait to be sorted in look dear.
            cursor.execute("SELECT gin_clean_pending_list('entries_by_words')")
            cursor.execute("ANALYZE")
        yield Caller(accounts.create_key(account, name="a key", rate_per_minute=1_000_000), acts.ADA)
        transaction.set_rollback(True)


def scanned(node: dict[str, Any]) -> Iterator[str]:
    """Yield the tables that a plan reads from end to end."""
    if node["Node Type"] == "Seq Scan":
        yield node["Relation Name"]
    for below in node.get("Plans", []):
        yield from scanned(below)


@contextmanager
def noted() -> Iterator[list[tuple[str, Any]]]:
    """Note the statements that are run meanwhile, with what they bind."""
    run: list[tuple[str, Any]] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        run.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield run


def plans(run: list[tuple[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield statements, each with how PostgreSQL would run it."""
    bound = psycopg.ClientCursor(connection.connection)
    for sql, params in run:
        if sql.startswith(("SAVEPOINT", "RELEASE")):
            continue
        (plan,) = bound.execute(f"EXPLAIN (FORMAT JSON) {sql}", params).fetchone()
        yield sql, (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]


CALLS: dict[str, Callable[[Caller], HttpResponse]] = {
    "write": lambda bot: bot.write("shop/3", "k77", "another"),
    "write with scope": lambda bot: bot.write("shop/3", "k78", "another", include_scope=True),
    "read": lambda bot: bot.get("entries/shop/3/k77"),
    "newest": lambda bot: bot.post("search", {"sort_by": "recency", "limit": 50}),
    "list of a path": lambda bot: bot.get("entries", entity_path="shop/3", limit=50),
    "list of an agent": lambda bot: bot.get("entries", agent_id="agent/nobody", limit=50),
    "search of a rare word": lambda bot: bot.post("search", {"query": "k77", "limit": 50}),
    "search of an entity": lambda bot: bot.post("search", {"query": "k7 value", "entity_path": "shop/usual"}),
    "search by confidence": lambda bot: bot.post("search", {"min_confidence": 0.5, "limit": 50}),
    "history": lambda bot: bot.get("history", entity_path="shop/3", key="k77"),
    "why": lambda bot: bot.get("why", entity_path="shop/3", key="k77"),
    "outcome": lambda bot: bot.report("o-1", "success", *[f"shop/3/k{n}" for n in range(50)]),
    "change sets": lambda bot: bot.get("change-sets"),
}


MODEL, DIMENSIONS = "plans", 64
VECTORS = f"""
    INSERT INTO {table.TABLE} (account_id, model, entry_id, claim_id, vector)
    SELECT e.account_id, '{MODEL}', e.id, e.claim_id,
           (SELECT array_agg((hashint8(e.id * {DIMENSIONS} + d) % 100)::real) FROM generate_series(1, {DIMENSIONS}) d)
             ::real[]::halfvec
      FROM memories_entry e
"""
INDEX = f"""
    CREATE INDEX {table.index_of(MODEL)} ON {table.TABLE}
     USING hnsw ((vector::halfvec({DIMENSIONS})) halfvec_cosine_ops) WHERE model = '{MODEL}'
"""


@pytest.fixture(scope="module")
def meant(large: Caller, django_db_blocker: Any) -> Caller:
    """The same caller, with a vector for every entry."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        assert table.prepare()
        cursor.execute(VECTORS)
        cursor.execute(INDEX)
        cursor.execute(f"ANALYZE {table.TABLE}")
    return large


@pytest.mark.parametrize("name", CALLS)
def test_no_hot_statement_reads_a_whole_table(large, name):
    with noted() as run:
        assert CALLS[name](large).status_code == 200
    for sql, plan in plans(run):
        assert set(scanned(plan)) & HOT == set(), sql


NEAR = [math.sin(place) for place in range(DIMENSIONS)]


def used(node: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the indexes that a plan asks for vectors, with what it asks of them."""
    if node.get("Relation Name") == table.TABLE:
        yield node.get("Index Name", ""), node.get("Index Cond", "")
    for below in node.get("Plans", []):
        yield from used(below)


BY_INDEX, ONE_BY_ONE = (table.index_of(MODEL), ""), (f"{table.TABLE}_pkey", "entry_id = ANY")


@pytest.mark.parametrize(
    ("search", "way"),
    [
        (Search(), BY_INDEX),
        (Search(memory_types=("fact",), min_confidence=0.5), BY_INDEX),
        (Search(entity_path="shop", descendants=True), BY_INDEX),
        (Search(entity_path="shop/3", descendants=True), ONE_BY_ONE),
        (Search(entity_path="shop/3"), ONE_BY_ONE),
    ],
    ids=["all", "what filters leave", "much below a path", "little below a path", "an entity"],
)
def test_vectors_are_found_down_an_index(meant, search, way):
    viewer = acts.viewer(Account.objects.get(slug="large"))
    with noted() as run:
        assert len(reading.of_model(viewer, MODEL, NEAR, search, acts.NOON, 150)) == 150
    ((index, asked),) = [one for sql, plan in plans(run) if "distance" in sql for one in used(plan)]
    assert index == way[0]
    assert way[1] in asked

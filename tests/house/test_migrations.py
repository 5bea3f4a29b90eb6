"""Migrations keep nobody waiting: no statement of one holds a large table for longer than a moment."""

import re
from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import RunPython

OURS = ("accounts", "memories", "outcomes")
# Tables that stay small: people, keys, settings, runs. Any other may have millions of rows.
SMALL = {
    "accounts_account", "accounts_agent", "accounts_apikey", "accounts_identity", "accounts_invitation",
    "accounts_membership", "accounts_person", "accounts_signin", "memories_policyversion", "memories_jobrun",
}  # fmt: skip
# What may be as it is, and why.
ALLOWED = {
    ("memories", "0002_walls"): "the tables of the first release, made empty by 0001",
    ("memories", "0003_review"): "before the first dump that is kept: there was nobody to wait",
    ("outcomes", "0002_walls"): "the tables of the first release, made empty by 0001",
}
NAME = r'"?(\w+)"?'
LONG = {
    "makes an index while writers wait: IndexBeside": rf"CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY).*? ON {NAME}",
    "checks all rows: NOT VALID, and VALIDATE in another migration": (
        rf"ALTER TABLE (?:ONLY )?{NAME} .*?ADD CONSTRAINT (?!.*NOT VALID)"
    ),
    "makes a key over all rows: USING INDEX": rf"ALTER TABLE (?:ONLY )?{NAME} .*?ADD (?:PRIMARY KEY|UNIQUE) (?!USING)",
    "reads all rows": rf"ALTER TABLE (?:ONLY )?{NAME} .*?SET NOT NULL",
    "writes all rows anew": rf"ALTER TABLE (?:ONLY )?{NAME} .*?ALTER COLUMN \S+ (?:SET DATA )?TYPE",
    "writes all rows anew, or refuses": (
        rf"ALTER TABLE (?:ONLY )?{NAME} .*?ADD COLUMN (?=.*(?:GENERATED|random|clock_timestamp|uuid\())"
    ),
    "lets the release before write no more": (
        rf"ALTER TABLE (?:ONLY )?{NAME} .*?(?:DROP COLUMN|\bRENAME\b|ADD COLUMN (?=[^,]*NOT NULL)(?![^,]*DEFAULT))"
    ),
    "drops an index while all wait: DROP INDEX CONCURRENTLY": rf"DROP INDEX (?!CONCURRENTLY)(?:IF EXISTS )?{NAME}",
    "changes rows in one transaction": rf"(?:UPDATE|DELETE FROM) {NAME}",
    "locks": rf"LOCK TABLE {NAME}",
    "copies the table": rf"(?:CLUSTER|REINDEX (?:TABLE|INDEX)(?! CONCURRENTLY)|VACUUM FULL) {NAME}",
}


def statements(loader: MigrationLoader, key: tuple[str, str]) -> list[str]:
    """Return what a migration says to the database, one line each; bodies of functions left out."""
    collected = "\n".join(loader.collect_sql([(loader.graph.nodes[key], False)]))
    text = re.sub(r"--[^\n]*", " ", re.sub(r"\$\$.*?\$\$", "''", collected, flags=re.DOTALL))
    return [" ".join(statement.split()) for statement in text.split(";") if statement.strip()]


def faults(said: list[str]) -> Iterator[str]:
    """Yield what of a migration holds up who uses a large table that was there before it."""
    made = {name for one in said for name in re.findall(rf"CREATE TABLE (?:IF NOT EXISTS )?{NAME}", one)}
    for statement in said:
        for words, pattern in LONG.items():
            found = re.match(pattern, statement, flags=re.IGNORECASE)
            if found and found[1] not in SMALL | made:
                yield f"{words}: {statement[:200]}"


def held(said: list[str]) -> set[str]:
    """Return the tables that were there before a migration and that its transaction keeps writers out of."""
    made = {name for one in said for name in re.findall(rf"CREATE TABLE (?:IF NOT EXISTS )?{NAME}", one)}
    changed = {name for one in said for name in re.findall(rf"^ALTER TABLE (?:ONLY )?{NAME}", one)}
    named = {name for one in said for name in re.findall(rf"REFERENCES {NAME}", one)}
    # Nobody writes accounts but who saves a policy.
    return {name for name in (changed | named) - made if name.startswith(OURS)} - {"accounts_account"}


@pytest.fixture(scope="module")
def loader() -> MigrationLoader:
    return MigrationLoader(None)


def ours(loader: MigrationLoader) -> list[tuple[str, str]]:
    return sorted(key for key in loader.graph.nodes if key[0] in OURS)


def test_no_migration_holds_a_large_table(loader, lasting):
    loader.connection = connection
    found = {key: list(faults(statements(loader, key))) for key in ours(loader) if key not in ALLOWED}
    assert {key: what for key, what in found.items() if what} == {}


def test_no_migration_holds_two_tables_at_once(loader, lasting):
    """Who writes to both may hold the second and wait for the first: a deadlock that ends their call."""
    loader.connection = connection
    whole = [key for key in ours(loader) if key not in ALLOWED and loader.graph.nodes[key].atomic]
    found = {key: held(statements(loader, key)) for key in whole}
    assert {key: tables for key, tables in found.items() if len(tables) > 1} == {}


def test_migrations_that_change_rows_do_so_in_batches(loader):
    nodes = {key: loader.graph.nodes[key] for key in ours(loader) if key not in ALLOWED}
    whole = [key for key, one in nodes.items() if one.atomic and any(isinstance(o, RunPython) for o in one.operations)]
    assert whole == [], "a RunPython in a transaction holds all it changed: atomic = False, and batches"


def test_what_is_allowed_is_there(loader):
    assert set(ALLOWED) <= set(ours(loader))


@pytest.mark.parametrize(
    "statement",
    [
        'CREATE INDEX "x" ON "memories_entry" ("account_id")',
        "CREATE UNIQUE INDEX x ON memories_entry (account_id)",
        "ALTER TABLE memories_claim ADD CONSTRAINT x CHECK (id > 0)",
        "ALTER TABLE memories_claim ALTER COLUMN id TYPE text",
        'ALTER TABLE "memories_claim" ALTER COLUMN "id" SET NOT NULL',
        "ALTER TABLE memories_claim ADD COLUMN x uuid DEFAULT gen_random_uuid()",
        "ALTER TABLE memories_claim ADD COLUMN x text NOT NULL",
        "ALTER TABLE memories_claim DROP COLUMN value",
        "ALTER TABLE memories_claim DROP CONSTRAINT p, ADD PRIMARY KEY (account_id, id)",
        "DROP INDEX x",
        "UPDATE memories_entry SET tier = 1",
    ],
)
def test_what_would_hold_it_is_named(statement):
    assert list(faults([statement]))


@pytest.mark.parametrize(
    "said",
    [
        ["CREATE INDEX CONCURRENTLY x ON memories_entry (account_id)", "DROP INDEX CONCURRENTLY IF EXISTS x"],
        ["CREATE TABLE memories_new (id bigint)", "CREATE INDEX x ON memories_new (id)"],
        ["ALTER TABLE memories_claim ADD CONSTRAINT x CHECK (id > 0) NOT VALID"],
        ["ALTER TABLE memories_claim VALIDATE CONSTRAINT x"],
        ["ALTER TABLE memories_claim ADD COLUMN x text DEFAULT '' NOT NULL"],
        ["CREATE INDEX x ON accounts_person (id)"],
    ],
)
def test_what_keeps_nobody_waiting_passes(said):
    assert list(faults(said)) == []

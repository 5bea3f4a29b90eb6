"""The table of vectors, there only where PostgreSQL knows vectors, and its indexes, one for each model with many."""

import logging

from django.db import DatabaseError, connection, transaction

log = logging.getLogger(__name__)

TABLE = "memories_entryvector"
EXISTS = "SELECT to_regclass('memories_entryvector') IS NOT NULL"
AVAILABLE = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'"
# One vector for each entry and model, of the claim it was made from; without a fixed length, as models differ.
CREATE = """
CREATE TABLE IF NOT EXISTS memories_entryvector (
    account_id bigint NOT NULL,
    model text COLLATE "C" NOT NULL,
    entry_id bigint NOT NULL,
    claim_id bigint NOT NULL,
    vector halfvec NOT NULL,
    PRIMARY KEY (account_id, model, entry_id),
    CONSTRAINT entryvector_names_a_entry_of_its_account_entry_id FOREIGN KEY (account_id, entry_id)
        REFERENCES memories_entry (account_id, id) ON DELETE CASCADE DEFERRABLE INITIALLY IMMEDIATE
)
"""
# Up to so many vectors of an account are compared one by one: exact, and fast enough.
EXACT = 10_000
# The databases that are known to have the table: it does not go away.
_known: set[str] = set()


def exists() -> bool:
    """Tell whether there is a table of vectors."""
    return str(connection.settings_dict["NAME"]) in _known or _ask()


def prepare() -> bool:
    """Make the table if this server knows vectors, and tell whether it is there."""
    with connection.cursor() as cursor:
        cursor.execute(AVAILABLE)
        if not cursor.fetchone()[0]:
            log.info("This PostgreSQL has no extension `vector`; words alone find entries.")
            return False
        try:
            with transaction.atomic():
                cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
                cursor.execute(CREATE)
        except DatabaseError as error:
            log.warning("No table of vectors (%s); words alone find entries.", str(error).strip())
            return False
    return True


def index_of(model: str) -> str:
    """Return the name of a model's index."""
    return "vectors_" + "".join(sign if sign.isalnum() else "_" for sign in model.lower())[:50]


def has_index(model: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [index_of(model)])
        return bool(cursor.fetchone()[0])


def make_index(model: str, dimensions: int) -> None:
    """Index a model's vectors, without keeping writers out; outside any transaction."""
    name = connection.ops.quote_name(index_of(model))
    literal = model.replace("'", "''")
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {TABLE}"
            f" USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops) WHERE model = '{literal}'"
        )


def drop_index(model: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {connection.ops.quote_name(index_of(model))}")


def _ask() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(EXISTS)
        there = bool(cursor.fetchone()[0])
    if there:
        _known.add(str(connection.settings_dict["NAME"]))
    return there

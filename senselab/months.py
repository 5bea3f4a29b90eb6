"""Turns a table that grows for ever into partitions by month, while others read and write it.

The table there is becomes the partition of all that came before the next month. What takes long is made beside writers;
then names are exchanged in one transaction that reads no rows, and the release before goes on under the same name.
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from senselab.upgrading import PATIENCE

# Past the end of this month, of the next when that is near, and of rows that say they are of the future.
BOUNDARY = """
    SELECT (date_trunc('month', greatest(now() + interval '2 days', max({column})::timestamptz) AT TIME ZONE 'UTC')
            + interval '1 month')::date::text FROM {table}
"""
KEY_BESIDE = (
    "SET lock_timeout = 0",
    "DROP INDEX CONCURRENTLY IF EXISTS {table}_before_pkey",
    "CREATE UNIQUE INDEX CONCURRENTLY {table}_before_pkey ON {table} ({key})",
)
BOUND_BESIDE = (
    f"SET lock_timeout = '{PATIENCE}'",
    "ALTER TABLE {table} DROP CONSTRAINT IF EXISTS before_the_months",
    "ALTER TABLE {table} ADD CONSTRAINT before_the_months CHECK ({column} < '{boundary}') NOT VALID",
    "ALTER TABLE {table} VALIDATE CONSTRAINT before_the_months",
)
REKEYED = """
ALTER TABLE {table} DROP CONSTRAINT {table}_pkey,
    ADD CONSTRAINT {table}_before_pkey PRIMARY KEY USING INDEX {table}_before_pkey
"""
RENAMED = "ALTER INDEX {table}_pkey RENAME TO {table}_before_pkey"
# Partitions have no identity before PostgreSQL 17: a sequence goes on where it was.
COUNTED = """
DO $$ BEGIN
    PERFORM set_config('senselab.next', (SELECT last_value + 1 FROM {table}_id_seq)::text, true);
    ALTER TABLE {table} ALTER COLUMN id DROP IDENTITY;
    EXECUTE 'CREATE SEQUENCE {table}_id_seq START ' || current_setting('senselab.next');
    ALTER TABLE {table} ALTER COLUMN id SET DEFAULT nextval('{table}_id_seq');
END $$
"""
# Indexes keep their names, as Django knows them by these; what is unique without the month stays with each partition.
EXCHANGED = """
DO $$
DECLARE
    indexes text[] := ARRAY(SELECT pg_get_indexdef(x.indexrelid) FROM pg_index x
                             WHERE x.indrelid = '{table}'::regclass AND NOT x.indisunique);
    links text[] := ARRAY(SELECT format('ALTER TABLE {table} ADD CONSTRAINT %I ', c.conname)
                                 || pg_get_constraintdef(c.oid)
                            FROM pg_constraint c WHERE c.conrelid = '{table}'::regclass AND c.contype = 'f');
    said text;
BEGIN
    FOR said IN SELECT format('ALTER INDEX %I RENAME TO %I', c.relname, left(c.relname, 56) || '_before')
                  FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid
                 WHERE x.indrelid = '{table}'::regclass AND NOT x.indisprimary LOOP
        EXECUTE said;
    END LOOP;
    ALTER TABLE {table} RENAME TO {table}_before;
    CREATE TABLE {table} (LIKE {table}_before INCLUDING DEFAULTS, PRIMARY KEY ({key})) PARTITION BY RANGE ({column});
    FOREACH said IN ARRAY indexes || links LOOP
        EXECUTE said;
    END LOOP;
    FOR said IN SELECT format('GRANT %s ON {table} TO %s', a.privilege_type,
                              CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
                  FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = '{table}_before'::regclass LOOP
        EXECUTE said;
    END LOOP;
    ALTER TABLE {table} ATTACH PARTITION {table}_before FOR VALUES FROM (MINVALUE) TO ('{boundary}');
    ALTER TABLE {table}_before DROP CONSTRAINT before_the_months;
    PERFORM memories_add_partition('{table}', '{table}_rest', 'DEFAULT');
END $$
"""
OWNED = "ALTER SEQUENCE {table}_id_seq OWNED BY {table}.id"
IS_DIVIDED = "SELECT relkind = 'p' FROM pg_class WHERE oid = %s::regclass"


def divide(
    schema_editor: Any, table: str, column: str, key: Sequence[str], *, keyed: bool = False, counted: bool = False
) -> None:
    """Divide a table by the months of a column, with `key` as its primary key (`keyed`: it is so already).

    `counted` says that ids come from a sequence. For a migration with `atomic = False`; begun again after an
    interruption, it finds what is done.
    """
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        cursor.execute(IS_DIVIDED, [table])
        if cursor.fetchone()[0]:
            return
        cursor.execute(BOUNDARY.format(table=table, column=column))
        values = {"table": table, "column": column, "key": ", ".join(key), "boundary": cursor.fetchone()[0]}
        for statement in (*(() if keyed else KEY_BESIDE), *BOUND_BESIDE):
            cursor.execute(statement.format(**values))
        with transaction.atomic(connection.alias):
            cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            cursor.execute((RENAMED if keyed else REKEYED).format(**values))
            for statement in (COUNTED, EXCHANGED, OWNED) if counted else (EXCHANGED,):
                cursor.execute(statement.format(**values))

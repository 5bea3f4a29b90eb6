"""Rows as the database itself sees them: inserted past every rule of the code, to ask what the schema refuses."""

import json
from itertools import count
from typing import Any

from django.db import connection
from psycopg.types.json import Jsonb

from tests.db.acts import rows_of

PLAIN = {
    "bigint": 1,
    "integer": 1,
    "smallint": 1,
    "double precision": 0.5,
    "boolean": False,
    "timestamp with time zone": "2026-03-01T12:00:00Z",
    "date": "2026-03-01",
    "jsonb": {},
    "bytea": "\\x00",
    "ARRAY": [],
    "tsvector": "",
    # A vector, the one type here that an extension defines.
    "USER-DEFINED": "[1,0]",
}
numbers = count(10**9)


def columns(table: str) -> dict[str, Any]:
    """Return each column of a table with a plain value that is not null where none may be."""
    sql = """SELECT column_name, data_type, is_nullable FROM information_schema.columns
              WHERE table_schema = current_schema() AND table_name = %s ORDER BY ordinal_position"""
    return {name: None if nullable == "YES" else PLAIN.get(kind, "x") for name, kind, nullable in rows_of(sql, table)}


def one_of(table: str, account_id: int) -> dict[str, Any]:
    """Return the first row an account has in a table, or plain values where it has none.

    Of what belongs to people it is the latest of all.
    """
    there = columns(table)
    if "account_id" not in there:
        found = rows_of(f"SELECT to_jsonb(t)::text FROM {table} t ORDER BY id DESC LIMIT 1")
        return json.loads(found[0][0]) if found else there
    found = rows_of(f"SELECT to_jsonb(t)::text FROM {table} t WHERE t.account_id = %s LIMIT 1", account_id)
    return json.loads(found[0][0]) if found else there | {"account_id": account_id}


def insert(table: str, account_id: int, **changes: Any) -> dict[str, Any]:
    """Insert a row like one the account has, but for the changes, under a number of its own."""
    row = one_of(table, account_id)
    if "id" in row:
        row["id"] = next(numbers)
    row |= changes
    names = ", ".join(f'"{name}"' for name in row)
    with connection.cursor() as cursor:
        sql = f"INSERT INTO {table} ({names}) SELECT {names} FROM jsonb_populate_record(NULL::{table}, %s)"
        cursor.execute(sql, [Jsonb(row)])
    return row

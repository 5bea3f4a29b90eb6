"""The wall between accounts: no statement touches a table of accounts without naming the account (DESIGN.md, The data).

The check reads text, not a syntax tree: every place where such a table is read or written needs an equation on its
account_id, and the equations must lead to a bound value. It is on in every test; EXCEPTIONS lists what may go without.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

EXCEPTIONS = {
    "a key is looked up before its account is known": r"SELECT .* FROM accounts_apikey k .* WHERE k.public_id = %s$",
    "a person's roles tell which accounts are theirs": r'SELECT .* FROM "accounts_membership" .*"person_id" (=|IN)',
    "an invitation is looked up before its account is known": (
        r'SELECT .* FROM "accounts_invitation" .*WHERE .*"token_sha256" = %s'
    ),
    "kept answers grow old in all accounts alike": r"DELETE FROM accounts_keptanswer WHERE created_at < %s$",
    "old invitations are forgotten in all accounts alike": r"DELETE FROM accounts_invitation WHERE ctid = ANY\(",
    "unsealed records of the audit trail are looked for in all accounts alike": (
        r"SELECT DISTINCT account_id FROM accounts_auditrecord WHERE seal IS NULL$"
    ),
    "migrations and drops change tables, not rows": r"(CREATE|ALTER|DROP|COMMENT|TRUNCATE|ANALYZE|SET CONSTRAINTS) ",
}

VALUE = r"(?:%s|%\(\w+\)s)"
NAME = r'(?:"\w+"|\w+)'
COLUMN = rf'(?:({NAME})\.|(?<=WHERE )|(?<=AND )|(?<=ON ))"?account_id"?'
WRAPPED = rf"\(\s*((?:SELECT account_id,[^()]* FROM \w+\s*(?:UNION ALL\s*)?)+)\)\s*(?:AS\s+)?({NAME})"
# What follows a table and is no alias of it.
KEYWORDS = frozenset(
    ("where", "set", "on", "using", "join", "left", "right", "inner", "cross", "full", "lateral", "group", "order")
)
ENDINGS = frozenset(("limit", "union", "values", "select", "returning", "for"))


class NamesNoAccount(AssertionError):
    """A statement touches a table of accounts and does not say of which."""


@cache
def owned_tables() -> frozenset[str]:
    """Return the tables whose rows belong to an account."""
    fields = ((model, field) for model in apps.get_models() for field in model._meta.local_concrete_fields)
    # The table of vectors is no model, as it is there only where PostgreSQL knows vectors.
    owned = (model._meta.db_table for model, field in fields if field.column == "account_id")
    return frozenset({"memories_entryvector", *owned})


@cache
def places_pattern() -> re.Pattern[str]:
    tables = "|".join(sorted(owned_tables(), key=len, reverse=True))
    return re.compile(rf'(\bFROM|\bJOIN|\bUSING|\bINTO|\bUPDATE|,) "?({tables})"?(?![\w."])(?: (?:AS )?({NAME}))?')


def bare(name: str) -> str:
    return name.strip('"').lower()


def places(sql: str) -> Counter[str]:
    """Return how often each alias stands for a table of accounts that is read or changed, '' where there is none."""
    found: Counter[str] = Counter()
    for verb, table, alias in places_pattern().findall(sql):
        if verb == "INTO":
            continue
        if alias and bare(alias) not in KEYWORDS | ENDINGS:
            found[bare(alias)] += 1
        else:
            found[table if f'"{table}"."' in sql else ""] += 1
    return found


def equations(sql: str) -> tuple[Counter[str], set[str]]:
    """Return how often each alias equates its account, and which of them lead to a bound value."""
    counted: Counter[str] = Counter()
    bound: set[str] = set()
    for name in re.findall(rf"{COLUMN}\s*(?:=\s*(?:ANY\s*)?|IN\s*)\(*{VALUE}", sql):
        counted[bare(name)] += 1
        bound.add(bare(name))
    pairs = [{bare(left), bare(right)} for left, right in re.findall(rf"{COLUMN}\s*=\s*{COLUMN}", sql)]
    for pair in pairs:
        counted.update(pair)
    for _ in pairs:
        bound |= {name for pair in pairs if bound & pair for name in pair}
    # Tables in a sub-select that hands their account_id up are as bound as the sub-select is.
    for tables, name in re.findall(WRAPPED, sql):
        if bare(name) in bound:
            counted[""] += tables.count(" FROM ")
            bound.add("")
    return counted, bound


def inserts_without(sql: str) -> list[str]:
    """Return the tables of accounts that rows go into without an account."""
    inserts = re.findall(rf"\bINTO ({NAME})(?: AS \w+)?(?: \(([^)]*)\))?", sql)
    return [bare(table) for table, columns in inserts if bare(table) in owned_tables() and "account_id" not in columns]


@cache
def fault_of(sql: str) -> str:
    """Return what is wrong with a statement, '' for nothing."""
    text = " ".join(sql.split())
    if not places_pattern().search(text) or any(re.match(pattern, text) for pattern in EXCEPTIONS.values()):
        return ""
    counted, bound = equations(text)
    open_places = [name for name, times in places(text).items() if name not in bound or counted[name] < times]
    if open_places:
        return f"reads or changes {', '.join(name or 'a table' for name in open_places)} without its account"
    inserts = inserts_without(text)
    return f"inserts into {', '.join(inserts)} without an account" if inserts else ""


def guard(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Run a statement that names its account.

    :raises NamesNoAccount: it does not.
    """
    text = sql if isinstance(sql, str) else sql.as_string(context["connection"].connection)
    if fault := fault_of(text):
        raise NamesNoAccount(f"this statement {fault}: {' '.join(text.split())[:2000]}")
    return execute(sql, params, many, context)


def _on_connect(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    if guard not in connection.execute_wrappers:
        connection.execute_wrappers.append(guard)


@contextmanager
def guarded() -> Iterator[None]:
    """Guard this thread's connection, and those that other threads open meanwhile."""
    connection_created.connect(_on_connect)
    try:
        _on_connect(connection=connection)  # type: ignore[arg-type]
        yield
    finally:
        connection_created.disconnect(_on_connect)
        while guard in connection.execute_wrappers:
            connection.execute_wrappers.remove(guard)


@contextmanager
def unguarded() -> Iterator[None]:
    """Let migrations of a database that is made meanwhile do what they do: no account is there yet."""
    was = guard in connection.execute_wrappers
    connection_created.disconnect(_on_connect)
    connection.execute_wrappers[:] = [one for one in connection.execute_wrappers if one is not guard]
    try:
        yield
    finally:
        if was:
            connection_created.connect(_on_connect)
            _on_connect(connection=connection)  # type: ignore[arg-type]

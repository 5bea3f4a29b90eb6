"""Every read of entries that agents and pages share, one statement each; what the viewer may not see does not exist."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import connection

from memories import heads, rows, search
from memories.heads import Name
from memories.rows import Row
from memories.search import Search
from memories.viewers import Viewer

Query = tuple[str, dict[str, Any]]

NAMED = "e.branch = %(branch)s AND e.entity_path = %(path)s AND e.key = %(key)s"
# The caller's own private entry first, unless that is archived, else the shared one; for a person, who sees all, the
# one that is meant.
NEAREST = {
    False: "ORDER BY (e.status = 'archived'), e.owner DESC",
    True: "ORDER BY (e.owner = %(owner)s) DESC, e.owner",
}
NEIGHBOURS = 8
# A history on a branch may begin where main's stood.
OF_BRANCH = """(SELECT count(*) FROM memories_entryversion n
                 WHERE n.account_id = e.account_id AND n.entry_id = e.id)"""


def named_values(viewer: Viewer, branch: str, name: Name) -> dict[str, Any]:
    return {**viewer.parameters, "branch": branch, "path": name.entity_path, "key": name.key}


def entry(viewer: Viewer, branch: str, name: Name, now: datetime, *, owner: str = "") -> Row | None:
    """Return the entry a name stands for, None when there is none, or its time to live is over.

    A person sees private entries beside shared ones of the same name; `owner` says which is meant. What a branch never
    touched is main's (contract.md 3.16).
    """
    sql = f"{rows.HEADS} WHERE {nearest(viewer, branch)}"
    found = rows.select(sql, {**named_values(viewer, branch, name), "owner": owner, "now": now})
    return found[0] if found else None


def nearest(viewer: Viewer, branch: str) -> str:
    """Return the condition on the one entry e that a name stands for."""
    lives = "(e.ttl_at IS NULL OR e.ttl_at > %(now)s)"
    named, order = NAMED, NEAREST[viewer.sees_all]
    if branch != "main":
        named = NAMED.replace("e.branch = %(branch)s", "e.branch IN (%(branch)s, 'main')")
        order = order.replace("ORDER BY", "ORDER BY (e.branch = %(branch)s) DESC,")
    return f"{viewer.visible()} AND {named} AND {lives} {order} LIMIT 1"


def history(viewer: Viewer, branch: str, name: Name, now: datetime) -> list[Row]:
    """Return all versions of the entry a name stands for, oldest first; none when there is no such entry."""
    sql = f"""{rows.VERSIONS} WHERE e.account_id = %(account)s
               AND e.id = (SELECT e.id FROM memories_entry e WHERE {nearest(viewer, branch)}) ORDER BY v.number"""
    return rows.select(sql, {**named_values(viewer, branch, name), "owner": "", "now": now})


def entries_by_ids(viewer: Viewer, ids: Sequence[int]) -> list[Row]:
    """Return entries in the order of their names."""
    sql = f"{rows.HEADS} WHERE {viewer.visible()} AND e.id = ANY(%(ids)s) ORDER BY e.entity_path, e.key, e.owner"
    return rows.select(sql, {**viewer.parameters, "ids": list(ids)})


def versions_made(viewer: Viewer, made: dict[int, int]) -> list[Row]:
    """Return one version of each entry, given by entry id, in the order of names."""
    return rows.select(*versions_made_query(viewer, made))


def versions_made_query(viewer: Viewer, made: dict[int, int]) -> Query:
    """Return the statement behind `versions_made`, to travel with what makes them."""
    sql = f"""{rows.VERSIONS} JOIN unnest(%(ids)s::bigint[], %(numbers)s::int[]) AS asked(id, number)
                ON asked.id = v.entry_id AND asked.number = v.number
              WHERE {viewer.visible()} AND v.account_id = %(account)s ORDER BY e.entity_path, e.key, e.owner"""
    return sql, {**viewer.parameters, "ids": list(made), "numbers": list(made.values())}


def versions(viewer: Viewer, entry_id: int, *, values: bool = True) -> list[Row]:
    """Return all versions of an entry, oldest first; without values where they are not asked for."""
    source = rows.VERSIONS if values else rows.WITHOUT_VALUES
    sql = f"{source} WHERE {viewer.visible()} AND e.id = %(id)s ORDER BY v.number"
    return rows.select(sql, {**viewer.parameters, "id": entry_id})


def version(viewer: Viewer, entry_id: int, number: int) -> Row | None:
    sql = f"{rows.VERSIONS} WHERE {viewer.visible()} AND e.id = %(id)s AND v.number = %(number)s"
    found = rows.select(sql, {**viewer.parameters, "id": entry_id, "number": number})
    return found[0] if found else None


def versions_by_numbers(viewer: Viewer, entry_id: int, numbers: Sequence[int]) -> dict[int, Row]:
    """Return some versions of an entry by their number; those that are not there are missing."""
    sql = f"{rows.VERSIONS} WHERE {viewer.visible()} AND e.id = %(id)s AND v.number = ANY(%(numbers)s)"
    found = rows.select(sql, {**viewer.parameters, "id": entry_id, "numbers": list(numbers)})
    return {row.version: row for row in found}


def list_entries(asked: Search, viewer: Viewer, now: datetime) -> tuple[list[Row], int]:
    """Return a slice of a list and how long the list is."""
    found = search.find(asked, viewer, now)
    if asked.offset == 0 and len(found) < asked.limit:
        return found, len(found)
    return found, search.count(asked, viewer, now, most=None)


def list_versions(asked: Search, viewer: Viewer, now: datetime) -> tuple[list[Row], int]:
    """Return a slice of the versions of a list's entries, entry by entry and oldest first, and how many there are."""
    made = asked.conditions(viewer, now)
    where = made.where
    sql = f"{rows.VERSIONS} {where} ORDER BY e.entity_path, e.key, e.owner, v.number LIMIT %(limit)s OFFSET %(offset)s"
    found = rows.select(sql, {**made.values, "limit": asked.limit, "offset": asked.offset})
    if asked.offset == 0 and len(found) < asked.limit:
        return found, len(found)
    said = "coalesce(sum(e.version), 0)" if asked.branch == heads.MAIN else f"coalesce(sum({OF_BRANCH}), 0)"
    source = "FROM memories_entry e JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id"
    with connection.cursor() as cursor:
        # Versions of main are contiguous from 1, so the current number says how many there are.
        cursor.execute(f"SELECT {said} {source} {where}", made.values)
        return found, int(cursor.fetchone()[0])


def every_status(asked: Search) -> Search:
    return replace(asked, statuses=())


def scope_query(viewer: Viewer, branch: str, name: Name) -> Query:
    """Return the statement that counts what else stands under a path: how many, how many never read, a few keys."""
    sql = f"""
        SELECT count(*), count(*) FILTER (WHERE r.recall_count IS NULL OR r.recall_count = 0),
               (array_agg(e.key ORDER BY e.written_at DESC))[1:{NEIGHBOURS}]
          FROM memories_entry e
          LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
         WHERE {viewer.visible()} AND e.branch = %(branch)s AND e.entity_path = %(path)s AND e.key <> %(key)s
           AND e.status = ANY(%(statuses)s)
    """
    return sql, {**named_values(viewer, branch, name), "statuses": list(search.LISTED)}


def scope_of(entity_path: str, row: Sequence[Any]) -> dict[str, Any]:
    """Return `scope` of contract.md 2.4 from a row of `scope_query`."""
    existing, never_read, keys = row
    return {"entity_path": entity_path, "existing_entries": existing, "never_read": never_read, "keys": keys}


def spans_of(viewer: Viewer, change_set_id: int) -> dict[int, tuple[int, int]]:
    """Return the first and last version a change set made of each entry the viewer may see, by entry id."""
    sql = f"""
        SELECT v.entry_id, min(v.number), max(v.number)
          FROM memories_entryversion v JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
         WHERE {viewer.visible()} AND v.account_id = %(account)s AND v.change_set_id = %(change_set)s
         GROUP BY v.entry_id
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, {**viewer.parameters, "change_set": change_set_id})
        return {entry_id: (first, last) for entry_id, first, last in cursor.fetchall()}

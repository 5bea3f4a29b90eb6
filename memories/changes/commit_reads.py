"""Reads of commits, as far as the viewer may see what they wrote."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec
from django.db import connection

from memories.viewers import Viewer

# What a commit wrote, of that what the viewer may see; none of it: the commit does not exist for them.
COMMITS = """
    SELECT c.id, s.reason, s.actor, s.session_id, c.tree_hash, {parents}, c.branch, s.at, s.size, w.entries::text
      FROM memories_commit c
      JOIN memories_changeset s ON s.account_id = c.account_id AND s.id = c.change_set_id
      JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object('entity_path', e.entity_path, 'key', e.key, 'version', v.number,
                                            'content_hash', k.content_hash) ORDER BY e.entity_path, e.key) AS entries
          FROM memories_entryversion v
          JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
          JOIN memories_claim k ON k.account_id = v.account_id AND k.id = v.claim_id
         WHERE v.account_id = %(account)s AND v.change_set_id = c.change_set_id AND {visible}
      ) w ON w.entries IS NOT NULL
     WHERE c.account_id = %(account)s
"""
# Who sees a part of the line stands on the commit before it that they see: what lies between does not exist for them.
SEEN_BEFORE = """ARRAY(
        SELECT p.id FROM memories_commit p
         WHERE p.account_id = %(account)s AND p.branch = c.branch AND p.change_set_id < c.change_set_id
           AND cardinality(c.parent_ids) > 0 AND EXISTS (
                SELECT 1 FROM memories_entryversion v
                  JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
                 WHERE v.account_id = %(account)s AND v.change_set_id = p.change_set_id AND {visible})
         ORDER BY p.change_set_id DESC LIMIT 1)"""
# From a commit down to the first one, nearest first; a chain longer than that is not followed.
DEPTH = 10_000
ANCESTORS = """
    WITH RECURSIVE line(id, depth) AS (
        SELECT c.id, 0 FROM memories_commit c WHERE c.account_id = %(account)s AND c.id = %(id)s
        UNION ALL
        SELECT p.id, l.depth + 1
          FROM line l
          JOIN memories_commit c ON c.account_id = %(account)s AND c.id = l.id
          JOIN memories_commit p ON p.account_id = %(account)s AND p.id = ANY(c.parent_ids)
         WHERE l.depth < %(most)s
    )
    SELECT id FROM line ORDER BY depth
"""


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit as it is shown; `is_whole` tells whether the viewer sees all it wrote."""

    id: str
    message: str
    author: str
    session_id: str
    tree_hash: str
    parent_ids: list[str]
    branch: str
    at: datetime
    size: int
    entries: list[dict[str, Any]]

    @property
    def is_whole(self) -> bool:
        return len(self.entries) == self.size


def page(viewer: Viewer, branch: str, limit: int) -> list[Committed]:
    """Return the newest commits of a branch, newest first."""
    rest = "AND c.branch = %(branch)s ORDER BY c.change_set_id DESC LIMIT %(limit)s"
    return _select(viewer, rest, {"branch": branch, "limit": limit})


def one(viewer: Viewer, commit_id: str) -> Committed | None:
    found = _select(viewer, "AND c.id = %(id)s", {"id": commit_id})
    return found[0] if found else None


def _select(viewer: Viewer, rest: str, values: dict[str, Any]) -> list[Committed]:
    visible = viewer.visible()
    parents = "c.parent_ids" if viewer.sees_all else SEEN_BEFORE.format(visible=visible)
    with connection.cursor() as cursor:
        cursor.execute(f"{COMMITS.format(visible=visible, parents=parents)} {rest}", {**viewer.parameters, **values})
        rows: list[list[Any]] = [[*row[:-1], msgspec.json.decode(row[-1])] for row in cursor.fetchall()]
    return [_as_seen(viewer, Committed(*row)) for row in rows]


def _as_seen(viewer: Viewer, commit: Committed) -> Committed:
    """Return a commit without its author's words where these may be about entries that the viewer does not see."""
    is_told = commit.is_whole or viewer.sees_all or commit.author == viewer.agent_id
    return commit if is_told else replace(commit, message="")


def ancestor(viewer: Viewer, a: str, b: str) -> str | None:
    """Return the nearest commit that two stand on, either of them included; None when there is none."""
    if one(viewer, a) is None or one(viewer, b) is None:
        return None
    below = set(_line(viewer, a))
    return next((commit_id for commit_id in _line(viewer, b) if commit_id in below), None)


def _line(viewer: Viewer, commit_id: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(ANCESTORS, {"account": viewer.account_id, "id": commit_id, "most": DEPTH})
        return [row[0] for row in cursor.fetchall()]

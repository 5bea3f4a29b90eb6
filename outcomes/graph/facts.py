"""Edges that nobody had to tell, as the tables know them: references between entries, and outcomes they informed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection

from memories.viewers import Viewer

# Who asks gets the newest; more than this of one node nobody reads.
MOST = 500

# The entry keys asked for come split at every slash, as only the table knows where the path ends.
ASKED = "SELECT * FROM unnest(%(paths)s::text[], %(keys)s::text[])"
REFERS = """
    SELECT e.entity_path || '/' || e.key, 'entry', 'references', r.ref, 'entry', c.written_at, c.agent_id
      FROM memories_entry e
      JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
      CROSS JOIN unnest(c.pattern_refs) AS r(ref)
     WHERE {visible} AND e.branch = ANY(%(branches)s) AND (e.entity_path, e.key) IN (""" + ASKED + """)
     LIMIT %(most)s
"""  # fmt: skip
REFERRED = """
    SELECT e.entity_path || '/' || e.key, 'entry', 'references', r.ref, 'entry', c.written_at, c.agent_id
      FROM memories_claim c
      JOIN memories_entry e ON e.account_id = c.account_id AND e.id = c.entry_id AND e.claim_id = c.id
      CROSS JOIN unnest(c.pattern_refs) AS r(ref)
     WHERE c.account_id = %(account)s AND c.pattern_refs && %(names)s::text[] AND NOT c.pattern_refs = '{{}}'
       AND r.ref = ANY(%(names)s) AND {visible} AND e.branch = ANY(%(branches)s)
     ORDER BY c.written_at DESC LIMIT %(most)s
"""
INFORMED = """
    SELECT e.entity_path || '/' || e.key, 'entry', 'informed', f.outcome_ref, 'outcome', f.at, f.agent_id
      FROM memories_entry e
      JOIN memories_effect f ON f.account_id = e.account_id AND f.entry_id = e.id
     WHERE {visible} AND f.account_id = %(account)s AND e.branch = ANY(%(branches)s)
       AND (e.entity_path, e.key) IN (""" + ASKED + """)
     ORDER BY f.at DESC LIMIT %(most)s
"""  # fmt: skip
INFORMED_BY = """
    SELECT e.entity_path || '/' || e.key, 'entry', 'informed', f.outcome_ref, 'outcome', f.at, f.agent_id
      FROM outcomes_outcome o
      JOIN memories_effect f ON f.account_id = o.account_id AND f.outcome_id = o.id
      JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
     WHERE o.account_id = %(account)s AND o.outcome_ref = ANY(%(names)s) AND {visible} AND e.branch = ANY(%(branches)s)
     ORDER BY f.at DESC LIMIT %(most)s
"""
WRITTEN = """
    SELECT e.agent_id, 'agent', 'wrote', e.entity_path || '/' || e.key, 'entry', e.written_at, e.agent_id
      FROM memories_entry e
     WHERE {visible} AND e.branch = ANY(%(branches)s) AND (e.entity_path, e.key) IN (""" + ASKED + """)
     LIMIT %(most)s
"""  # fmt: skip
# One walk down the index for each agent and branch, which stops where it has enough.
WROTE = """
    SELECT w.agent_id, 'agent', 'wrote', w.entry_key, 'entry', w.written_at, w.agent_id
      FROM unnest(%(names)s::text[]) AS named(agent_id), unnest(%(branches)s::text[]) AS told(branch),
           LATERAL (SELECT e.agent_id, e.entity_path || '/' || e.key AS entry_key, e.written_at
                      FROM memories_entry e
                     WHERE {visible} AND e.branch = told.branch AND e.agent_id = named.agent_id
                     ORDER BY e.written_at DESC LIMIT %(most)s) w
     ORDER BY w.written_at DESC LIMIT %(most)s
"""


@dataclass(slots=True)
class Edge:
    """An edge of the graph (contract.md 1.10), told or computed."""

    source: str
    source_type: str
    relation: str
    target: str
    target_type: str
    first_seen: datetime
    last_seen: datetime
    confidence: float = 1.0
    evidence_count: int = 1
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def same(self) -> tuple[str, str, str]:
        return (self.source, self.relation, self.target)


def splits(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return paths and keys, side by side, for every way to split entry keys."""
    pairs = [(name[:at], name[at + 1 :]) for name in names for at in range(len(name)) if name[at] == "/"]
    return [path for path, _ in pairs], [key for _, key in pairs]


def around(viewer: Viewer, names: Sequence[str], branches: Sequence[str], *, out: bool, into: bool) -> list[Edge]:
    """Return what the tables know of edges that leave some nodes or lead into them, each once with its count."""
    paths, keys = splits(names)
    values = {
        **viewer.parameters,
        "names": list(names),
        "paths": paths,
        "keys": keys,
        "branches": list(branches),
        "most": MOST,
    }
    leaving = [(REFERS, out and paths), (INFORMED, out and paths), (WROTE, out)]
    leading = [(REFERRED, into), (INFORMED_BY, into), (WRITTEN, into and paths)]
    parts = [sql.format(visible=viewer.visible()) for sql, wanted in [*leaving, *leading] if wanted]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"({part})" for part in parts), values)
        return list(_gathered(cursor.fetchall()))


def _gathered(rows: Iterable[tuple[Any, ...]]) -> Iterable[Edge]:
    found: dict[tuple[str, str, str], Edge] = {}
    for source, source_type, relation, target, target_type, at, agent in rows:
        edge = Edge(source, source_type, relation, target, target_type, at, at, provenance={"agent_id": agent})
        known = found.setdefault(edge.same, edge)
        if known is not edge:
            known.evidence_count += 1
            known.first_seen, known.last_seen = min(known.first_seen, at), max(known.last_seen, at)
    return found.values()

"""Edges that nobody had to tell, as the tables know them: references, outcomes, writes, reads, and use together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from memories.entry.history import months
from memories.viewers import Viewer

# Who asks gets the newest; more than this of one node nobody reads.
MOST = 500
# Who read is looked up so far back; for what went together, so many of the latest outcomes are looked at.
WINDOW, LATEST = timedelta(days=90), 100
TOGETHER = "co_occurs_with"

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
READ_BY = """
    SELECT r.agent_id, 'agent', 'read', e.entity_path || '/' || e.key, 'entry', r.last_at, r.agent_id
      FROM memories_entry e
      JOIN memories_reading r ON r.account_id = e.account_id AND r.month = ANY(%(months)s::date[]) AND r.entry_id = e.id
     WHERE {visible} AND r.account_id = %(account)s AND e.branch = ANY(%(branches)s)
       AND (e.entity_path, e.key) IN (""" + ASKED + """)
     ORDER BY r.last_at DESC LIMIT %(most)s
"""  # fmt: skip
# Readings are filed by entry, so an agent is asked for by what its latest outcomes relied on.
READ = """
    SELECT o.agent_id, 'agent', 'read', e.entity_path || '/' || e.key, 'entry', f.at, o.agent_id
      FROM (SELECT t.account_id, t.id, t.agent_id FROM outcomes_outcome t
             WHERE t.account_id = %(account)s AND t.agent_id = ANY(%(names)s)
             ORDER BY t.committed_at DESC, t.id DESC LIMIT %(latest)s) o
      JOIN memories_effect f ON f.account_id = o.account_id AND f.outcome_id = o.id
      JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
     WHERE f.account_id = %(account)s AND {visible} AND e.branch = ANY(%(branches)s)
     LIMIT %(most)s
"""
# Two entries that outcomes relied on together, once for each outcome however many steps it had.
WITH = """
    SELECT DISTINCT a.entity_path || '/' || a.key, 'entry', 'co_occurs_with', e.entity_path || '/' || e.key, 'entry',
           f.committed_at, f.agent_id
      FROM (SELECT o.account_id, o.id, o.committed_at, o.agent_id, g.entry_id
              FROM (SELECT DISTINCT h.outcome_id, h.entry_id FROM memories_effect h
                     WHERE h.account_id = %(account)s AND h.entry_id IN (
                           SELECT e.id FROM memories_entry e
                            WHERE {visible} AND e.branch = ANY(%(branches)s)
                              AND (e.entity_path, e.key) IN (""" + ASKED + """))) g
              JOIN outcomes_outcome o ON o.account_id = %(account)s AND o.id = g.outcome_id
             ORDER BY o.committed_at DESC, o.id DESC LIMIT %(latest)s) f
      JOIN memories_entry a ON a.account_id = f.account_id AND a.id = f.entry_id
      JOIN memories_effect w ON w.account_id = f.account_id AND w.outcome_id = f.id AND w.entry_id <> f.entry_id
      JOIN memories_entry e ON e.account_id = w.account_id AND e.id = w.entry_id
     WHERE a.account_id = %(account)s AND w.account_id = %(account)s AND {visible} AND e.branch = a.branch
     LIMIT %(most)s
"""  # fmt: skip


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
    # Who says so; None: nobody knows any more.
    teller: str | None = None

    @property
    def same(self) -> tuple[str, str, str]:
        """Return what makes two edges one: who goes together has no direction."""
        ends = self.source, self.target
        source, target = sorted(ends) if self.relation == TOGETHER else ends
        return (source, self.relation, target)


def splits(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return paths and keys, side by side, for every way to split entry keys."""
    pairs = [(name[:at], name[at + 1 :]) for name in names for at in range(len(name)) if name[at] == "/"]
    return [path for path, _ in pairs], [key for _, key in pairs]


def around(
    viewer: Viewer, names: Sequence[str], branches: Sequence[str], *, out: bool, into: bool, now: datetime
) -> list[Edge]:
    """Return what the tables know of edges that leave some nodes or lead into them, as often as they know it."""
    paths, keys = splits(names)
    values = {
        **viewer.parameters,
        "names": list(names),
        "paths": paths,
        "keys": keys,
        "branches": list(branches),
        "most": MOST,
        "latest": LATEST,
        "months": months(now - WINDOW, now),
    }
    leaving = [(REFERS, out and paths), (INFORMED, out and paths), (WITH, paths), (WROTE, out), (READ, out)]
    leading = [(REFERRED, into), (INFORMED_BY, into), (WRITTEN, into and paths), (READ_BY, into and paths)]
    parts = [sql.format(visible=viewer.visible()) for sql, wanted in [*leaving, *leading] if wanted]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"({part})" for part in parts), values)
        return [
            Edge(
                source, source_type, relation, target, target_type, at, at, provenance={"agent_id": agent}, teller=agent
            )
            for source, source_type, relation, target, target_type, at, agent in cursor.fetchall()
        ]


def gathered(edges: Iterable[Edge]) -> dict[tuple[str, str, str], Edge]:
    """Return edges each once, by what makes them one, with the count of all; the rest is as the first one says."""
    found: dict[tuple[str, str, str], Edge] = {}
    for edge in edges:
        known = found.setdefault(edge.same, edge)
        if known is not edge:
            known.evidence_count += edge.evidence_count
            known.first_seen = min(known.first_seen, edge.first_seen)
            known.last_seen = max(known.last_seen, edge.last_seen)
    return found

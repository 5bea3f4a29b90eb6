"""Neighbours of a node, breadth first, each edge once: what clients told and what the tables know by themselves."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.db import connection

from memories.viewers import Viewer
from outcomes.graph import facts
from outcomes.graph.facts import Edge
from outcomes.querysets import privacy
from outcomes.querysets.privacy import Hidden

DEPTH = 5
# Of one level at most so many edges are looked at, those told last, so that a node everybody knows stays cheap.
LOOKED_AT = 2_000
# A level goes on from at most so many nodes.
FRONT = 300
TOLD = """
    SELECT g.id, g.source_entity, g.source_type, g.relation, g.target_entity, g.target_type, g.first_seen, g.last_seen,
           g.confidence, g.evidence_count, g.provenance::text, coalesce(g.agent_id, g.provenance->>'agent_id')
      FROM outcomes_edge g
     WHERE g.account_id = %(account)s AND g.branch = ANY(%(branches)s) AND g.{side} = ANY(%(names)s)
       AND g.confidence >= %(least)s AND (%(relation)s = '' OR g.relation = %(relation)s)
     ORDER BY g.last_seen DESC, g.id DESC LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """From which node, along which edges, how far; on a branch with what holds on main."""

    entity: str
    now: datetime
    relation: str = ""
    out: bool = True
    into: bool = True
    least: float = 0.0
    depth: int = 1
    limit: int = 50
    branch: str = "main"

    @property
    def branches(self) -> list[str]:
        return list(dict.fromkeys([self.branch, "main"]))


def neighbours(viewer: Viewer, asked: Asked) -> list[Edge]:
    """Return edges around a node, the nearest first; three statements a level."""
    if not viewer.reaches_key(asked.entity):
        return []
    found: dict[tuple[str, str, str], Edge] = {}
    visited, front = {asked.entity}, [asked.entity]
    for _ in range(min(asked.depth, DEPTH)):
        level = _level(viewer, asked, front)
        for edge in level:
            found.setdefault(edge.same, edge)
        reached = dict.fromkeys(end for edge in level for end in _ends(asked, edge, set(front)))
        front = [name for name in reached if name not in visited][:FRONT]
        visited |= set(front)
        if not front or len(found) >= asked.limit:
            break
    return list(found.values())[: asked.limit]


def _ends(asked: Asked, edge: Edge, front: set[str]) -> Iterable[str]:
    """Yield the nodes an edge leads to from the front; what goes together leads both ways."""
    both = edge.relation == facts.TOGETHER
    if (asked.out or both) and edge.source in front:
        yield edge.target
    if (asked.into or both) and edge.target in front:
        yield edge.source


def _level(viewer: Viewer, asked: Asked, front: Sequence[str]) -> list[Edge]:
    known = facts.around(viewer, front, asked.branches, out=asked.out, into=asked.into, now=asked.now)
    wanted = [edge for edge in known if asked.relation in ("", edge.relation) and edge.confidence >= asked.least]
    told = _told(viewer, asked, front)
    hidden = privacy.hidden(viewer, {name for edge in [*wanted, *told] for name in (edge.source, edge.target)})
    # An edge that was told says more: how often, and by whom.
    edges = facts.gathered(_seen(wanted, hidden)) | facts.gathered(_seen(told, hidden))
    return sorted(edges.values(), key=lambda edge: (edge.last_seen, edge.same), reverse=True)


def _seen(edges: Iterable[Edge], hidden: Hidden) -> Iterator[Edge]:
    """Yield edges but those whose teller names its own private entry: in another's mouth the name is but a guess."""
    for edge in edges:
        ends = (edge.source, edge.target)
        if edge.teller is None:
            hides = not hidden.keys.isdisjoint(ends)
        else:
            hides = any(hidden.hides_name(edge.teller, end) for end in ends)
        if not hides:
            yield edge


def _told(viewer: Viewer, asked: Asked, front: Sequence[str]) -> list[Edge]:
    sides = [side for side, wanted in (("source_entity", asked.out), ("target_entity", asked.into)) if wanted]
    values: dict[str, Any] = {
        "account": viewer.account_id,
        "branches": asked.branches,
        "names": list(front),
        "least": asked.least,
        "relation": asked.relation,
        "most": LOOKED_AT,
    }
    # Found from both ends an edge is one edge.
    sql = " UNION ".join(f"({TOLD.format(side=side)})" for side in sides)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM ({sql}) AS told ORDER BY last_seen DESC, id DESC", values)
        return [Edge(*(*row[1:10], msgspec.json.decode(row[10]), row[11])) for row in cursor.fetchall()]


def told(edge: Edge) -> dict[str, Any]:
    """Return an edge as it travels (contract.md 1.10)."""
    return {
        "source_entity": edge.source,
        "source_type": edge.source_type,
        "relation": edge.relation,
        "target_entity": edge.target,
        "target_type": edge.target_type,
        "confidence": edge.confidence,
        "evidence_count": edge.evidence_count,
        "first_seen": edge.first_seen,
        "last_seen": edge.last_seen,
        "provenance": edge.provenance,
    }

"""Digests: what there is about each entity, computed when asked for, of what the viewer may see (contract.md 3.11)."""

from collections import defaultdict
from datetime import datetime
from typing import Any

from django.db import connection

from memories import figures
from memories.figures import Totals
from memories.viewers import Viewer

TYPES = ("entity", "agent_brief", "source")
EXTERNAL = "external/"
TOP = """
    SELECT e.entity_path, e.agent_id, e.key, e.confidence, e.written_at, e.id
      FROM memories_entry e
     WHERE {visible} AND e.branch = %(branch)s AND e.status IN ('active', 'under_review')
       AND (e.ttl_at IS NULL OR e.ttl_at > %(now)s)
     ORDER BY e.tier, e.settled_confidence DESC, e.id LIMIT %(most)s
"""
MOST, KEYS = 2_000, 5


def counts(viewer: Viewer) -> dict[str, int]:
    """Return how many digests of each kind there would be."""
    paths = [path for path, sums in figures.by_path(viewer).items() if sums.entries]
    agents = list(figures.by_agent(viewer))
    sources = sum(agent.startswith(EXTERNAL) for agent in agents)
    return dict(zip(TYPES, (len(paths), len(agents), sources), strict=True))


def digests(viewer: Viewer, now: datetime, *, kind: str = "", limit: int = 100) -> list[dict[str, Any]]:
    """Return digests of entities, agents and outside sources, those with most entries first."""
    rows = _top(viewer, now)
    made = []
    if kind in {"", "entity"}:
        made += _of(rows, figures.by_path(viewer), 0, "entity", now)
    if kind in {"", "agent_brief"}:
        made += _of(rows, figures.by_agent(viewer), 1, "agent_brief", now)
    if kind in {"", "source"}:
        outside = {name: sums for name, sums in figures.by_agent(viewer).items() if name.startswith(EXTERNAL)}
        made += _of(rows, outside, 1, "source", now)
    return sorted(made, key=lambda digest: (-digest["entry_count"], digest["scope"]))[:limit]


def _top(viewer: Viewer, now: datetime) -> list[tuple[Any, ...]]:
    values = {**viewer.parameters, "branch": "main", "now": now, "most": MOST}
    with connection.cursor() as cursor:
        cursor.execute(TOP.format(visible=viewer.visible()), values)
        return cursor.fetchall()


def _of(
    rows: list[tuple[Any, ...]], sums: dict[str, Totals], column: int, kind: str, now: datetime
) -> list[dict[str, Any]]:
    grouped: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        grouped[row[column]].append(row)
    return [_digest(name, total, grouped[name], kind, now) for name, total in sums.items() if total.entries]


def _digest(scope: str, total: Totals, rows: list[tuple[Any, ...]], kind: str, now: datetime) -> dict[str, Any]:
    written = [row[4] for row in rows]
    summary: dict[str, Any] = {
        "total_keys": total.entries,
        "avg_confidence": total.confidence_avg,
        "last_write": max(written, default=None),
        "outcome_linked": total.outcome_linked,
        "top_keys": [f"{row[0]}/{row[2]}" if kind != "entity" else row[2] for row in rows[:KEYS]],
        "narrative": narrative(scope, total),
    }
    if kind != "entity":
        summary["entities_written"] = sorted({row[0] for row in rows})
    return {
        "digest_type": kind,
        "scope": scope,
        "summary": summary,
        "entry_count": total.entries,
        "source_agents": sorted({row[1] for row in rows}),
        "compiled_at": now,
        "staleness_ms": 0,
        "anticipation_score": 0.0,
        "namespace": "default",
        "branch": "main",
    }


def narrative(scope: str, total: Totals) -> str:
    """Return one sentence about what is known there."""
    parts = [(total.validated, "validated"), (total.contested, "contested"), (total.discredited, "discredited")]
    told = ", ".join(f"{count} {word}" for count, word in parts if count) or "nothing tested yet"
    return f"{total.entries} entr{'y' if total.entries == 1 else 'ies'} at {scope}: {told}."

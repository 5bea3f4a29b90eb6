"""What an entry is connected with, and what relied on it, directly or not: each a bounded look down an index."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from memories.entry import history
from memories.entry.history import Reader, Reference
from memories.rows import Row
from memories.viewers import Viewer

# So many of each kind are listed; the counts go further.
SHOWN = 8
# References are followed so far, through at most so many entries; of outcomes the latest so many are looked at.
STEPS, ENTRIES, OUTCOMES = 3, 500, 500
WINDOW = timedelta(days=90)

REFERRING = """
    SELECT e.id, e.branch, e.entity_path, e.key, e.owner, e.memory_type, e.status, e.evidence_status, e.agent_id
      FROM memories_claim c
      JOIN memories_entry e ON e.account_id = c.account_id AND e.id = c.entry_id AND e.claim_id = c.id
     WHERE c.account_id = %(account)s AND c.pattern_refs && %(names)s::text[] AND NOT c.pattern_refs = '{{}}'
       AND {visible} AND e.branch = %(branch)s AND NOT e.id = ANY(%(known)s)
     ORDER BY c.written_at DESC, e.id LIMIT %(limit)s
"""
# Of the latest outcomes of some entries, each once, as its last step put it.
INFORMED = """
    SELECT f.outcome_id, max(f.outcome_ref), (array_agg(f.outcome_type ORDER BY f.step))[1], max(f.agent_id), max(f.at)
      FROM (SELECT g.* FROM memories_effect g
             WHERE g.account_id = %(account)s AND g.entry_id = ANY(%(ids)s) ORDER BY g.at DESC LIMIT %(limit)s) f
     GROUP BY f.outcome_id ORDER BY 5 DESC, 1 DESC
"""
MOVED = """
    SELECT e.id, e.branch, e.entity_path, e.key, e.owner, e.memory_type, e.status, e.evidence_status, e.agent_id,
           count(DISTINCT f.outcome_id), count(*) OVER ()
      FROM memories_effect f
      JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
     WHERE f.account_id = %(account)s AND f.outcome_id = ANY(%(ids)s) AND f.version_made IS NOT NULL
       AND NOT e.id = ANY(%(known)s) AND {visible}
     GROUP BY e.account_id, e.id, e.branch, e.entity_path, e.key, e.owner, e.memory_type, e.status, e.evidence_status,
              e.agent_id
     ORDER BY 10 DESC, e.entity_path, e.key LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """Another entry, as it stands now; `shared` counts the outcomes it had in common."""

    id: int
    branch: str
    entity_path: str
    key: str
    owner: str
    memory_type: str
    status: str
    evidence_status: str
    agent_id: str
    shared: int = 0

    @property
    def entry_key(self) -> str:
        return f"{self.entity_path}/{self.key}"


@dataclass(frozen=True, slots=True)
class Informed:
    """An outcome that relied on an entry."""

    id: int
    outcome_ref: str
    outcome_type: str
    agent_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Reach:
    """What relied on an entry: entries that refer to it, step by step; outcomes; what those moved besides; agents.

    `whole` is False where a bound was met, so that the numbers are "at least".
    """

    levels: list[list[Entry]]
    outcomes: list[Informed]
    indirect: list[Informed]
    moved: list[Entry]
    moved_count: int
    agents: list[str]
    whole: bool

    @property
    def direct(self) -> list[Entry]:
        return self.levels[0] if self.levels else []

    @property
    def further(self) -> int:
        """Return how many entries refer to it through others."""
        return sum(len(level) for level in self.levels[1:])

    @property
    def failures(self) -> int:
        return sum(outcome.outcome_type not in ("success", "clean_deploy") for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class Connections:
    """An entry with what it stands on and what stands on it."""

    row: Row
    refers_to: list[Reference]
    readers: list[Reader]
    reach: Reach


def of(viewer: Viewer, row: Row, now: datetime) -> Connections:
    """Return what an entry is connected with; at most eight statements, whatever there is."""
    refers = history.references(viewer, row.branch, row.pattern_refs)
    since = now - WINDOW
    read = history.readers(viewer, row.entry_id, first=1, last=row.version, since=since, until=now)
    return Connections(row, refers, read, reach(viewer, row, [one.agent_id for one in read]))


def reach(viewer: Viewer, row: Row, readers: Sequence[str] = ()) -> Reach:
    """Return what relied on an entry, directly or through others."""
    levels, known = _levels(viewer, row)
    further = [entry.id for level in levels for entry in level]
    outcomes = _informed(viewer, [row.entry_id])
    seen = {outcome.id for outcome in outcomes}
    indirect = [outcome for outcome in _informed(viewer, further) if outcome.id not in seen] if further else []
    moved, count = _moved(viewer, [outcome.id for outcome in outcomes], [row.entry_id])
    told = [outcome.agent_id for outcome in [*outcomes, *indirect]]
    agents = [agent for agent in dict.fromkeys([*readers, *told]) if agent]
    whole = len(known) <= ENTRIES and len(outcomes) < OUTCOMES
    return Reach(levels, outcomes, indirect, moved, count, agents, whole)


def _levels(viewer: Viewer, row: Row) -> tuple[list[list[Entry]], set[int]]:
    levels: list[list[Entry]] = []
    names, known = [row.entry_key], {row.entry_id}
    for _ in range(STEPS):
        values = {"names": names, "branch": row.branch, "known": list(known), "limit": ENTRIES + 1 - len(known)}
        found = [Entry(*line) for line in _rows(REFERRING, viewer, **values)]
        if not found:
            break
        levels.append(found)
        known |= {entry.id for entry in found}
        names = [entry.entry_key for entry in found]
        if len(known) > ENTRIES:
            break
    return levels, known


def _informed(viewer: Viewer, ids: Sequence[int]) -> list[Informed]:
    return [Informed(*line) for line in _rows(INFORMED, viewer, ids=list(ids), limit=OUTCOMES)]


def _moved(viewer: Viewer, outcome_ids: Sequence[int], known: Sequence[int]) -> tuple[list[Entry], int]:
    found = _rows(MOVED, viewer, ids=list(outcome_ids), known=list(known), limit=SHOWN) if outcome_ids else []
    return [Entry(*line[:10]) for line in found], found[0][10] if found else 0


def _rows(sql: str, viewer: Viewer, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql.format(visible=viewer.visible()), {**viewer.parameters, **values})
        return cursor.fetchall()

"""What a briefing is made from: the entries and the tasks of an entity, in two round trips however many there are."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memories import figures, rows
from memories.rows import Row
from memories.search import Search
from memories.viewers import Viewer
from outcomes.retrieval import candidates, past, replacements
from outcomes.retrieval.question import Question
from outcomes.retrieval.replacements import Replaced
from outcomes.rules import shift
from outcomes.rules.episodes import Episode
from senselab import pipeline
from senselab.pipeline import Query

HOT_POOL, VALIDATED, DISCREDITED, PROCEDURES, TURNED = 12, 5, 5, 20, 20
AUTHORS = 200
HOT = "e.status = 'active' AND e.evidence_status <> 'discredited' AND e.memory_type <> 'procedure'"
STEADY = "e.status = 'active' AND e.evidence_status = 'validated' AND e.memory_type <> 'procedure'"
USABLE = "e.status = 'active' AND e.evidence_status <> 'discredited' AND e.memory_type = 'procedure'"
FAILED = "e.evidence_status = 'discredited'"
TURNING = f"""e.success_count >= {shift.SUCCESSES} AND e.failure_count > 0 AND e.evidence_status <> 'validated'
    AND e.last_outcome_at > %(now)s::timestamptz - interval '{shift.RECENT.days} days'"""
SUREST = "e.tier, e.settled_confidence DESC, e.id"
# section, what belongs there, in which order, how many, whether `since` applies
SECTIONS = (
    ("hot", HOT, SUREST, HOT_POOL, True),
    ("validated", STEADY, "e.last_outcome_at DESC, e.id", VALIDATED, True),
    ("discredited", FAILED, "e.discredited_at DESC, e.id", DISCREDITED, False),
    ("procedures", USABLE, SUREST, PROCEDURES, True),
    ("turned", TURNING, "e.last_outcome_at DESC, e.id", TURNED, False),
)
COLUMNS = """e.id, e.status, e.evidence_status, e.memory_type, e.tier, e.settled_confidence, e.last_outcome_at,
    e.discredited_at, e.success_count, e.failure_count, e.changed_at"""
# Of everything so many are looked at down each of these indexes: the surest, the hot and warm, those that failed.
LOOKED_AT = 1_000
SOME = (
    ("TRUE", "e.settled_confidence DESC, e.id"),
    ("e.tier < 3", "e.tier, e.id"),
    ("e.status = 'active' AND e.evidence_status IN ('contested', 'discredited')", "e.settled_confidence DESC, e.id"),
)


# What is summed for each author, in the order of their fields.
SUMMED = ("entries", "validated", "confidence_nanos", "outcome_linked", "untested", "contested", "discredited")


@dataclass(frozen=True, slots=True)
class Author:
    """What somebody wrote there."""

    agent_id: str
    entity_path: str
    entries: int
    validated: int
    confidence_nanos: int
    outcome_linked: int
    untested: int
    contested: int
    discredited: int


@dataclass(frozen=True, slots=True)
class Read:
    """What there is: rows by section, who wrote how much, past tasks, and what replaced what failed."""

    sections: Mapping[str, list[Row]]
    authors: list[Author]
    past: list[Episode]
    replaced: Mapping[int, Replaced] = field(default_factory=dict)

    def of(self, section: str) -> list[Row]:
        return self.sections.get(section, [])


def read(viewer: Viewer, entity_path: str | None, branch: str, now: datetime, since: datetime | None) -> Read:
    """Return what a briefing of an entity and what is below it is made from, or of everything."""
    question = Question(entity_path=entity_path, descendants=True, branch=branch)
    told = past.query(question, viewer)
    queries = [_sections(question, viewer, now, since), _authors(viewer, entity_path, branch)]
    found, authors, *rest = pipeline.read(*queries, *([told] if told else []))
    sections: dict[str, list[Row]] = defaultdict(list)
    for section, *row in found:
        sections[section].append(rows.row_of(row))
    before = [past.episode_of(row) for row in rest[0]] if rest else []
    return Read(sections, [Author(*row) for row in authors], before, _replaced(viewer, sections["discredited"]))


def _replaced(viewer: Viewer, failed: list[Row]) -> dict[int, Replaced]:
    if not failed:
        return {}
    (found,) = pipeline.read(replacements.query(viewer, [row.entry_id for row in failed]))
    successors = {row.entry_id: row.state.superseded_by for row in failed if row.state.superseded_by}
    return replacements.read(found, successors)


def _sections(question: Question, viewer: Viewer, now: datetime, since: datetime | None) -> Query:
    """Return one statement that goes through the entity's entries once and picks the few of each section."""
    made = Search(
        entity_path=question.entity_path, descendants=True, branch=question.branch, statuses=("active", "under_review")
    ).conditions(viewer, now)
    made.add(candidates.SERVED)
    picks = []
    for name, belongs, order, most, lately in SECTIONS:
        newer = " AND e.changed_at >= %(since)s" if lately and since else ""
        picks.append(
            f"(SELECT '{name}' AS section, row_number() OVER (ORDER BY {order}) AS place, e.id FROM there e"
            f" WHERE {belongs}{newer} ORDER BY {order} LIMIT {most})"
        )
    heads = candidates.HEADS.replace("SELECT e.id,", "SELECT p.section, e.id,", 1)
    there = _there(_wherever(made.where), whole=not question.entity_path)
    sql = f"""
        WITH there AS MATERIALIZED ({there}),
        picked AS ({" UNION ALL ".join(picks)})
        {heads} JOIN picked p ON p.id = e.id WHERE e.account_id = %(account)s ORDER BY p.section, p.place
    """
    return sql, {**made.values, "since": since}


def _wherever(where: str) -> str:
    """Return a condition whose plan does not look at which path it is, so that the database makes it once and keeps it.

    It would plan anew for each path otherwise, which takes longer than all that a briefing reads.
    """
    for name in ("path", "below", "beyond"):
        where = where.replace(f"%({name})s", f"(SELECT %({name})s)")
    return where


def _there(where: str, *, whole: bool) -> str:
    """Return the statement for the entries to pick from: of a whole account, which may be a million, some of them."""
    every = f"SELECT {COLUMNS} FROM memories_entry e {where}"
    if not whole:
        return every
    return " UNION ".join(f"({every} AND {those} ORDER BY {order} LIMIT {LOOKED_AT})" for those, order in SOME)


def _authors(viewer: Viewer, entity_path: str | None, branch: str) -> Query:
    """Return the statement for who wrote how much there, from sums that are kept anyway."""
    path = entity_path.rstrip("/") if entity_path else ""
    place = "(s.entity_path = %(path)s OR (s.entity_path >= %(below)s AND s.entity_path < %(beyond)s))"
    sql = f"""
        SELECT s.agent_id, min(s.entity_path), {", ".join(f"sum(s.{name})::bigint" for name in SUMMED)}
          FROM {figures.SOURCE}
         WHERE {figures.where(viewer)} AND {_wherever(place) if path else "TRUE"}
         GROUP BY s.agent_id HAVING sum(s.entries) > 0 ORDER BY 3 DESC, 1 LIMIT {AUTHORS}
    """
    values: dict[str, Any] = {**viewer.parameters, "branch": branch, "path": path}
    return sql, {**values, "below": f"{path}/", "beyond": f"{path}0"}

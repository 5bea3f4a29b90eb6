"""Candidates for a task: entries that share a word with it, or are near it in meaning."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from memories import rows, search, vectors
from memories.rules.kinds import EvidenceStatus
from memories.search import Search
from memories.viewers import Viewer
from outcomes.retrieval.question import DISCREDITED_BELOW, Question
from senselab.pipeline import Query

# Of a value so many characters are ranked by; of a procedure its preconditions have to be read as well.
LETTERS, PROCEDURE_LETTERS = 4_000, 65_536
CUT = f"left(c.value, CASE WHEN e.memory_type = 'procedure' THEN {PROCEDURE_LETTERS} ELSE {LETTERS} END),"
HEADS = rows.HEADS.replace("c.value,", CUT)
# What no task is about: the server's own scopes and writers, measurements, and lessons made of outcomes. A
# pattern costs more than a first letter.
SERVED = """(left(e.entity_path, 1) <> ALL('{_,b}') OR e.entity_path !~ '^_system(/|$)|^_?bench[-/]')
    AND e.agent_id <> ALL('{amfs-server,system,amfs}')
    AND (left(e.agent_id, 1) <> ALL('{_,b}') OR e.agent_id !~ '^_?bench[-/]')
    AND NOT starts_with(e.key, 'lesson-contrast-')"""


def by_words(question: Question, viewer: Viewer, now: datetime, ids: Collection[int]) -> Query:
    """Return the statement for the entries that share the most words with a question, and for some known by id."""
    best = search.statement(viewer, question.search(), now, question.pool)
    chosen = f"e.id = ANY(ARRAY(SELECT b.id FROM {best.sql} b) || %(ids)s::bigint[])"
    return _of(question, viewer, now, chosen, {**best.values, "ids": sorted(ids)})


def near(question: Question, viewer: Viewer, now: datetime, many: int) -> dict[int, float]:
    """Return the cosines of the entries nearest to a question in meaning, by id, of so `many` that have a vector."""
    asked = question.temporal.text
    if not asked or not many:
        return {}
    return dict(vectors.nearest(viewer, asked, question.search(), now, question.pool, many=many))


def surest(question: Question, viewer: Viewer, now: datetime) -> Query:
    """Return the statement for a question without words: the most certain entries."""
    return _surest(replace(question.search(), words=""), viewer, now)


def below_the_gate(question: Question, viewer: Viewer, now: datetime) -> Query | None:
    """Return the statement for discredited entries too uncertain to be served, which may be warned of, or rescued."""
    if not question.entity_path or question.min_confidence <= 0:
        return None
    gone = replace(
        question.search(),
        min_confidence=None,
        max_confidence=question.min_confidence,
        evidence=(EvidenceStatus.DISCREDITED.value,),
        limit=DISCREDITED_BELOW,
    )
    return _surest(gone, viewer, now)


def by_ids(question: Question, viewer: Viewer, now: datetime, ids: Collection[int]) -> Query:
    """Return the statement for entries known by id, as far as they may be served for a question."""
    return _of(question, viewer, now, "e.id = ANY(%(ids)s::bigint[])", {"ids": sorted(ids)})


def _of(question: Question, viewer: Viewer, now: datetime, chosen: str, values: Mapping[str, Any]) -> Query:
    made = replace(question.search(), words="").conditions(viewer, now)
    made.add(SERVED)
    made.add(chosen, **values)
    return f"{HEADS} {made.where}", made.values


def _surest(asked: Search, viewer: Viewer, now: datetime) -> Query:
    made = asked.conditions(viewer, now)
    made.add(SERVED)
    sql = f"{HEADS} {made.where} ORDER BY e.settled_confidence DESC, e.id LIMIT %(limit)s"
    return sql, {**made.values, "limit": asked.limit}

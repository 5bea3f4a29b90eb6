"""Candidates for a task: entries that share a word with it, or are near it in meaning; one statement each."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memories import rows, search
from memories.rules.kinds import EvidenceStatus
from memories.search import Search
from memories.viewers import Viewer
from outcomes.retrieval.question import DISCREDITED_BELOW, Question
from senselab.pipeline import Query

# Of a value so many characters are ranked by; of a procedure its preconditions have to be read as well.
LETTERS, PROCEDURE_LETTERS = 4_000, 65_536
CUT = f"left(c.value, CASE WHEN e.memory_type = 'procedure' THEN {PROCEDURE_LETTERS} ELSE {LETTERS} END),"
HEADS = rows.HEADS.replace("c.value,", CUT)
# What no task is about: the server's own scopes and writers, measurements, and lessons made of outcomes.
SERVED = """e.entity_path !~ '^_system(/|$)|^_?bench[-/]' AND e.agent_id !~ '^(amfs-server|system|amfs)$|^_?bench[-/]'
    AND NOT starts_with(e.key, 'lesson-contrast-')"""


def by_words(question: Question, viewer: Viewer, now: datetime) -> list[int]:
    """Return the ids of the entries that share the most words with a question."""
    return [one.entry_id for one in search.candidates(viewer, question.search(), now, question.pool)]


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


def by_ids(question: Question, viewer: Viewer, ids: Sequence[int], now: datetime) -> Query:
    """Return the statement for entries known by id, as far as they may be served for a question."""
    made = replace(question.search(), words="").conditions(viewer, now)
    made.add(SERVED)
    made.add("e.id = ANY(%(ids)s)", ids=list(ids))
    return f"{HEADS} {made.where}", made.values


def _surest(asked: Search, viewer: Viewer, now: datetime) -> Query:
    made = asked.conditions(viewer, now)
    made.add(SERVED)
    sql = f"{HEADS} {made.where} ORDER BY e.settled_confidence DESC, e.id LIMIT %(limit)s"
    return sql, {**made.values, "limit": asked.limit}

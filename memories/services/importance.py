"""How important entries are, said by an evaluator where nobody else said it: off unless a setting names one.

An evaluator is a function that is given entries (`Seen`, at most `BATCH` at a time, oldest claim first) and returns as
many answers in the same order: an `Importance`, or None for one it has no opinion on. The setting IMPORTANCE_EVALUATOR
is its dotted path; `memories.services.importance.heuristic` is one that needs nothing. It runs in a job each hour, so
it may take its time; what it raises fails that run. Scores that agents sent are never replaced. Its own carry the
dimension `evaluated`, the moment they were made, and are made anew when the claim changes.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.conf import settings
from django.db import connection, transaction
from django.utils.module_loading import import_string

from senselab.errors import Refusal

BATCH = 500
VALUE_LETTERS = 65_536
MARK = "evaluated"


@dataclass(frozen=True, slots=True)
class Seen:
    """What an evaluator sees of an entry; `value` is JSON text, cut after 65,536 characters."""

    id: int
    entity_path: str
    key: str
    value: str
    memory_type: str
    agent_id: str
    written_at: datetime
    confidence: float
    evidence_status: str
    outcome_count: int
    recall_count: int
    references: int


@dataclass(frozen=True, slots=True)
class Importance:
    """A score in 0..1 and what it is made of, by name."""

    score: float
    dimensions: Mapping[str, float]


Evaluator = Callable[[Sequence[Seen]], Sequence[Importance | None]]


class BadEvaluator(Refusal):
    """An evaluator answered what cannot be stored."""

    title = "Bad evaluator"


UNSCORED = """
    SELECT e.id, e.entity_path, e.key, left(c.value, %(letters)s), e.memory_type, e.agent_id, e.written_at,
           e.confidence, e.evidence_status, e.outcome_count, coalesce(r.recall_count, 0), cardinality(c.pattern_refs)
      FROM memories_entry e
      JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
      LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id
     WHERE e.account_id = %(account)s AND e.status = 'active' AND e.id > %(after)s
       AND (e.importance_score IS NULL
            OR (e.importance_dimensions ? 'evaluated'
                AND e.written_at > to_timestamp((e.importance_dimensions->>'evaluated')::float8)))
     ORDER BY e.id LIMIT %(limit)s
"""
STORE = """
    UPDATE memories_entry e SET importance_score = g.score, importance_dimensions = g.dimensions::jsonb
      FROM unnest(%(ids)s::bigint[], %(scores)s::float8[], %(dimensions)s::text[]) AS g(id, score, dimensions)
     WHERE e.account_id = %(account)s AND e.id = g.id AND e.id = ANY(%(mine)s)
"""
LOCK = """
    SELECT e.id FROM memories_entry e WHERE e.account_id = %(account)s AND e.id = ANY(%(ids)s)
     ORDER BY e.id FOR NO KEY UPDATE SKIP LOCKED
"""


def evaluator() -> Evaluator | None:
    """Return the evaluator that is turned on, None when none is."""
    path: str = settings.IMPORTANCE_EVALUATOR
    return import_string(path) if path else None


def unscored(account_id: int, after: int, limit: int = BATCH) -> list[Seen]:
    """Return the next active entries that nobody scored, or whose claim changed since the evaluator did."""
    values = {"account": account_id, "after": after, "limit": limit, "letters": VALUE_LETTERS}
    with connection.cursor() as cursor:
        cursor.execute(UNSCORED, values)
        return [Seen(*row) for row in cursor.fetchall()]


def evaluate(account_id: int, seen: Sequence[Seen], judge: Evaluator, now: datetime) -> int:
    """Let an evaluator score entries, store what it says in place, and return of how many.

    :raises BadEvaluator: it answered fewer or more, or a score that is none.
    """
    answers = judge(seen)
    if len(answers) != len(seen):
        raise BadEvaluator(f"The evaluator was given {len(seen)} entries and answered {len(answers)}.")
    said = [(entry, answer) for entry, answer in zip(seen, answers, strict=True) if answer is not None]
    for entry, answer in said:
        check(entry, answer)
    return store(account_id, said, now) if said else 0


def check(entry: Seen, answer: Importance) -> None:
    """:raises BadEvaluator: a score outside of 0..1, or a dimension that is no number."""
    if not (math.isfinite(answer.score) and 0 <= answer.score <= 1):
        raise BadEvaluator(f"A score lies between 0 and 1; {entry.entity_path}/{entry.key} was given {answer.score}.")
    if not all(math.isfinite(value) for value in answer.dimensions.values()):
        raise BadEvaluator(f"A dimension of {entry.entity_path}/{entry.key} is no finite number.")


@transaction.atomic
def store(account_id: int, said: Sequence[tuple[Seen, Importance]], now: datetime) -> int:
    ids = [entry.id for entry, _ in said]
    dimensions = [{**answer.dimensions, MARK: now.timestamp()} for _, answer in said]
    values: dict[str, Any] = {
        "account": account_id,
        "ids": ids,
        "scores": [answer.score for _, answer in said],
        "dimensions": [msgspec.json.encode(one).decode() for one in dimensions],
    }
    with connection.cursor() as cursor:
        cursor.execute(LOCK, {"account": account_id, "ids": ids})
        mine = [entry_id for (entry_id,) in cursor.fetchall()]
        cursor.execute(STORE, {**values, "mine": mine})
        return cursor.rowcount


KINDS = {"procedure": 0.9, "fact": 0.6, "experience": 0.5, "belief": 0.3}
PREFIXES = {"risk-": 1.0, "decision-": 0.9, "correction-": 0.9, "pattern-": 0.8, "task-summary-": 0.3}
WEIGHTS = {"trust": 0.4, "proof": 0.2, "kind": 0.15, "topic": 0.1, "use": 0.1, "substance": 0.05}


def heuristic(seen: Sequence[Seen]) -> list[Importance | None]:
    """Score by what is known without reading for meaning: trust, proof, kind, topic, use and substance."""
    return [weighed(parts_of(entry)) for entry in seen]


def weighed(parts: Mapping[str, float]) -> Importance:
    return Importance(sum(WEIGHTS[name] * value for name, value in parts.items()), parts)


def parts_of(entry: Seen) -> dict[str, float]:
    """Return the dimensions of an entry, each in 0..1."""
    topic = next((value for prefix, value in PREFIXES.items() if entry.key.startswith(prefix)), 0.5)
    return {
        "trust": 0.0 if entry.evidence_status == "discredited" else entry.confidence,
        "proof": 1 - 1 / (1 + entry.outcome_count),
        "kind": KINDS.get(entry.memory_type, 0.5),
        "topic": topic,
        "use": 1 - 1 / (1 + entry.recall_count + entry.references),
        "substance": min(1.0, len(entry.value) / 400),
    }

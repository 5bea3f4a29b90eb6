"""A question answered: what is read, in at most two round trips, and what is told beside the ranking."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memories import rows
from memories.rows import Row
from memories.rules.policy import Policy
from memories.viewers import Viewer
from outcomes.retrieval import candidates, past, ranking, replacements
from outcomes.retrieval.question import Question
from outcomes.retrieval.ranking import Candidate, Ranking
from outcomes.retrieval.replacements import Replaced
from outcomes.rules import actions, guidance, recommendation
from outcomes.rules.episodes import Episode
from senselab import pipeline


@dataclass(frozen=True, slots=True)
class Read:
    """What a question is answered from."""

    rows: list[Row]
    past: list[Episode]


@dataclass(frozen=True, slots=True)
class Answer:
    """A ranking whose hits have their whole values, what to avoid, and what the record of actions suggests."""

    ranking: Ranking
    hits: list[Candidate]
    avoid: list[Candidate]
    replaced: dict[int, Replaced]
    priors: dict[str, Any] | None
    recommendation: dict[str, Any] | None
    strength: str


def answer(question: Question, viewer: Viewer, now: datetime) -> Answer:
    """Return what a question gets."""
    known = read(question, viewer, now)
    return complete(question, viewer, ranked(question, known, viewer.policy, now), known.past, now)


def ranked(question: Question, known: Read, policy: Policy, now: datetime) -> Ranking:
    """Return the ranking of what was read."""
    return ranking.rank(question, known.rows, known.past, now, policy)


def read(question: Question, viewer: Viewer, now: datetime) -> Read:
    """Return candidates and past tasks; one more round trip only for what resolved such tasks and shares no word."""
    if question.terms:
        first = candidates.by_ids(question, viewer, candidates.by_words(question, viewer, now), now)
    else:
        first = candidates.surest(question, viewer, now)
    below = candidates.below_the_gate(question, viewer, now)
    told = past.query(question, viewer)
    results = iter(pipeline.fetch(*(query for query in (first, below, told) if query)))
    found = {row.entry_id: row for row in map(rows.row_of, next(results))}
    if below:
        found = {row.entry_id: row for row in map(rows.row_of, next(results))} | found
    before = [past.episode_of(row) for row in next(results)] if told else []
    missing = ranking.resolvers(question, before) - set(found)
    if missing:
        (more,) = pipeline.fetch(candidates.by_ids(question, viewer, sorted(missing), now))
        found |= {row.entry_id: row for row in map(rows.row_of, more)}
    return Read(list(found.values()), before)


def complete(question: Question, viewer: Viewer, order: Ranking, before: Sequence[Episode], now: datetime) -> Answer:
    """Return a ranking with what it takes to be told."""
    warned = order.avoid if question.avoid else []
    hits, warned, replaced = _whole(viewer, order.hits, warned)
    priors, advice = _record(question, order, before, now)
    strength = guidance.strength((one.status for one in hits), priors, shifted=order.scope is not None)
    return Answer(order, hits, warned, replaced, priors, advice, strength)


VALUES = """
    SELECT e.id, c.value FROM memories_entry e
      JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
     WHERE e.account_id = %(account)s AND e.id = ANY(%(ids)s)
"""


def _whole(
    viewer: Viewer, hits: Sequence[Candidate], warned: Sequence[Candidate]
) -> tuple[list[Candidate], list[Candidate], dict[int, Replaced]]:
    """Return hits and warnings with their whole values, and what replaced what is warned of."""
    shown = [*hits, *warned]
    long = [one.row.entry_id for one in shown if len(one.row.value) >= candidates.LETTERS]
    queries: list[pipeline.Query] = []
    if long:
        queries.append((VALUES, {"account": viewer.account_id, "ids": long}))
    if warned:
        queries.append(replacements.query(viewer, [one.row.entry_id for one in warned]))
    results = iter(pipeline.fetch(*queries) if queries else [])
    values: dict[int, str] = dict(next(results)) if long else {}
    successors = {one.row.entry_id: one.row.state.superseded_by for one in warned if one.row.state.superseded_by}
    replaced = replacements.read(next(results), successors) if warned else {}
    filled = [_with_value(one, values) for one in shown]
    return filled[: len(hits)], filled[len(hits) :], replaced


def _with_value(one: Candidate, values: dict[int, str]) -> Candidate:
    value = values.get(one.row.entry_id)
    return one if value is None else replace(one, row=replace(one.row, value=value))


def _record(
    question: Question, ranked: Ranking, before: Sequence[Episode], now: datetime
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    if not question.priors or not question.entity_path:
        return None, None
    path = question.entity_path
    here = [one for one in before if question.is_about(one.paths)]
    asked = actions.Asked(question.temporal.text, question.situation, path, question.candidates, question.environment)
    priors = actions.priors(here, ranked.found, asked, now)
    advice = recommendation.recommend(
        priors,
        question.candidates,
        shifted=ranked.scope is not None,
        may_abstain=question.abstain,
        validated=any(one.status == "validated" for one in ranked.hits),
    )
    return priors, advice

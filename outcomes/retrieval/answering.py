"""A question answered: what is read, in two round trips, and what is told beside the ranking, in one if anything is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memories import rows, search, vectors
from memories.rows import Row
from memories.rules.policy import Policy
from memories.viewers import Viewer
from outcomes.retrieval import candidates, experience, past, ranking, replacements
from outcomes.retrieval.experience import Alike
from outcomes.retrieval.judging import Candidate
from outcomes.retrieval.question import Question
from outcomes.retrieval.ranking import Ranking
from outcomes.retrieval.replacements import Replaced
from outcomes.rules import actions, guidance, recommendation
from outcomes.rules.episodes import Episode
from senselab import pipeline


@dataclass(frozen=True, slots=True)
class Read:
    """What a question is answered from."""

    rows: list[Row]
    alike: Alike
    # Cosines by entry id, of what is near the question in meaning.
    near: Mapping[int, float] = field(default_factory=dict)


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
    return complete(question, viewer, ranked(question, known, viewer.policy, now), known, now)


def ranked(question: Question, known: Read, policy: Policy, now: datetime) -> Ranking:
    """Return the ranking of what was read."""
    return ranking.rank(question, known.rows, known.alike, now, policy, cosines=known.near)


def read(question: Question, viewer: Viewer, now: datetime) -> Read:
    """Return past tasks, then candidates, among them what resolved such tasks: two round trips, three with vectors."""
    known = _before(question, viewer, now)
    alike = experience.alike(question, known.past)
    near = candidates.near(question, viewer, now, known.vectors)
    more = experience.resolvers(alike) | set(near)
    if question.terms:
        queries = [candidates.by_words(question, viewer, now, more)]
    else:
        queries = [candidates.surest(question, viewer, now), candidates.by_ids(question, viewer, now, more)]
    with pipeline.planned_anew():
        found = pipeline.read(*queries)
    told = {row.entry_id: row for part in (known.failed, *found) for row in map(rows.row_of, part)}
    return Read(list(told.values()), alike, near)


@dataclass(frozen=True, slots=True)
class Before:
    """What is known before candidates are looked for: past tasks, rows of what failed, how many vectors there are."""

    past: list[Episode]
    failed: list[tuple[Any, ...]]
    vectors: int


def _before(question: Question, viewer: Viewer, now: datetime) -> Before:
    """Return what is known before, and learn the stems of the words meanwhile."""
    queries = {
        "stems": search.unstemmed(search.words_of(question.search())),
        "past": past.query(question, viewer),
        "failed": candidates.below_the_gate(question, viewer, now),
        "vectors": vectors.counting(viewer),
    }
    asked = {name: query for name, query in queries.items() if query}
    with pipeline.planned_anew():
        found = dict(zip(asked, pipeline.fetch(*asked.values()), strict=True)) if asked else {}
    search.remember((word, stem) for word, stem in found.get("stems", ()))
    counted = sum(many for (many,) in found.get("vectors", ()))
    return Before([past.episode_of(row) for row in found.get("past", ())], found.get("failed", []), counted)


def complete(question: Question, viewer: Viewer, order: Ranking, known: Read, now: datetime) -> Answer:
    """Return a ranking with what it takes to be told."""
    warned = order.avoid if question.avoid else []
    hits, warned, replaced = _whole(viewer, order.hits, warned)
    priors, advice = _record(question, order, known.alike.here, now)
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
    question: Question, ranked: Ranking, here: Sequence[Episode], now: datetime
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    if not question.priors or not question.entity_path:
        return None, None
    path = question.entity_path
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

"""From candidates and past tasks to a ranking: pure, so that it can be asked again with one entry changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec

from memories.rows import Row
from memories.rules import evidence
from memories.rules.kinds import EvidenceStatus, MemoryType, Status
from memories.rules.policy import Policy
from outcomes.retrieval.question import Question
from outcomes.rules import cutting, episodes, nearby, preconditions, relevance, scoring, shift, terms
from outcomes.rules.cutting import Ranked
from outcomes.rules.episodes import Episode, Near, Scale
from outcomes.rules.nearby import Local
from outcomes.rules.scoring import Score, Signals
from outcomes.rules.shift import Lately, Rule

IN_QUERY = 10
DISCREDITED, CONTESTED = EvidenceStatus.DISCREDITED.value, EvidenceStatus.CONTESTED.value


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry judged for a question. `why_out` says why it is no hit, '' for a hit; `below` is what outranks it."""

    row: Row
    score: Score
    value: float
    status: str
    local: Local | None = None
    rescued: bool = False
    failing: bool = False
    below: str = ""
    why_out: str = ""
    details: tuple[str, ...] = ()

    @property
    def is_warning(self) -> bool:
        return self.why_out in WARNINGS


# Why something is no hit, as the playground tells it.
IS_DISCREDITED, FAILS_HERE, IN_REVIEW = "discredited", "fails on tasks like this", "under review"
ELSEWHERE, FAR, NEEDLESS, TOO_MANY = (
    "not for this environment",
    "far from the query",
    "adds nothing",
    "beyond the limit",
)
WARNINGS = frozenset({IS_DISCREDITED, FAILS_HERE, IN_REVIEW})
AVOIDED = 3


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a question gets: hits, best first; what was left out and why; past tasks like it; whether rules turned."""

    hits: list[Candidate]
    out: list[Candidate]
    found: list[Near]
    turned: list[str] = field(default_factory=list)
    scope: str | None = None

    @property
    def avoid(self) -> list[Candidate]:
        """Return what to warn of: newest last outcome first, at most three."""
        warned = [one for one in self.out if one.is_warning and _is_about(one)]
        return sorted(warned, key=lambda one: _moment(one.row), reverse=True)[:AVOIDED]


def _is_about(one: Candidate) -> bool:
    signals = one.score.signals
    return signals.keyword > 0 or signals.semantic >= cutting.LEAST_SEMANTIC


def _moment(row: Row) -> float:
    return (row.state.last_outcome_at or row.written_at).timestamp()


@dataclass(frozen=True, slots=True)
class Alike:
    """Past tasks weighed for a question: of its entity, of others, and those like it, most alike first."""

    here: list[Episode]
    away: list[Episode]
    found: list[Near]
    by: Scale
    tells: Mapping[str, float]


def alike(question: Question, past: Sequence[Episode]) -> Alike:
    """Weigh past tasks. Those of other entities set no measure for those of this one."""
    task = question.temporal.text
    here = [one for one in past if question.is_about(one.paths)]
    away = [one for one in past if not question.is_about(one.paths)]
    tells = episodes.telling(here)
    by = episodes.scale(task, here, tells)
    return Alike(here, away, episodes.near(task, question.situation, here, by=by), by, tells)


def resolvers(alike: Alike) -> set[int]:
    """Return the entries that tasks like this one were resolved with, which may share no word with it."""
    return {entry_id for one in alike.found if one.weight >= nearby.TELLING for entry_id in one.episode.resolved_by}


def rank(
    question: Question,
    rows: Sequence[Row],
    known: Alike,
    now: datetime,
    policy: Policy,
    *,
    cosines: Mapping[int, float] | None = None,
) -> Ranking:
    """Return the ranking of candidates for a question; `cosines`, by entry id, come from vectors."""
    task = question.temporal.text
    told = nearby.events(known.found, {row.entry_id: row.written_at for row in rows}, task, known.by)
    judged = _judged(question, rows, known, told, now, policy, cosines or {})
    turned = [one for one in judged if _turned(one.row, known.here, now)]
    scores, below = nearby.ordered({one.row.entry_id: one.value for one in judged if not one.why_out}, told)
    names = {row.entry_id: row.entry_key for row in rows}
    placed = [
        replace(one, value=scores.get(one.row.entry_id, one.value), below=names.get(below.get(one.row.entry_id, 0), ""))
        for one in judged
    ]
    order = sorted(placed, key=lambda one: (-one.value, -one.score.trust, one.row.entry_id))
    leading = {one.row.entry_id for one in order[:IN_QUERY]}
    in_query = any(one.row.entry_id in leading for one in turned)
    scope = "query" if in_query else "entity" if turned and question.entity_path else None
    hits, out = _cut(question, order, shifted=in_query)
    elsewhere = episodes.near(task, question.situation, known.away) if question.priors else []
    return Ranking(hits, out, [*known.found, *elsewhere], [one.row.entry_key for one in turned] if scope else [], scope)


def _judged(
    question: Question,
    rows: Sequence[Row],
    known: Alike,
    told: Mapping[int, list[nearby.Event]],
    now: datetime,
    policy: Policy,
    cosines: Mapping[int, float],
) -> list[Candidate]:
    texts = [relevance.text_of(row.entity_path, row.key, row.value[: terms.LETTERS]) for row in rows]
    tasks = [terms.of_task(one.task) for one in known.here if question.entity_path and one.task]
    over = relevance.scale(question.terms, texts, tasks, known.tells)
    judged = []
    for row, text in zip(rows, texts, strict=True):
        local = nearby.local(told[row.entry_id]) if row.entry_id in told else None
        lexical = relevance.lexical(over, text)
        semantic = max(lexical, min(1.0, cosines.get(row.entry_id, 0.0)))
        signals = Signals(
            semantic=semantic,
            keyword=relevance.keyword(over, text),
            confidence=row.state.confidence * row.freshness(now, policy),
            evidence=evidence.signal(row.state.record),
            age_days=scoring.days_between(row.written_at, now),
            is_artifact=row.is_artifact,
            is_procedure=row.state.memory_type == MemoryType.PROCEDURE,
        )
        judged.append(judge(question, row, signals, local))
    return judged


def judge(question: Question, row: Row, signals: Signals, local: Local | None) -> Candidate:
    """Return one entry scored, with what nearby tasks say of it, and the first reason why it must not be a hit."""
    state = row.state
    discredited = state.evidence_status == DISCREDITED
    rescued = discredited and local is not None and local.rescues
    if rescued:
        masses = state.evidence_success - state.evidence_failure
        signals = replace(
            signals,
            confidence=max(scoring.RESCUED_CONFIDENCE, signals.confidence),
            evidence=masses / (1 + state.evidence_success + state.evidence_failure),
        )
    if local is not None:
        signals = scoring.with_local(signals, local.signal, local.weight)
    failing = local is not None and local.fails and not discredited
    why = ""
    details: tuple[str, ...] = ()
    if discredited and not rescued and not question.discredited:
        why = IS_DISCREDITED
    elif state.status == Status.UNDER_REVIEW and not discredited:
        why = IN_REVIEW
    elif failing and not question.discredited:
        why = FAILS_HERE
    elif signals.is_procedure and question.environment:
        verdict, reasons = preconditions.judge(value_of(row), question.environment)
        why, details = (ELSEWHERE, tuple(reasons)) if verdict == preconditions.NOT_APPLICABLE else ("", ())
    score = scoring.score(signals, question.weights, question.temporal.boost)
    status = CONTESTED if rescued else state.evidence_status
    return Candidate(row, score, score.value, status, local, rescued, failing, why_out=why, details=details)


def value_of(row: Row) -> Any:
    """Return a value as it is, None where only its beginning was read."""
    try:
        return msgspec.json.decode(row.value)
    except msgspec.DecodeError:
        return None


def _turned(row: Row, past: Sequence[Episode], now: datetime) -> bool:
    state = row.state
    if state.success_count < shift.SUCCESSES or not state.failure_count or state.evidence_status == "validated":
        return False
    lately = tuple(
        Lately(use.won, one.session_id, one.verified)
        for one in past
        for use in one.uses
        if use.entry_id == row.entry_id
    )
    last_won = None if state.last_outcome is None else state.last_outcome in ("success", "clean_deploy")
    rule = Rule(
        state.success_count, state.failure_count, state.evidence_status, last_won, state.last_outcome_at, lately
    )
    return shift.turned(rule, now)


def _cut(question: Question, order: Sequence[Candidate], *, shifted: bool) -> tuple[list[Candidate], list[Candidate]]:
    """Return hits and what was left out, each with its reason."""
    out = [one for one in order if one.why_out]
    hits = [one for one in order if not one.why_out]
    if question.terms:
        hits, out = _without(hits, out, cutting.far([_plain(one) for one in hits]), FAR)
    if question.adaptive_k:
        hits, out = _without(hits, out, cutting.needless([_plain(one) for one in hits], shifted=shifted), NEEDLESS)
    return _without(hits, out, set(range(question.limit, len(hits))), TOO_MANY)


def _without(
    hits: list[Candidate], out: list[Candidate], places: set[int], why: str
) -> tuple[list[Candidate], list[Candidate]]:
    kept = [one for at, one in enumerate(hits) if at not in places]
    return kept, [*out, *(replace(one, why_out=why) for at, one in enumerate(hits) if at in places)]


def _plain(one: Candidate) -> Ranked:
    signals = one.score.signals
    return Ranked(
        score=one.value,
        semantic=signals.semantic,
        relevance=one.score.relevance,
        keyword=signals.keyword,
        status=one.status,
        rescued=one.rescued,
        failing=one.failing,
        proven=one.local is not None and one.local.signal > 0,
    )

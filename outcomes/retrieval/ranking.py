"""From candidates and past tasks to a ranking: pure, so that it can be asked again with one entry changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memories.rows import Row
from memories.rules import evidence
from memories.rules.kinds import EvidenceStatus, MemoryType
from memories.rules.policy import Policy
from outcomes.retrieval import experience, twinned
from outcomes.retrieval.experience import Alike
from outcomes.retrieval.judging import AVOIDED, FAR, NEEDLESS, TOO_MANY, Candidate, judge
from outcomes.retrieval.question import Question
from outcomes.rules import cutting, episodes, nearby, relevance, scoring, shift, terms
from outcomes.rules.cutting import Ranked
from outcomes.rules.episodes import Episode, Near
from outcomes.rules.relevance import Text
from outcomes.rules.scoring import Signals
from outcomes.rules.shift import Lately, Rule

IN_QUERY = 10
VALIDATED = EvidenceStatus.VALIDATED.value


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
    texts = {row.entry_id: relevance.text_of(row.entity_path, row.key, row.value[: terms.LETTERS]) for row in rows}
    known = experience.with_entries(question, known, list(texts.values()))
    told = nearby.events(known.found, {row.entry_id: row.written_at for row in rows}, task, known.by)
    judged = _judged(question, rows, texts, known, told, now, policy, cosines or {})
    turned = [one for one in judged if _turned(one.row, known.here, now)]
    placed = _placed(question, judged, texts, known, told)
    order = sorted(placed, key=lambda one: (-one.value, -one.score.trust, one.row.entry_id))
    leading = {one.row.entry_id for one in order[:IN_QUERY]}
    in_query = any(one.row.entry_id in leading for one in turned)
    scope = "query" if in_query else "entity" if turned and question.entity_path else None
    hits, out = _cut(question, order, shifted=in_query)
    elsewhere = episodes.near(task, question.situation, known.away) if question.priors else []
    return Ranking(hits, out, [*known.found, *elsewhere], [one.row.entry_key for one in turned] if scope else [], scope)


def _placed(
    question: Question,
    judged: Sequence[Candidate],
    texts: Mapping[int, Text],
    known: Alike,
    told: Mapping[int, list[nearby.Event]],
) -> list[Candidate]:
    """Return candidates with what their order is by: their scores, but for what was beaten and what fits less."""
    best = twinned.tried(judged, texts, known) if known.here else {}
    judged = twinned.rescued(question, judged, best, known)
    scores, below = nearby.ordered({one.row.entry_id: one.value for one in judged if not one.why_out}, told)
    scores, less = twinned.ordered(question, scores, best, below, known)
    names = {one.row.entry_id: one.row.entry_key for one in judged}
    return [
        replace(
            one,
            value=scores.get(one.row.entry_id, one.value),
            below=names.get(below.get(one.row.entry_id, 0), ""),
            fits_less=names.get(less.get(one.row.entry_id, 0), ""),
        )
        if one.row.entry_id in below or one.row.entry_id in less or scores.get(one.row.entry_id, one.value) != one.value
        else one
        for one in judged
    ]


def _judged(
    question: Question,
    rows: Sequence[Row],
    texts: Mapping[int, Text],
    known: Alike,
    told: Mapping[int, list[nearby.Event]],
    now: datetime,
    policy: Policy,
    cosines: Mapping[int, float],
) -> list[Candidate]:
    tasks = [terms.of_task(one.task) for one in known.here if question.entity_path and one.task]
    over = relevance.scale(question.terms, list(texts.values()), tasks, known.tells)
    judged = []
    for row in rows:
        text = texts[row.entry_id]
        local = nearby.local(told[row.entry_id]) if row.entry_id in told else None
        lexical = relevance.lexical(over, text)
        semantic = max(lexical, min(1.0, cosines.get(row.entry_id, 0.0)), local.worked if local else 0.0)
        signals = Signals(
            semantic=semantic,
            keyword=relevance.keyword(over, text),
            confidence=row.state.confidence * row.freshness(now, policy),
            evidence=evidence.signal(row.state),
            age_days=scoring.days_between(row.written_at, now),
            is_artifact=row.is_artifact,
            is_procedure=row.state.memory_type == MemoryType.PROCEDURE,
        )
        judged.append(judge(question, row, signals, local))
    return judged


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
    if question.adaptive_k and hits and hits[0].status == VALIDATED:
        hits, out = _without(hits, out, cutting.needless([_plain(one) for one in hits], shifted=shifted), NEEDLESS)
    return _without(hits, out, set(range(question.limit, len(hits))), TOO_MANY)


def _without(
    hits: list[Candidate], out: list[Candidate], places: set[int], why: str
) -> tuple[list[Candidate], list[Candidate]]:
    kept = [one for at, one in enumerate(hits) if at not in places]
    return kept, [*out, *(one.left_out(why) for at, one in enumerate(hits) if at in places)]


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

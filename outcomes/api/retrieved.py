"""Hits, warnings and what is told beside them, as they travel (contract.md 1.4)."""

from datetime import datetime
from typing import Any

import msgspec

from memories.api import wire
from memories.viewers import Viewer
from outcomes.retrieval.answering import Answer
from outcomes.retrieval.judging import ELSEWHERE, Candidate
from outcomes.retrieval.question import Question
from outcomes.retrieval.replacements import Replaced
from outcomes.rules import budget, compact

NOTHING = Replaced()


def rows(
    question: Question, answer: Answer, viewer: Viewer, now: datetime, *, most: int | None = None
) -> list[dict[str, Any]]:
    """Return an answer: hits, then warnings, then what is told beside them where it was asked for.

    With `most`, of hits and warnings only the first that fit into so many tokens.
    """
    told = [hit(one, viewer, now) for one in answer.hits]
    if question.compact:
        shown = zip(told, answer.hits, strict=True)
        told = [compact.row(row, place, one.row.value) for place, (row, one) in enumerate(shown)]
    for one in answer.avoid:
        told.append(warning(one, answer.replaced.get(one.row.entry_id, NOTHING), viewer, now, short=question.compact))
    if most is not None:
        told = budget.first(told, most, lambda row: budget.tokens_of(msgspec.json.encode(row).decode()))
    if tells_more(question):
        told.append(meta(answer))
    return told


def tells_more(question: Question) -> bool:
    return bool(question.priors or question.abstain or question.environment or question.situation or question.compact)


def hit(one: Candidate, viewer: Viewer, now: datetime) -> dict[str, Any]:
    """Return a hit with its score and the parts of it."""
    told = wire.entry(one.row, now, viewer.policy)
    told["evidence_status"] = one.status
    told["_score"] = round(one.value, 4)
    told["_breakdown"] = breakdown(one)
    if one.rescued:
        told["_rescued"] = True
    return told


def breakdown(one: Candidate) -> dict[str, Any]:
    """Return what a score is made of; `below` and `fits_less` name what outranks an entry."""
    signals = one.score.signals
    told = {
        **one.score.told(),
        "evidence_status": one.status,
        "is_artifact": signals.is_artifact,
        "is_procedure": signals.is_procedure,
    }
    if one.local is not None:
        told["evidence_local"] = one.local.told()
    if one.below:
        told["below"] = one.below
    if one.fits_less:
        told["fits_less"] = one.fits_less
    return told


def warning(one: Candidate, replaced: Replaced, viewer: Viewer, now: datetime, *, short: bool) -> dict[str, Any]:
    """Return what to avoid, what replaced it, and which action resolved what it did not."""
    told = wire.entry(one.row, now, viewer.policy)
    state = one.row.state
    told |= {"_score": 0.0, "_avoid": True}
    told["_breakdown"] = {
        "evidence": -1.0,
        "evidence_status": "discredited",
        "failure_count": state.failure_count,
        "last_outcome": state.last_outcome,
        "locally_discredited": one.failing,
        "replaced_by": replaced.by,
        "resolved_with_action": replaced.action,
        "why": one.why_out,
    }
    if not short:
        return told
    kept = told["_breakdown"]
    brief = compact.row(told, 0, "null") | {"_breakdown": kept}
    failed_on = state.last_outcome_at.date().isoformat() if state.failure_count and state.last_outcome_at else ""
    brief["value"] = compact.warning(one.why_out, failed_on, replaced.by, replaced.action)
    return brief


def meta(answer: Answer) -> dict[str, Any]:
    """Return the last element: what is known of actions, whether rules turned, and how much to lean on the answer."""
    told: dict[str, Any] = {
        "_meta": True,
        "priors": answer.priors,
        "recommendation": answer.recommendation,
        "regime_shift": answer.ranking.scope is not None,
        "regime_shift_scope": answer.ranking.scope,
        "guidance_strength": answer.strength,
    }
    elsewhere = [one for one in answer.ranking.out if one.why_out == ELSEWHERE]
    if elsewhere:
        told["not_applicable"] = [
            {"entity_path": one.row.entity_path, "key": one.row.key, "why": list(one.details)} for one in elsewhere
        ]
    return told

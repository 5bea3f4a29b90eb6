"""The playground: what an agent would get for a task, why, and what if an entry stood otherwise. No recall counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from memories.rules import names
from memories.rules.kinds import MemoryType
from memories.ui.people import viewer_of
from memories.viewers import Viewer
from outcomes.retrieval import answering, prose, supposing
from outcomes.retrieval.answering import Answer
from outcomes.retrieval.judging import Candidate
from outcomes.retrieval.question import Question
from outcomes.rules import budget, preconditions, scoring
from senselab import addresses
from senselab.addresses import Given, Unfit, one_of, text
from senselab.ui import for_people, render_page

QUERY, OUT, TOKENS = 2_000, 50, 800
DEPTHS = {"hot": 1, "warm": 2, "all": 3}
LABELS = {
    "q": "task", "path": "entity", "agent": "agent", "depth": "depth", "type": "type", "limit": "hits",
    "least": "least confidence",
    "tokens": "tokens", "entry": "entry", "were": "were", **{f"env_{name}": name for name in preconditions.NAMES},
}  # fmt: skip


def number(given: Given, least: float, most: float) -> float:
    """:raises Unfit: it is no number of that range."""
    try:
        value = float(given.last)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise Unfit(f"A number from {least:g} to {most:g} is meant.")
    return value


def said(name: str, given: Given) -> dict[str, str]:
    return {f"env_{name}": text(given.last, 256)}


PARSERS: addresses.Parsers = {
    "q": lambda given: {"query": text(given.last, QUERY)},
    "path": lambda given: {"entity_path": names.clean_path(given.last, pointer="")},
    "agent": lambda given: {"agent": names.clean_name(given.last, pointer="")},
    "depth": lambda given: {"depth": DEPTHS[one_of(DEPTHS, given.values)[-1]]},
    "type": lambda given: {"memory_types": tuple(one_of([kind.value for kind in MemoryType], given.values))},
    "limit": lambda given: {"limit": int(number(given, 1, 50))},
    "least": lambda given: {"min_confidence": number(given, 0, 1)},
    "tokens": lambda given: {"tokens": int(number(given, 50, 100_000))},
    "entry": lambda given: {"entry": text(given.last, 2_000)},
    "were": lambda given: {"were": one_of(supposing.WERE, given.values)[-1]},
    **{f"env_{name}": partial(said, name) for name in preconditions.NAMES},
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a score: its number, its share of 0..1 as a bar, and what it is multiplied by."""

    word: str
    value: float
    bar: list[tuple[str, float]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate on the page; `place` counts from 1, `was` is its place before the supposition."""

    one: Candidate
    place: int
    was: int | None
    parts: list[Part]


@require_safe
@for_people
def recall(request: HttpRequest) -> HttpResponse:
    """Show what an agent would get for a task, the score in its parts, what was left out, the text it would read."""
    query, now = request.GET, timezone.now()
    asked, problems = addresses.parse(query, PARSERS, LABELS, now)
    context: dict[str, Any] = {
        "given": query,
        "problems": problems,
        "types": [kind.value for kind in MemoryType],
        "depths": list(DEPTHS),
        "were": list(supposing.WERE),
        "environment": [
            (f"env_{name}", name.replace("_", " "), query.get(f"env_{name}", "")) for name in preconditions.NAMES
        ],
    }
    if asked.get("query") and not problems:
        context |= answered(question_of(asked), speaker(viewer_of(request), asked), asked, now)
    return render_page(request, "outcomes/recall.html", context=context, status=400 if problems else 200)


def speaker(person: Viewer, asked: dict[str, Any]) -> Viewer:
    """Return who asks: the agent named, who sees shared entries and its own; else somebody without a name."""
    return Viewer(person.account_id, person.policy, asked.get("agent", ""))


def question_of(asked: dict[str, Any]) -> Question:
    environment = {name: asked[f"env_{name}"] for name in preconditions.NAMES if asked.get(f"env_{name}")}
    known = {
        name: asked[name]
        for name in ("query", "entity_path", "depth", "memory_types", "limit", "min_confidence")
        if name in asked
    }
    return Question(**known, avoid=True, priors=True, environment=environment)


def answered(question: Question, viewer: Viewer, asked: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Return what the page shows of an answer, and of the one there would be if an entry stood otherwise."""
    known = answering.read(question, viewer, now)
    before = answering.ranked(question, known, viewer.policy, now)
    supposed = supposing.suppose(known, asked.get("entry", ""), asked.get("were", ""), now)
    ranked = answering.ranked(question, supposed, viewer.policy, now) if supposed else before
    answer = answering.complete(question, viewer, ranked, known, now)
    places = {one.row.entry_id: at for at, one in enumerate(before.hits, start=1)}
    tokens = asked.get("tokens", TOKENS)
    told = prose.markdown(answer, tokens)
    return {
        "answer": answer,
        "hits": shown(answer.hits, places if supposed else {}),
        "fallen": [one for one in before.hits if supposed and not _among(one, answer)],
        "out": ranked.out[:OUT],
        "more_out": max(0, len(ranked.out) - OUT),
        "supposed": supposed is not None,
        "entries": [*before.hits, *(one for one in before.out if one.is_warning)][:20],
        "text": told,
        "tokens": tokens,
        "used": budget.tokens_of(told),
        "asked_as": viewer.agent_id,
    }


def _among(one: Candidate, answer: Answer) -> bool:
    return any(other.row.entry_id == one.row.entry_id for other in answer.hits)


def shown(hits: Sequence[Candidate], places: dict[int, int]) -> list[Shown]:
    """Return hits with their places now and, under a supposition, before it (None: it was none)."""
    return [Shown(one, at, places.get(one.row.entry_id), parts_of(one)) for at, one in enumerate(hits, start=1)]


def parts_of(one: Candidate) -> list[Part]:
    """Return the parts of a score in the order of its formula."""
    score, signals = one.score, one.score.signals
    weights = score.weights
    return [
        Part("semantic", signals.semantic, bar(signals.semantic), times(weights.semantic)),
        Part("keyword", signals.keyword, bar(signals.keyword), times(scoring.KEYWORD_WEIGHT)),
        Part("confidence", signals.confidence, bar(signals.confidence), "in trust"),
        Part("evidence", signals.evidence, bar((signals.evidence + 1) / 2), "in trust"),
        Part("trust", score.trust, bar((score.trust + 1) / 2), times(scoring.TRUST_SHARE)),
        Part("recency", score.recency, bar(score.recency), times(weights.recency * score.boost)),
    ]


def times(weight: float) -> str:
    return f"\N{MULTIPLICATION SIGN} {weight:g}"


def bar(share: float) -> list[tuple[str, float]]:
    full = min(1.0, max(0.0, share))
    return [("a", round(full, 4)), ("c", round(1 - full, 4))]

"""Entries in nearly the same words: the one that a task is for stands above, and what failed on another's is back."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from outcomes.retrieval.experience import Alike
from outcomes.retrieval.judging import IS_DISCREDITED, Candidate, judge
from outcomes.retrieval.question import Question
from outcomes.rules import nearby, terms, twins
from outcomes.rules.relevance import Text
from outcomes.rules.twins import Terms, Tried

# Of the best so many are held against each other.
BEST = 8


def tried(judged: Sequence[Candidate], texts: Mapping[int, Text], known: Alike) -> dict[int, Tried]:
    """Return, of the best, what they say and which past tasks they did well and badly on, by entry id."""
    best = {one.row.entry_id: one.row for one in sorted(judged, key=lambda one: -one.value)[:BEST]}
    won: dict[int, list[Terms]] = defaultdict(list)
    lost: dict[int, list[Terms]] = defaultdict(list)
    for episode in known.here:
        for use in episode.uses:
            if use.entry_id in best and best[use.entry_id].written_at <= episode.at:
                (won if use.won else lost)[use.entry_id].append(terms.of_task(episode.task))
    return {
        entry_id: Tried(frozenset(texts[entry_id].counts), tuple(won[entry_id]), tuple(lost[entry_id]))
        for entry_id in best
    }


def rescued(
    question: Question, judged: Sequence[Candidate], best: Mapping[int, Tried], known: Alike
) -> list[Candidate]:
    """Return candidates, those served again that were discredited by tasks of their twins alone.

    All their failures have to be known, and nothing must have resolved such a task yet.
    """
    if any(one.episode.won and one.similarity >= nearby.SAME for one in known.found):
        return list(judged)
    task, weight = terms.of_task(question.temporal.text), known.by.weight
    return [
        judge(question, one.row, one.score.signals, one.local, rescued=True)
        if one.why_out == IS_DISCREDITED and _is_innocent(one, best, task, weight)
        else one
        for one in judged
    ]


def _is_innocent(one: Candidate, best: Mapping[int, Tried], task: Terms, weight: Mapping[str, float]) -> bool:
    mine = best.get(one.row.entry_id)
    if mine is None or len(mine.lost) != one.row.state.failure_count:
        return False
    others = [other for entry_id, other in best.items() if entry_id != one.row.entry_id]
    return twins.was_not_meant(mine, others, task, weight)


def ordered(
    question: Question, scores: Mapping[int, float], best: Mapping[int, Tried], beaten: Mapping[int, int], known: Alike
) -> tuple[dict[int, float], dict[int, int]]:
    """Return scores and who stands below whom (twins.ordered); what was beaten on such tasks stays where it is."""
    unbeaten = {entry_id: one for entry_id, one in best.items() if entry_id not in beaten}
    return twins.ordered(scores, unbeaten, terms.of_task(question.temporal.text), known.by.weight)

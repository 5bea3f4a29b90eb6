"""Past tasks weighed for a question: which are like it, and by which words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from outcomes.retrieval.question import Question
from outcomes.rules import episodes, nearby, terms
from outcomes.rules.episodes import Episode, Near, Scale
from outcomes.rules.relevance import Text


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


def with_entries(question: Question, known: Alike, texts: Sequence[Text]) -> Alike:
    """Weigh the words of a task that no past task had: what an entry says may tell it from its like, names do not."""
    new = {term for term in terms.of_task(question.temporal.text) if term not in known.tells}
    if not new or not known.here:
        return known
    # Tasks that nothing resolved say no less what words are known.
    new = new.difference(*(terms.of_task(one.task) for one in known.here))
    if not new:
        return known
    told = {term: episodes.SAID if any(term in text.counts for text in texts) else episodes.NEVER_SAID for term in new}
    by = episodes.with_new(known.by, told, len(known.here))
    found = episodes.near(question.temporal.text, question.situation, known.here, by=by)
    return replace(known, by=by, found=found, tells={**known.tells, **told})

"""The labelled notes in an account, and what asking all the questions finds."""

from datetime import UTC, datetime

from django.db import connection

from memories.rules.policy import DEFAULT
from memories.search import rarity
from memories.services import ledger, writing
from memories.services.ledger import Act
from outcomes.retrieval import answering
from outcomes.retrieval.question import Question
from tests.db import acts
from tests.quality import measuring
from tests.quality.corpus import Corpus
from tests.quality.measuring import Figures

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def written(account, asked: Corpus) -> None:
    """Write all notes, and report what went wrong with the stale ones."""
    act = Act("write", acts.agent(), acts.NOON, DEFAULT)
    for start in range(0, len(asked.notes), 500):
        part = asked.notes[start : start + 500]
        drafts = [acts.draft(note.value, path=note.path, key=note.key) for note in part]
        ledger.append(account.pk, act, [writing.plan(one, None, act) for one in drafts])
    for number, note in enumerate(note for note in asked.notes if note.replaced_by):
        acts.told(account, f"t{number}", "failure", note.name)
        acts.told(account, f"u{number}", "success", note.replaced_by)
    # How rare words are is sampled; what other tests left in the sample, or in memory, must not decide.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE memories_entrytext")
    rarity.forget()


def measured(account, asked: Corpus) -> dict[str, Figures]:
    """Return the figures of each kind of question, and of all."""
    viewer = acts.viewer(account)

    def ask(query: str) -> tuple[list[str], int]:
        answer = answering.answer(Question(query=query, limit=10), viewer, NOW)
        served = [one for one in answer.hits if one.row.state.evidence_status == "discredited" and not one.rescued]
        return [one.row.entry_key for one in answer.hits], len(served)

    return measuring.measure(asked.questions, ask)

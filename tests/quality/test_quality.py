"""Ranking may not get worse: floors for a labelled set of questions, with words only. `-s` prints the table."""

from datetime import UTC, datetime

import pytest
from django.db import connection

from memories.rules.policy import DEFAULT
from memories.search import rarity
from memories.services import ledger, writing
from memories.services.ledger import Act
from outcomes.retrieval import answering
from outcomes.retrieval.question import Question
from tests.db import acts
from tests.quality import measuring
from tests.quality.corpus import Corpus, corpus

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
# Below the figures measured (docs/retrieval.md) by what a changed tie may move.
FLOORS = {
    "all": (0.98, 0.93),
    "paraphrase": (0.98, 0.90),
    "german": (0.98, 0.97),
    "stale beside fresh": (0.99, 0.94),
    "identifier": (0.99, 0.99),
    "natural": (0.97, 0.89),
}


@pytest.fixture(scope="module")
def asked() -> Corpus:
    return corpus()


@pytest.fixture(autouse=True)
def leaving_no_sample():
    """Let no other test rank by how rare words are here."""
    yield
    rarity.forget()


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


def test_there_are_enough_notes_and_questions(asked):
    assert len(asked.notes) >= 2_000
    assert len({note.name for note in asked.notes}) == len(asked.notes)
    assert len(asked.questions) >= 300
    assert {question.kind for question in asked.questions} == {
        "paraphrase",
        "identifier",
        "stale beside fresh",
        "german",
        "natural",
    }


def test_ranking_by_words_is_as_good_as_it_was(account, asked):
    written(account, asked)
    viewer = acts.viewer(account)

    def ask(query: str) -> tuple[list[str], int]:
        answer = answering.answer(Question(query=query, limit=10), viewer, NOW)
        served = [one for one in answer.hits if one.row.state.evidence_status == "discredited" and not one.rescued]
        return [one.row.entry_key for one in answer.hits], len(served)

    found = measuring.measure(asked.questions, ask)
    print("\n" + measuring.table(found))
    assert found["all"].served == 0
    low = {
        kind: (round(found[kind].recall, 3), round(found[kind].ndcg, 3))
        for kind, (recall, ndcg) in FLOORS.items()
        if found[kind].recall < recall or found[kind].ndcg < ndcg
    }
    assert low == {}

"""Ranking may not get worse: floors for a labelled set of questions, with words only. `-s` prints the table."""

import pytest

from memories.search import rarity
from tests.quality import asking, measuring
from tests.quality.corpus import Corpus, corpus

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
    asking.written(account, asked)
    found = asking.measured(account, asked)
    print("\n" + measuring.table(found))
    assert found["all"].served == 0
    assert measuring.below(found, FLOORS) == {}

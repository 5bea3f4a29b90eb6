"""Retrieval with vectors: what means the same in other words is a candidate beside what shares words."""

from datetime import timedelta

import pytest

from memories.jobs import embedding
from memories.services import writing
from outcomes.retrieval import answering
from outcomes.retrieval.question import Question
from tests.db import acts
from tests.db.meaning import Meaning, chosen

LATER = acts.NOON + timedelta(minutes=1)
QUERY = "the store is shut"


@pytest.fixture
def model():
    with chosen(Meaning()):
        yield Meaning()


@pytest.fixture
def known(account, model):
    """Two say what is asked in other words, one of them privately; one says something else, one shares a word."""
    for key, value, more in (
        ("meant", "der laden ist geschlossen", {}),
        ("private", "laden geschlossen", {"shared": False}),
        ("invoice", "an invoice", {}),
        ("shelf", "shut the shelf door", {}),
    ):
        draft = acts.draft(value, path="ops", key=key, **more)
        writing.write(account.pk, draft, actor=acts.agent(), policy=acts.DEFAULT, now=acts.NOON)
    embedding.embed(account, LATER)
    return account


def answered(account, name=acts.ADA, **more):
    return answering.answer(Question(query=QUERY, **more), acts.viewer(account, name), LATER)


def keys(answer):
    return [one.row.key for one in answer.hits]


def test_what_means_the_same_in_other_words_is_served_with_its_cosine(known):
    answer = answered(known, acts.BOB)
    assert set(keys(answer)) == {"meant", "shelf"}
    meant = next(one for one in answer.hits if one.row.key == "meant")
    assert meant.score.signals.semantic == pytest.approx(1.0, abs=1e-3)
    assert meant.score.signals.keyword == 0


def test_words_alone_find_only_what_shares_one(known):
    with chosen(None):
        assert keys(answered(known, acts.BOB)) == ["shelf"]


def test_a_neighbour_is_served_only_to_those_who_may_see_it_and_within_the_filters(known):
    assert "private" in keys(answered(known))
    assert "private" not in keys(answered(known, acts.BOB))
    assert keys(answered(known, entity_path="elsewhere")) == []
    assert "meant" not in keys(answered(known, memory_types=("procedure",)))


def test_a_discredited_neighbour_is_warned_of_and_not_served(known):
    for turn in range(4):
        acts.told(known, f"t{turn}", "failure", "ops/meant")
    answer = answering.answer(Question(query=QUERY, avoid=True), acts.viewer(known, acts.BOB), LATER)
    assert "meant" not in keys(answer)
    assert [one.row.key for one in answer.avoid] == ["meant"]


def test_a_neighbour_that_shares_words_too_is_one_candidate(known):
    answer = answered(known, acts.BOB)
    judged = [one.row.entry_id for one in (*answer.hits, *answer.ranking.out)]
    assert len(judged) == len(set(judged))

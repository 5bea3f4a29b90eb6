"""What vectors add to ranking, on the labelled set of tests/quality: `make test-semantic`; `-s` prints the table."""

import pytest

from memories.jobs import embedding
from memories.search import rarity
from memories.vectors import model as models
from tests.db.meaning import chosen
from tests.quality import asking, measuring
from tests.quality.corpus import corpus
from tests.quality.test_quality import FLOORS


@pytest.fixture(scope="module")
def model():
    found = models._load("")
    assert found is not None, "run `make test-semantic`, which installs what this needs"
    return found


def test_ranking_with_vectors_is_no_worse_than_by_words(account, model):
    asked = corpus()
    asking.written(account, asked)
    with chosen(model):
        embedding.embed(account, asking.NOW)
        found = asking.measured(account, asked)
    rarity.forget()
    print("\n" + measuring.table(found))
    assert found["all"].served == 0
    assert measuring.below(found, FLOORS) == {}

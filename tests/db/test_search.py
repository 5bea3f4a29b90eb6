"""What words find: in the database, as written and asked through the services."""

import time
from datetime import timedelta

import pytest
from django.db import connection

from memories import search
from memories.search import Search, rarity
from memories.search.rarity import Rarity
from memories.services import writing
from tests.db import acts

QUERIES = {
    "an error code whole": ("ERR_CONN_4711", "codes"),
    "an error code in other letters": ("err-conn-4711", "codes"),
    "a part of an error code": ("4711", "codes"),
    "a name with joints": ("checkout-service", "camel"),
    "a name in humps": ("checkoutService", "camel"),
    "a part of a name in humps": ("checkout", "camel"),
    "a dotted name": ("billing.ledger", "dotted"),
    "a word in another form": ("retried", "stems"),
    "a plural": ("gateway", "stems"),
    "a German word": ("Häuser", "german"),
    "the same without its dots": ("hauser", "german"),
    "the same in capitals": ("HÄUSER", "german"),
    "an escaped line": ("second", "lines"),
    "Chinese": ("数据库", "chinese"),
    "one sign": ("库", "chinese"),
    "the last sign": ("败", "chinese"),
    "Japanese": ("接続", "japanese"),
    "a phrase": ('"never twice in a row"', "phrase"),
    "a word that begins so": ("kuber*", "cluster"),
    "a part of the key": ("luster", "cluster"),
    "parts of path and key": ("op/clust", "cluster"),
    "words in any order": ("row twice", "phrase"),
    "an entity": ("shop/stems", "stems"),
}
VALUES = {
    "codes": "The pool answers ERR_CONN_4711 when it is full.",
    "camel": "checkoutService waits for nobody.",
    "dotted": "Call billing.ledger.post() first.",
    "stems": "Retrying gateways helps.",
    "german": "Viele Häuser haben zwei Türen.",
    "lines": "first\nsecond",
    "chinese": "数据库连接失败",
    "japanese": "接続が切れた",
    "phrase": "Never twice in a row.",
    "cluster": "kubernetes",
}


@pytest.fixture
def written(account, monkeypatch):
    # What other tests wrote is no measure of how rare words are here.
    monkeypatch.setattr(rarity, "_known", (time.monotonic(), Rarity()))
    for key, value in VALUES.items():
        acts_write(account, value, key=key)
    return account


def acts_write(account, value, *, now=acts.NOON, **more):
    return writing.write(account.pk, acts.draft(value, **more), actor=acts.agent(), policy=acts.DEFAULT, now=now)


def found(account, words, **more):
    """Return the keys that a search finds for Ada."""
    now = acts.NOON + timedelta(minutes=1)
    asked = Search(words=words, entity_path="shop", **more)
    return [row.key for row in search.find_or_widen(asked, acts.viewer(account, acts.ADA), now)]


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_finds(written, name):
    query, key = QUERIES[name]
    assert found(written, query) == [key]


@pytest.mark.parametrize("query", ["-", '"', "''", "???", "~", "\\", "%", "_", "!", "&|()", ":*", "' ' :AB", '"" -""'])
def test_signs_alone_find_nothing_and_break_nothing(written, query):
    assert found(written, query) == []


def test_a_phrase_is_exact_where_words_are_not(written):
    assert found(written, "retry gateway") == ["stems"]
    assert found(written, '"retry gateway"') == []
    assert found(written, '"retrying gateways"') == ["stems"]
    assert found(written, '"in twice a row"') == []


def test_what_is_excluded_is_not_found(written):
    acts_write(written, "twice is enough", key="other")
    assert set(found(written, "twice")) == {"phrase", "other"}
    assert found(written, "twice -row") == ["other"]
    assert found(written, 'twice -"is enough"') == ["phrase"]
    assert "other" not in found(written, "-twice")


def test_any_word_finds_best_first_when_no_entry_has_all(written):
    acts_write(written, "gateways retrying in a row", key="three")
    assert found(written, "how to retry the gateway in a row on mars")[:2] == ["three", "stems"]


def test_a_rewrite_is_found_by_its_new_words_and_what_it_was_is_not(written):
    acts_write(written, "quite another thing", key="cluster")
    assert found(written, "kubernetes") == []
    assert found(written, "another thing") == ["cluster"]


def test_going_back_brings_the_old_words_back(written):
    entry = acts.entry(written, key="cluster")
    acts_write(written, "quite another thing", key="cluster")
    acts.back(written, entry.entry_id, to=1, expected=2)
    assert found(written, "kubernetes") == ["cluster"]
    assert found(written, "another thing") == []


@pytest.mark.parametrize(
    "value",
    ["'" * 70_000, "x" * 1_000_000, "ab " * 300_000, "名" * 70_000, "a'b\\c:1A,2" * 9_000],
    ids=["quotes", "one word", "many words", "signs", "what a tsvector is written in"],
)
def test_no_value_fails_a_write(account, value):
    acts_write(account, value, key="large")
    assert acts.rows_of("SELECT count(*) FROM memories_entrytext WHERE account_id = %s", account.pk) == [(1,)]


def test_a_long_word_is_found_by_itself(account):
    acts_write(account, "token " + "x" * 500, key="long")
    assert found(account, "x" * 500) == ["long"]


def test_what_is_rarer_ranks_higher(account):
    acts.fill(account, 60)
    acts_write(account, "value zeugma", key="rare")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE memories_entrytext")
    rarity.forget()
    shares = rarity.sampled().shares
    assert shares["valu"] > shares.get("zeugma", 0.0)
    now, asked = acts.NOON + timedelta(minutes=1), Search(words="value zeugma absent")
    best = search.candidates(acts.viewer(account, acts.ADA), asked, now, 5)
    rarity.forget()
    assert best[0].entry_id == acts.entry(account, key="rare").entry_id
    assert best[0].rank > best[1].rank > 0


def test_candidates_are_only_what_the_viewer_may_see(account, other_account):
    acts_write(account, "secret jitter", key="mine", shared=False)
    acts_write(other_account, "secret jitter", key="theirs")
    asked = Search(words="secret jitter word")
    seen = {
        name: len(search.candidates(acts.viewer(account, name), asked, acts.NOON, 5))
        for name in (acts.ADA, acts.BOB, "")
    }
    assert seen == {acts.ADA: 1, acts.BOB: 0, "": 0}

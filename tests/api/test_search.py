"""POST /search: order, what lies elsewhere, and what nobody else may know."""

import json

import pytest

from tests.db import acts


def keys(answer):
    assert answer.status_code == 200, answer.content
    return [entry["key"] for entry in answer.json()]


def elsewhere(answer):
    return json.loads(answer.headers.get("X-SenseLab-Elsewhere", "{}"))


def test_a_search_that_finds_little_says_what_lies_below_the_threshold_and_outside_the_scope(bot):
    bot.write("shop", "sure", "gateway down")
    bot.write("shop", "doubtful", "gateway down", confidence=0.4)
    bot.write("shop/deeper", "sure", "gateway down")
    bot.write("billing", "sure", "gateway down")
    answer = bot.post("search", {"query": "gateway", "entity_path": "shop", "min_confidence": 0.5})
    assert keys(answer) == ["sure"]
    assert elsewhere(answer) == {"below_threshold": 1, "outside_scope": 2}
    below = bot.post("search", {"query": "gateway", "entity_path": "shop", "include_descendants": True})
    assert elsewhere(below) == {}
    assert "X-SenseLab-Value" in answer.headers


def test_a_search_that_finds_nothing_says_where_all_its_words_are(bot):
    bot.write("shop", "part", "gateway")
    bot.write("billing", "whole", "gateway down")
    answer = bot.post("search", {"query": "gateway down", "entity_path": "shop"})
    assert keys(answer) == ["part"]
    assert elsewhere(answer) == {"outside_scope": 1}


def test_what_lies_in_deeper_tiers_is_outside_the_scope(bot):
    bot.write("shop", "cold", "gateway")
    answer = bot.post("search", {"query": "gateway", "depth": 1})
    assert (keys(answer), elsewhere(answer)) == ([], {"outside_scope": 1})


def test_a_search_that_finds_enough_says_nothing_of_what_lies_elsewhere(bot):
    for number in range(3):
        bot.write("shop", f"k{number}", "gateway")
    bot.write("billing", "more", "gateway")
    assert elsewhere(bot.post("search", {"query": "gateway", "entity_path": "shop"})) == {}
    assert elsewhere(bot.post("search", {"query": "gateway", "entity_path": "billing", "limit": 1})) == {}
    assert elsewhere(bot.post("search", {"entity_path": "nowhere"})) == {}


def test_what_lies_elsewhere_counts_nobody_elses_private_entries_and_no_other_account(bot, helper, other_account):
    bot.write("billing", "mine", "gateway", shared=False)
    acts.fill(other_account, 3)
    asked = {"query": "gateway", "entity_path": "shop", "min_confidence": 0.5}
    assert elsewhere(bot.post("search", asked)) == {"outside_scope": 1}
    assert elsewhere(helper.post("search", asked)) == {}
    assert elsewhere(helper.post("search", asked | {"query": "value"})) == {}


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("confidence", ["sure", "again", "doubtful", "file.py"]),
        ("recency", ["doubtful", "again", "sure", "file.py"]),
        ("version", ["again", "sure", "doubtful", "file.py"]),
        ("priority", ["sure", "again", "doubtful", "file.py"]),
        ("relevance", ["again", "sure", "doubtful", "file.py"]),
    ],
)
def test_a_search_sorts_with_artifacts_last(bot, sort, order):
    bot.write("shop", "file.py", "gateway gateway")
    bot.write("shop", "sure", "the gateway")
    bot.write("shop", "again", "gateway", confidence=0.8)
    bot.write("shop", "again", "gateway and gateway and gateway", confidence=0.8)
    bot.write("shop", "doubtful", "the retried gateways", confidence=0.6)
    found = keys(bot.post("search", {"query": "gateway", "sort_by": sort}))
    assert found == order if sort != "version" else (found[0], found[-1]) == ("again", "file.py")


def test_a_query_of_ten_thousand_characters_is_read_and_a_longer_one_refused(bot):
    bot.write("shop", "w7", "gateway")
    long = " ".join(f"w{number}" for number in range(2_000))[:10_000]
    assert keys(bot.post("search", {"query": long})) == ["w7"]
    assert bot.post("search", {"query": "x" * 10_001}).status_code == 422


def test_only_the_first_hit_of_a_query_counts_as_recalled(bot):
    for number in range(3):
        bot.write("shop", f"k{number}", "gateway", confidence=1 - number / 10)
    answer = bot.post("search", {"query": "gateway"})
    assert json.loads(answer.headers["X-SenseLab-Value"])["credited"]["key"] == keys(answer)[0] == "k0"
    assert "X-SenseLab-Value" not in bot.post("search", {"entity_path": "shop"}).headers

"""POST /graph/edges and GET /pro/graph/neighbors: what hangs together, breadth first, each edge once."""

from typing import Any

import pytest
from django.utils import timezone

from memories import recalls
from memories.models import Entry
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from senselab.accounts.models import Account
from tests.api.conftest import Caller


def edge(source: str, target: str, relation: str = "references", **more: Any) -> dict[str, Any]:
    return {"source_entity": source, "relation": relation, "target_entity": target, **more}


def tell(caller: Caller, *edges: dict[str, Any]) -> None:
    for one in edges:
        assert caller.post("graph/edges", one).json() == {"status": "ok"}


def near(caller: Caller, entity: str, **query: Any) -> list[tuple[str, str, str]]:
    told = caller.get("pro/graph/neighbors", entity=entity, **query).json()
    assert told["count"] == len(told["edges"])
    return [(one["source_entity"], one["relation"], one["target_entity"]) for one in told["edges"]]


def test_an_edge_told_again_is_one_edge_that_counts_more(bot: Caller) -> None:
    tell(bot, edge("a/1", "a/2"), edge("a/1", "a/2", provenance={"agent_id": "agent/deploy-bot"}))

    (told,) = bot.get("pro/graph/neighbors", entity="a/1").json()["edges"]

    assert (told["evidence_count"], told["confidence"]) == (2, 1.0)
    assert (told["source_type"], told["target_type"]) == ("entry", "entry")
    assert told["provenance"] == {"agent_id": "agent/deploy-bot"}
    assert told["first_seen"] <= told["last_seen"]


def test_an_edge_that_two_tell_is_one_edge_as_the_later_one_tells_it(bot: Caller, helper: Caller) -> None:
    tell(bot, edge("a/1", "a/2", confidence=0.2), edge("a/1", "a/1"))
    tell(helper, edge("a/1", "a/2", confidence=0.6, provenance={"seen": 1}))

    told, itself = bot.get("pro/graph/neighbors", entity="a/1").json()["edges"]

    assert (told["evidence_count"], told["confidence"], told["provenance"]) == (2, 0.6, {"seen": 1})
    assert itself["evidence_count"] == 1


def test_what_an_agent_tells_of_its_private_entry_is_for_itself_and_what_others_guess_is_told(
    bot: Caller, helper: Caller
) -> None:
    bot.write("shop", "own", 1, shared=False)
    tell(bot, edge("shop/own", "a/1"), edge("shop/own", "a/2"))
    tell(helper, edge("shop/own", "a/2"))

    assert len(near(bot, "shop/own", direction="outgoing")) == 2
    assert near(helper, "shop/own") == [("shop/own", "references", "a/2")]
    assert near(helper, "a/2") == [("shop/own", "references", "a/2")]
    assert near(helper, "a/1") == []
    assert helper.get("pro/graph/neighbors", entity="a/2").json()["edges"][0]["evidence_count"] == 1


def test_neighbours_are_found_breadth_first_and_each_edge_once(bot: Caller) -> None:
    tell(bot, edge("a/1", "a/2"), edge("a/2", "a/3"), edge("a/3", "a/4"), edge("a/3", "a/1"), edge("x/1", "x/2"))

    assert set(near(bot, "a/1")) == {("a/1", "references", "a/2"), ("a/3", "references", "a/1")}
    assert len(near(bot, "a/1", depth=2)) == 4
    assert (
        near(bot, "a/1", direction="outgoing", depth=5)
        == [
            ("a/1", "references", "a/2"),
            ("a/2", "references", "a/3"),
            *sorted([("a/3", "references", "a/4"), ("a/3", "references", "a/1")]),
        ]
        or len(near(bot, "a/1", direction="outgoing", depth=5)) == 4
    )
    assert near(bot, "a/2", direction="incoming") == [("a/1", "references", "a/2")]
    assert len(near(bot, "a/1", depth=5, limit=2)) == 2


def test_neighbours_are_asked_by_relation_and_confidence(bot: Caller) -> None:
    tell(bot, edge("a/1", "a/2"), edge("a/1", "T-1", "informed", target_type="outcome", confidence=0.4))

    assert near(bot, "a/1", relation="informed") == [("a/1", "informed", "T-1")]
    assert near(bot, "a/1", min_confidence=0.5) == [("a/1", "references", "a/2")]


def test_a_branch_sees_its_own_edges_and_those_of_main(bot: Caller) -> None:
    tell(bot, edge("a/1", "a/2"), edge("a/1", "a/3", branch="draft"))

    assert near(bot, "a/1") == [("a/1", "references", "a/2")]
    assert len(near(bot, "a/1", branch="draft")) == 2


def test_what_the_tables_know_nobody_has_to_tell(bot: Caller, helper: Caller) -> None:
    bot.write("shop/checkout", "base", 1)
    bot.write("shop/checkout", "retry", 1, pattern_refs=["shop/checkout/base"])
    helper.report("T-1", "success", "shop/checkout/retry")

    assert set(near(bot, "shop/checkout/retry")) == {
        ("shop/checkout/retry", "references", "shop/checkout/base"),
        ("shop/checkout/retry", "informed", "T-1"),
        ("agent/deploy-bot", "wrote", "shop/checkout/retry"),
    }
    assert ("agent/oncall-helper", "read", "shop/checkout/retry") in near(bot, "agent/oncall-helper")
    assert ("shop/checkout/retry", "references", "shop/checkout/base") in near(bot, "shop/checkout/base")
    assert near(bot, "T-1") == [("shop/checkout/retry", "informed", "T-1")]
    assert len(near(bot, "agent/deploy-bot", relation="wrote")) == 2
    tell(bot, edge("shop/checkout/retry", "shop/checkout/base"))
    assert len(near(bot, "shop/checkout/base", relation="references")) == 1


def test_who_read_an_entry_is_a_neighbour_of_it(bot: Caller, account: Account) -> None:
    bot.write("shop", "a", 1)
    entry = Entry.objects.get(account_id=account.pk, key="a")
    read = Read(entry.pk, 1, "agent/oncall-helper", "", timezone.now(), 20)
    recalls.write(account.pk, DEFAULT, [read, read])

    (told,) = bot.get("pro/graph/neighbors", entity="shop/a", relation="read").json()["edges"]

    assert (told["source_entity"], told["source_type"], told["target_entity"]) == (
        "agent/oncall-helper",
        "agent",
        "shop/a",
    )
    assert near(bot, "shop/a", relation="read", direction="outgoing") == []


def test_what_an_outcome_relied_on_together_hangs_together_both_ways_and_once(bot: Caller) -> None:
    for key in "abc":
        bot.write("shop", key, 1)
    bot.report("T-1", "success", "shop/a", "shop/b")
    bot.report("T-2", "success", "shop/b", "shop/a", "shop/c")

    told = bot.get("pro/graph/neighbors", entity="shop/a", relation="co_occurs_with").json()["edges"]

    assert {one["target_entity"]: one["evidence_count"] for one in told} == {"shop/b": 2, "shop/c": 1}
    assert len(near(bot, "shop/b", relation="co_occurs_with", direction="incoming")) == 2
    # The third edge of the triangle; told by a client the other way round it is the same edge.
    tell(bot, edge("shop/c", "shop/b", "co_occurs_with"))
    assert len(near(bot, "shop/a", relation="co_occurs_with", direction="outgoing", depth=2)) == 3


def test_what_was_used_beside_a_private_entry_does_not_hang_with_it_for_others(bot: Caller, helper: Caller) -> None:
    bot.write("shop", "a", 1)
    bot.write("shop", "own", 1, shared=False)
    bot.report("T-1", "success", "shop/a", "shop/own")

    assert near(helper, "shop/a", relation="co_occurs_with") == []
    assert near(helper, "shop/own") == []
    assert len(near(bot, "shop/own", relation="co_occurs_with")) == 1


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"entity": "a/1", "depth": "6"},
        {"entity": "a/1", "depth": "0"},
        {"entity": "a/1", "direction": "sideways"},
        {"entity": "a/1", "min_confidence": "nan"},
        {"entity": "a/1", "min_confidence": "x"},
        {"entity": "a/1", "limit": "0"},
    ],
)
def test_what_cannot_be_asked_is_refused(bot: Caller, query: dict) -> None:
    assert bot.get("pro/graph/neighbors", **query).status_code == 422


@pytest.mark.parametrize("wrong", [{"source_entity": ""}, {"relation": None}, {"confidence": 1.5}, {"provenance": "x"}])
def test_an_edge_that_cannot_be_is_refused(bot: Caller, wrong: dict) -> None:
    assert bot.post("graph/edges", edge("a/1", "a/2") | wrong).status_code == 422


def test_the_longest_names_make_an_edge(bot: Caller) -> None:
    long = "é" * 512 + "/" + "k" * 512

    tell(bot, edge(long, long[:-1] + "x"))

    assert len(near(bot, long)) == 1


def test_a_bound_key_tells_no_edge_in_anothers_name(bound: Caller) -> None:
    assert bound.post("graph/edges", edge("a/1", "a/2", provenance={"agent_id": "agent/x"})).status_code == 409


def test_nothing_of_it_reaches_another_account(bot: Caller, stranger: Caller) -> None:
    tell(bot, edge("a/1", "a/2"))

    assert near(stranger, "a/1") == []


def test_looking_around_costs_the_same_whatever_there_is(bot: Caller, django_assert_num_queries: Any) -> None:
    tell(bot, edge("a/1", "a/2"))
    with django_assert_num_queries(4):
        near(bot, "a/1")
    tell(bot, *(edge("a/1", f"a/{number}") for number in range(3, 40)))
    with django_assert_num_queries(4):
        assert len(near(bot, "a/1")) == 38

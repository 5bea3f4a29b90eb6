"""GET /agents and what lies below: who there is, what each says of itself, wrote, read and knows."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.api.conftest import Caller

BOT, HELPER = "agent/deploy-bot", "agent/oncall-helper"


@pytest.fixture
def busy(bot: Caller, helper: Caller, counted: Any) -> Caller:
    """deploy-bot, who wrote three entries, one of them for itself; oncall-helper read one and relied on it."""
    bot.write("shop/checkout", "retry", 1, confidence=0.7)
    bot.write("shop/pay", "refund", 1)
    bot.write("shop/vault", "code", "umbrella", shared=False)
    helper.read("shop/checkout", "retry")
    counted()
    helper.report("T-1", "success", "shop/checkout/retry")
    return bot


def by_id(answer: Any) -> dict[str, Any]:
    return {one["agentId"]: one for one in answer.json()["agents"]}


def test_agents_are_listed_with_what_the_caller_may_see_of_them(busy: Caller, helper: Caller) -> None:
    mine, theirs = by_id(busy.get("agents")), by_id(helper.get("agents"))

    assert set(mine) == {BOT, HELPER}
    assert (mine[BOT]["entriesWritten"], mine[BOT]["entitiesTouched"]) == (3, 3)
    assert (theirs[BOT]["entriesWritten"], theirs[BOT]["entitiesTouched"]) == (2, 2)
    assert (theirs[BOT]["description"], theirs[BOT]["platform"]) == ("", "")
    assert theirs[BOT]["lastActive"] >= theirs[BOT]["createdAt"]


def test_enriched_agents_tell_reads_and_rates(busy: Caller) -> None:
    told = by_id(busy.get("agents/enriched"))

    assert (told[HELPER]["reads"], told[HELPER]["outcomes"], told[HELPER]["successRate"]) == (1, 1, 1.0)
    assert (told[BOT]["reads"], told[BOT]["successRate"], told[BOT]["discreditedShare"]) == (0, None, 0.0)
    assert told[BOT]["silentDays"] is None


@pytest.mark.parametrize("address", [BOT, quote(BOT, safe="")])
def test_a_profile_is_set_and_read_by_a_raw_or_encoded_name(bot: Caller, address: str) -> None:
    said = {"description": "does things", "default_branch": "main", "auto_context_paths": ["shop"], "tags": ["t"]}

    answer = bot.client.put(
        f"/api/v1/agents/{address}/profile", {**said, "team": "core"}, "application/json", headers=bot.headers
    )

    told = answer.json()
    assert (told["agent_id"], told["entry_count"], told["namespace"]) == (BOT, 0, "default")
    assert told["profile"] == {**said, "session_metadata": None, "team": "core"}
    read = bot.get(f"agents/{address}/profile").json()
    assert (read["profile"], read["agentId"], read["displayName"]) == (told["profile"], BOT, None)
    assert by_id(bot.get("agents"))[BOT]["description"] == "does things"


def test_a_profile_tells_what_the_agent_wrote_and_read(busy: Caller, helper: Caller) -> None:
    told = helper.get(f"agents/{BOT}/profile").json()

    assert (told["entriesWritten"], told["entitiesTouched"], told["decisionTraces"]) == (2, 2, 0)
    assert told["entityPaths"] == ["shop/checkout", "shop/pay"]
    assert helper.get(f"agents/{HELPER}/profile").json()["totalReads"] == 1
    assert helper.get("agents/agent/nobody-knows/profile").status_code == 404


def test_nobody_sets_anothers_profile_with_a_bound_key(bound: Caller) -> None:
    answer = bound.client.put(f"/api/v1/agents/{HELPER}/profile", {}, "application/json", headers=bound.headers)

    assert answer.status_code == 409


def test_agents_are_found_by_what_they_can_do(bot: Caller) -> None:
    able = {"capabilities": [{"name": "rollback", "entity_paths": ["shop"]}]}
    bot.client.put(f"/api/v1/agents/{BOT}/capabilities", able, "application/json", headers=bot.headers)

    assert [one["agent_id"] for one in bot.get("agents/discover", capability="rollback").json()["agents"]] == [BOT]
    assert bot.get("agents/discover", entity_path="shop").json()["total"] == 1
    assert bot.get("agents/discover", capability="cooking").json()["total"] == 0
    assert bot.get("agents/discover", tag="x").json()["total"] == 0


def test_what_an_agent_wrote_is_listed_and_read_for_those_who_may_see_it(busy: Caller, helper: Caller) -> None:
    assert helper.get(f"agents/{BOT}/entries").json()["total"] == 2
    assert busy.get(f"agents/{BOT}/entries").json()["total"] == 3
    assert helper.get(f"agents/{BOT}/recall/shop/checkout/retry").json()["version"] == 2
    assert helper.get(f"agents/{HELPER}/recall/shop/checkout/retry").json()["status"] == "not_found"
    assert helper.get(f"agents/{HELPER}/read-from/{BOT}/shop/checkout/retry").json()["key"] == "retry"
    assert helper.get(f"agents/{HELPER}/read-from/{BOT}/shop/vault/code").json()["status"] == "not_found"
    assert helper.get(f"agents/{BOT}/recall/shop/vault/code").json()["status"] == "not_found"


def test_what_an_agent_read_of_others_is_listed_by_author(busy: Caller, helper: Caller) -> None:
    told = helper.get(f"agents/{HELPER}/cross-agent-reads").json()

    assert told["reads"] == {BOT: [{"entity_path": "shop/checkout", "key": "retry", "read_count": 1}]}


def test_an_agents_graph_joins_what_it_wrote_to_what_that_informed(busy: Caller, helper: Caller) -> None:
    told = helper.get(f"agents/{BOT}/memory-graph").json()

    assert {"id": "T-1", "type": "outcome"} in told["nodes"]
    assert "vault" not in str(told)
    assert helper.get(f"agents/{BOT}/activity").json()["count"] == 2


def test_who_knows_what_counts_what_the_caller_may_see(busy: Caller, helper: Caller) -> None:
    told = helper.get("pro/graph/expertise").json()["expertise"]

    assert [(one["agent_id"], one["entity_path"], one["validated"]) for one in told] == [
        (BOT, "shop/checkout", 1), (BOT, "shop/pay", 0),
    ]  # fmt: skip
    assert helper.get("pro/graph/expertise", entity_path="shop/vault").json()["total"] == 0


def test_nothing_of_it_reaches_another_account(busy: Caller, stranger: Caller) -> None:
    assert stranger.get("agents").json()["agents"] == []
    assert stranger.get(f"agents/{BOT}/profile").status_code == 404
    assert stranger.get(f"agents/{BOT}/entries").json()["total"] == 0
    assert stranger.get("pro/graph/expertise").json()["total"] == 0


def test_a_list_of_agents_costs_the_same_whatever_its_length(nobody: Caller, django_assert_num_queries: Any) -> None:
    for many in (2, 12):
        for number in range(many):
            nobody.write("shop", f"k{many}-{number}", 1, agent_id=f"agent/{many}-{number}")
        with django_assert_num_queries(6):
            assert len(nobody.get("agents").json()["agents"]) >= many

"""PUT /agents/ID/contracts and /capabilities: what an agent binds its own writes to is held to it."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

CONTRACT = {"entity_path": "shop", "description": "incidents say why"}
HERS = "agents/agent/deploy-bot/contracts"


@pytest.mark.parametrize(
    ("contract", "write", "pointer"),
    [
        ({"min_confidence": 0.4}, {"confidence": 0.3}, "/confidence"),
        ({"max_confidence": 0.9}, {}, "/confidence"),
        ({"required_fields": ["cause", "fix"]}, {"value": {"cause": "disk"}}, "/value"),
        ({"required_fields": ["cause"]}, {"value": "the disk"}, "/value"),
        ({"ttl_required": True}, {}, "/ttl_at"),
        ({"key_pattern": "in?", "min_confidence": 1}, {"confidence": 0.9, "key": "inc"}, "/confidence"),
        ({"min_confidence": 1}, {"confidence": 0.9, "entity_path": "shop/below"}, "/confidence"),
    ],
    ids=["too unsure", "too sure", "a field missing", "no object", "no time to live", "a pattern", "below the path"],
)
def test_a_write_that_breaks_a_contract_is_refused_by_its_name(bot, contract, write, pointer):
    assert bot.put(HERS, {"contracts": [CONTRACT | contract]}).status_code == 200
    body = {"entity_path": "shop", "key": "incident", "value": {}, **write}
    for answer, before in ((bot.post("entries", body), ""), (bot.post("commits", {"writes": [body]}), "/writes/0")):
        assert answer.status_code == 422
        assert "incidents say why" in answer.json()["detail"]
        assert answer.json()["errors"][0]["pointer"] == before + pointer
    assert bot.get("entries").json()["total"] == 0


def test_writes_elsewhere_and_of_others_are_not_bound(bot, helper):
    bot.put(HERS, [CONTRACT | {"key_pattern": "incident*", "min_confidence": 0.9}])
    assert bot.write("shop", "note", 1, confidence=0.1).status_code == 200
    assert bot.write("shopping", "incident", 1, confidence=0.1).status_code == 200
    assert helper.write("shop", "incident", 1, confidence=0.1).status_code == 200


def test_a_default_in_the_contract_gives_the_time_to_live_that_clients_cannot_send(bot):
    bot.put(HERS, [CONTRACT | {"ttl_required": True, "default_ttl_days": 30}])
    told = bot.write("shop", "incident", 1).json()
    ends = datetime.fromisoformat(told["ttl_at"])
    assert timedelta(days=29, hours=23) < ends - timezone.now() <= timedelta(days=30)
    own = bot.write("shop", "other", 1, ttl_at="2099-01-01T00:00:00Z").json()
    assert own["ttl_at"].startswith("2099")


def test_what_keeps_the_contract_is_written(bot):
    bot.put(HERS, [CONTRACT | {"min_confidence": 0.3, "max_confidence": 0.8, "required_fields": ["cause"]}])
    assert bot.write("shop", "incident", {"cause": "disk", "more": 1}, confidence=0.8).status_code == 200


def test_the_answer_is_the_agent_with_all_it_said(bot):
    bot.write("shop", "a", 1)
    bot.put("agents/agent/deploy-bot/capabilities", [{"name": "deploys", "entity_paths": ["shop"]}])
    told = bot.put(HERS, {"contracts": [CONTRACT]}).json()
    assert (told["agent_id"], told["entry_count"], told["namespace"]) == ("agent/deploy-bot", 1, "default")
    assert told["capabilities"] == [{"name": "deploys", "description": "", "entity_paths": ["shop"]}]
    assert told["contracts"][0]["key_pattern"] == "*"
    assert bot.put(HERS, {"contracts": []}).json()["contracts"] == []


@pytest.mark.parametrize(
    "contract",
    [
        {},
        {"entity_path": ""},
        {**CONTRACT, "min_confidence": 2},
        {**CONTRACT, "min_confidence": 1, "max_confidence": 0},
    ],
    ids=["no path", "an empty path", "no probability", "nothing could meet it"],
)
def test_a_contract_that_cannot_be_is_refused(bot, contract):
    assert bot.put(HERS, [contract]).status_code == 422


def test_a_bound_key_sets_its_own_contracts_alone(bound):
    assert bound.put("agents/agent/other/contracts", []).status_code == 409
    assert bound.put(HERS, []).status_code == 200

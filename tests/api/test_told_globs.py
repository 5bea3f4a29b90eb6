"""What was told beyond the globs of a key is in no curve, timeline, trace, figure or profile that it reads."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from outcomes.agents import roster
from senselab.accounts import services as accounts
from senselab.accounts.models import Agent
from tests.api.conftest import Caller

BOT = "agent/deploy-bot"


@pytest.fixture
def narrow(account) -> Caller:
    """agent/shop-bot, whose key reaches the shop."""
    return Caller(accounts.create_key(account, name="shop key", globs=[{"pattern": "shop/**"}]), "agent/shop-bot")


def trace(path: str, ref: str) -> dict[str, Any]:
    relied = {"entity_path": path, "key": "rule", "version": 1, "value": 1}
    return {"agent_id": BOT, "session_id": "s-1", "outcome_ref": ref, "causal_entries": [relied]}


@pytest.fixture
def told(bot: Caller) -> Caller:
    """deploy-bot, who told of the shop once and of a vault twice, in every way there is."""
    for ref, path in (("T-shop", "shop/pay"), ("T-vault", "vault/keys"), ("T-vault-2", "vault/keys")):
        bot.write(path, "rule", ref)
        bot.report(ref, "success", f"{path}/rule", task_input=f"do {ref}", response_text="did", entity_paths=[path])
    return bot


def test_learning_counts_tasks_within_the_globs(told: Caller, narrow: Caller) -> None:
    assert told.get("learning").json()["sessions"] == 3
    assert narrow.get("learning").json()["sessions"] == 1
    assert told.get("learning", entity_path="vault/keys").json()["sessions"] == 2
    assert narrow.get("learning", entity_path="vault/keys").json()["sessions"] == 0


def test_learning_of_anothers_private_path_counts_nothing(told: Caller, helper: Caller) -> None:
    told.write("shop/secret", "rule", 1, shared=False)
    told.report("T-secret", "success", "shop/secret/rule", entity_paths=["shop/secret"])

    assert told.get("learning", entity_path="shop/secret").json()["sessions"] == 1
    assert helper.get("learning", entity_path="shop/secret").json()["sessions"] == 0


def test_timelines_and_figures_leave_out_outcomes_beyond(told: Caller, narrow: Caller) -> None:
    assert b"T-vault" not in narrow.get(f"agents/{BOT}/timeline").content
    assert b"T-shop" in narrow.get(f"agents/{BOT}/timeline").content
    assert b"T-vault" in told.get(f"agents/{BOT}/timeline").content
    (one,) = (agent for agent in narrow.get("agents/enriched").json()["agents"] if agent["agentId"] == BOT)
    assert one["outcomes"] == 1


def test_a_trace_beyond_is_not_there_by_its_id_nor_counted(told: Caller, narrow: Caller) -> None:
    made = {path: told.post("traces", trace(path, f"R-{path}")).json()["id"] for path in ("shop/pay", "vault/keys")}

    assert narrow.get(f"traces/{made['shop/pay']}").status_code == 200
    assert narrow.get(f"traces/{made['vault/keys']}").status_code == 404
    assert told.get(f"traces/{made['vault/keys']}").status_code == 200
    assert narrow.get(f"agents/{BOT}/profile").json()["decisionTraces"] == 2


def test_telling_a_trace_again_does_not_answer_with_one_beyond(told: Caller, narrow: Caller) -> None:
    kept = told.post("traces", trace("vault/keys", "R-1")).json()

    answer = narrow.post("traces", trace("shop/pay", "R-1"))

    assert answer.status_code == 404
    assert kept["id"] not in answer.content.decode()
    assert told.get(f"traces/{kept['id']}").json() == kept


def test_a_trace_of_nothing_within_the_globs_is_refused(told: Caller, narrow: Caller) -> None:
    assert narrow.post("traces", trace("vault/keys", "R-new")).status_code == 403
    assert b"R-new" not in told.get("traces").content


def test_training_data_tells_nothing_whose_attempts_relied_on_what_is_hidden(told: Caller, helper: Caller) -> None:
    told.write("shop/pay", "own", "umbrella", shared=False)
    tried = [{"outcome_type": "failure", "causal_entry_keys": ["shop/pay/own"]}]
    said = {"task_input": "open", "response_text": "umbrella", "entity_paths": ["shop/pay"]}
    told.report("T-own", "success", "shop/pay/rule", attempts=tried, **said)

    assert "umbrella" in json.dumps(told.get("pro/export").json())
    assert "umbrella" not in json.dumps(helper.get("pro/export").json())


def test_what_an_agent_says_of_itself_names_nothing_beyond(told: Caller, narrow: Caller) -> None:
    paths = ["shop/pay", "vault/keys"]
    told.put(f"agents/{BOT}/profile", {"auto_context_paths": paths})
    able = [{"name": "both", "entity_paths": paths}, {"name": "open", "entity_paths": ["vault/keys"]}, {"name": "any"}]
    told.put(f"agents/{BOT}/capabilities", {"capabilities": able})
    told.put(f"agents/{BOT}/contracts", {"contracts": [{"entity_path": path} for path in paths]})

    profile = narrow.get(f"agents/{BOT}/profile")
    found = narrow.get("agents/discover")

    assert b"vault" not in profile.content
    assert b"vault" not in found.content
    assert profile.json()["profile"]["auto_context_paths"] == ["shop/pay"]
    assert [one["name"] for one in profile.json()["capabilities"]] == ["both", "any"]
    assert len(profile.json()["contracts"]) == 1
    assert narrow.get("agents/discover", entity_path="vault/keys").json()["total"] == 0
    assert told.get("agents/discover", entity_path="vault/keys").json()["total"] == 1
    assert len(told.get(f"agents/{BOT}/profile").json()["contracts"]) == 2


def test_the_profile_of_an_agent_beyond_those_listed_is_whole(account, told: Caller) -> None:
    later = timezone.now() + timedelta(days=1)
    many = range(roster.MOST)
    agents = [Agent(account=account, agent_id=f"agent/{n}", created_at=later, last_active_at=later) for n in many]
    Agent.objects.bulk_create(agents)

    profile = told.get(f"agents/{BOT}/profile").json()

    assert (profile["entriesWritten"], profile["entitiesTouched"]) == (2, 2)
    assert profile["lastActive"] is not None
    assert told.get("agents/agent/nobody-knows/profile").status_code == 404

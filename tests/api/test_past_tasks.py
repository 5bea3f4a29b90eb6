"""Past tasks teach nobody what they may not see: not what relied on private entries, nothing beyond a key's globs."""

import json
from typing import Any

import pytest

from senselab.accounts import services as accounts
from tests.api.conftest import Caller

TASK = "refund the customer of order 7"


@pytest.fixture
def narrow(account) -> Caller:
    """agent/shop-bot, whose key reaches the shop."""
    return Caller(accounts.create_key(account, name="shop key", globs=[{"pattern": "shop/**"}]), "agent/shop-bot")


def did(who: Caller, ref: str, path: str, action: str) -> None:
    done = [{"action_key": action, "success": True, "attempt": None}]
    who.report(ref, "success", f"{path}/rule", task_input=TASK, actions_taken=done, entity_paths=[path])


@pytest.fixture
def told(bot: Caller) -> Caller:
    """deploy-bot, whose tasks went well in the shop, in a vault, and by a secret of its own."""
    for path, shared in (("shop/pay", True), ("vault/keys", True), ("shop/secret", False)):
        bot.write(path, "rule", "refund the order", shared=shared)
    did(bot, "T-shop", "shop/pay", "ops:shop")
    did(bot, "T-vault", "vault/keys", "ops:vault")
    did(bot, "T-secret", "shop/secret", "ops:secret")
    return bot


def retrieved(who: Caller, path: str, **more: Any) -> str:
    body = {"query": TASK, "entity_path": path, "include_priors": True, "candidate_actions": ["ops:other"], **more}
    answer = who.post("retrieve", body)
    assert answer.status_code == 200, answer.content
    return json.dumps(answer.json())


def priors(who: Caller, path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(retrieved(who, path))[-1]["priors"]
    return found


@pytest.mark.parametrize("path", ["shop/pay", "shop/secret", "elsewhere"])
def test_what_relied_on_a_private_entry_is_no_prior_of_others(told: Caller, helper: Caller, path: str) -> None:
    assert "ops:secret" in retrieved(told, path)
    assert "ops:secret" not in retrieved(helper, path)
    assert "ops:shop" in retrieved(helper, path)


def test_a_briefing_shows_nothing_done_at_private_paths_below(told: Caller, helper: Caller) -> None:
    mine, theirs = (who.get("briefing", entity_path="shop").content for who in (told, helper))

    assert b"ops:secret" in mine
    assert b"ops:secret" not in theirs
    assert b"ops:shop" in theirs


@pytest.mark.parametrize("path", ["shop/pay", "vault/keys"])
def test_what_was_done_beyond_the_globs_is_neither_prior_nor_tried(told: Caller, narrow: Caller, path: str) -> None:
    assert "ops:vault" not in retrieved(narrow, path)
    assert b"ops:vault" not in narrow.get("briefing", entity_path=path).content
    assert b"ops:vault" not in narrow.get("briefing", entity_path="vault").content


def test_a_task_on_a_hidden_and_an_open_path_is_of_the_open_one(told: Caller, helper: Caller) -> None:
    done = [{"action_key": "ops:both", "success": True, "attempt": None}]
    told.report("T-both", "success", task_input=TASK, actions_taken=done, entity_paths=["shop/secret", "shop/pay"])

    here, there = (priors(helper, path) for path in ("shop/pay", "shop/secret"))

    assert "ops:both" in {row["action_key"] for row in here["tried"]}
    assert there["tried"] == []


def test_a_briefing_counts_authors_within_the_globs(told: Caller, helper: Caller, narrow: Caller) -> None:
    helper.write("vault/keys", "other", "turn it twice")

    assert b"agent/oncall-helper" in told.get("briefing").content
    assert b"agent/oncall-helper" not in narrow.get("briefing").content
    assert b"agent/deploy-bot" in narrow.get("briefing").content

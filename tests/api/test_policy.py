"""GET /api/v1/policy: the numbers an account learns by, and who changed them why."""

from django.utils import timezone

from memories.services import policies
from memories.services.ledger import Actor
from tests.db import acts


def save(account, changes, expected=1):
    policies.save(
        account.pk, changes, expected=expected, actor=Actor("person", "ada"), reason="we forget too slowly",
        now=timezone.now(),
    )  # fmt: skip


def test_the_default_is_told_with_every_number_and_no_versions(account, bot):
    told = bot.get("policy").json()
    assert (told["name"], told["version"], told["versions"]) == ("evidence-v1", 1, [])
    assert told["values"]["base_half_life"] == 69
    assert told["values"]["hot_capacity"] == 50
    assert len(told["values"]) > 40


def test_a_change_is_told_with_who_and_why_and_holds_from_the_next_call_on(account, bot, stranger):
    acts.put(account, confidence=0.4, now=timezone.now())
    save(account, {"review_below": 0.45})
    told = bot.get("policy").json()
    assert (told["version"], told["values"]["review_below"]) == (2, 0.45)
    assert [(one["version"], one["by"], one["why"]) for one in told["versions"]] == [
        (2, "ada", "we forget too slowly"),
        (1, None, None),
    ]
    written = bot.write("shop", "another", 1, confidence=0.4).json()
    assert written["status"] == "under_review"
    assert stranger.get("policy").json()["version"] == 1


def test_each_step_of_why_names_the_policy_it_was_made_under(account, bot):
    bot.write("shop", "k", 1, confidence=0.7)
    bot.report("first", "success", "shop/k")
    save(account, {"severity_failure": 3.0})
    bot.report("second", "failure", "shop/k")
    steps = bot.get("why", entity_path="shop", key="k").json()["steps"]
    assert [step["policy"] for step in steps] == ["evidence-v1@1", "evidence-v1@1", "evidence-v1@2"]
    assert "Severity of failure: 3" in steps[2]["words"]
    assert "Severity of success: 1" in steps[1]["words"]

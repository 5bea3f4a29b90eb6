"""Probation: what new or unbound agents write waits, marked, until an outcome from outside or a person takes it out."""

import pytest
from django.utils import timezone

from memories.checking import verify_reads
from memories.checking.verify_reads import Tally
from memories.services import policies
from memories.services.ledger import Actor
from senselab.accounts import services as accounts
from senselab.accounts.models import Agent
from tests.api.conftest import Caller

NAME = {"entity_path": "shop", "key": "retry"}


@pytest.fixture
def strict(account):
    """The account puts new and unbound agents on probation."""
    policies.save(
        account.pk, {"probation": True}, expected=1, actor=Actor("person", "ada"), reason="strangers write here",
        now=timezone.now(),
    )  # fmt: skip


@pytest.fixture
def trusted(account):
    """agent/old-hand, known for long, with a key of its own."""
    long_ago = timezone.now() - timezone.timedelta(days=30)
    Agent.objects.create(account=account, agent_id="agent/old-hand", created_at=long_ago, last_active_at=long_ago)
    return Caller(accounts.create_key(account, name="old hand", agent_id="agent/old-hand"))


def queue(reviewer):
    return [(item["key"], item["why"]) for item in reviewer.get("review").json()["items"]]


def test_by_default_nobody_is_on_probation(bot):
    told = bot.write("shop", "retry", 1).json()
    assert told["status"] == "active"
    assert "on_probation" not in told


def test_a_shared_key_and_a_new_agent_wait_and_who_is_known_does_not(strict, bot, bound, trusted, reviewer):
    waiting = [bot.write("shop", "a", 1).json(), bound.write("shop", "b", 1).json()]
    assert [(told["status"], told["on_probation"]) for told in waiting] == [("under_review", True)] * 2
    assert trusted.write("shop", "c", 1).json()["status"] == "active"
    assert bot.read("shop", "a")["on_probation"] is True
    assert [why.startswith("On probation, as agent/deploy-bot is new") for _, why in queue(reviewer)] == [True, True]


def test_a_stranger_that_rewrites_what_stood_puts_it_on_probation_and_saying_the_same_does_not(
    account, strict, bot, trusted
):
    trusted.write("shop", "retry", "three times")
    assert bot.write("shop", "retry", "three times").json()["status"] == "active"
    assert bot.write("shop", "retry", "never").json()["on_probation"] is True
    assert trusted.write("shop", "retry", "three times").json()["status"] == "under_review"
    assert list(verify_reads.account_findings(account, Tally())) == []


def test_each_way_to_write_obeys(strict, bot, trusted):
    bot.post("commits", {"writes": [{"entity_path": "shop", "key": "a", "value": 1}]})
    bot.post("events", {"source": "ci", "entity_path": "shop", "key": "b", "value": 1})
    trusted.write("shop", "old", 1)
    bot.post("feedback", {"entity_path": "shop", "key": "old", "outcome": "superseded",
                          "replacement": {"key": "c", "value": 2}})  # fmt: skip
    assert [bot.read("shop", key).get("on_probation") for key in "abc"] == [True] * 3


def test_only_an_outcome_verified_from_outside_ends_it(strict, bot, trusted):
    bot.write("shop", "retry", 1, confidence=0.7)
    bot.report("T-1", "success", "shop/retry")
    trusted.report("T-2", "success", "shop/retry")
    assert bot.read("shop", "retry")["status"] == "under_review"
    bot.report("T-3", "success", "shop/retry", session_metadata={"verified_by": "me"})
    assert bot.read("shop", "retry")["status"] == "under_review"
    trusted.report("T-4", "success", "shop/retry", session_metadata={"verified_by": "ci"})
    told = bot.read("shop", "retry")
    assert told["status"] == "active"
    assert "on_probation" not in told
    assert bot.write("shop", "retry", 1).json()["status"] == "active"


def test_or_a_person(strict, bot, reviewer):
    bot.write("shop", "retry", 1)
    decided = {"items": [{**NAME, "version": 1}], "decision": "accept"}
    assert reviewer.post("review/decisions", decided).status_code == 200
    told = bot.read("shop", "retry")
    assert told["status"] == "active"
    assert "on_probation" not in told


def test_it_ranks_below_what_says_the_same_and_is_not_served_to_a_task(strict, bot, trusted):
    bot.write("shop", "poison", "retry payments with jitter", confidence=1.0)
    trusted.write("shop", "proven", "retry payments with jitter", confidence=0.5)
    found = bot.post("search", {"query": "retry payments jitter", "sort_by": "relevance"}).json()
    assert [entry["key"] for entry in found] == ["proven", "poison"]
    served = bot.post("retrieve", {"query": "retry payments with jitter"}).json()
    assert "poison" not in str(served)

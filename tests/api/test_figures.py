"""Aggregate, quality, references, reuse and digests: computed of what the caller may see."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories import weighing
from memories.jobs import likeness
from memories.jobs.runs import Run


@pytest.fixture
def probes(bot):
    """Three shared measurements and a private one."""
    for key, ms in (("a", 10), ("b", 20), ("c", 60)):
        bot.write("shop/probes", key, {"ms": ms, "region": "eu" if ms < 50 else "us"}, pattern_refs=["shop/api/slo"])
    bot.write("shop/probes", "own", {"ms": 1000}, shared=False)


def test_what_the_caller_may_not_see_is_left_out_before_anything_is_summed(probes, bot, helper, stranger):
    asked = {"entity_path": "shop/probes", "op": "sum", "field": "ms"}
    assert [who.post("aggregate", asked).json()["sum"] for who in (bot, helper, stranger)] == [1090, 90, 0]


def test_figures_come_by_group(probes, helper):
    asked = {"entity_path": "shop/probes", "op": "mean", "field": "ms", "group_by": "region"}
    told = helper.post("aggregate", asked).json()
    assert told["groups"] == [{"key": "us", "count": 1, "mean": 60.0}, {"key": "eu", "count": 2, "mean": 15.0}] or (
        told["groups"] == [{"key": "eu", "count": 2, "mean": 15.0}, {"key": "us", "count": 1, "mean": 60.0}]
    )
    assert (told["total_rows"], told["entries_scanned"]) == (3, 3)


def test_too_much_is_refused_and_not_read(probes, bot, monkeypatch):
    monkeypatch.setattr(weighing, "ENTRIES", 2)
    answer = bot.post("aggregate", {"entity_path": "shop/probes"})
    assert answer.status_code == 422
    assert "at most 2" in answer.json()["detail"]


def test_aggregate_says_what_is_wrong(bot):
    assert bot.post("aggregate", {"op": "count"}).status_code == 422
    assert bot.post("aggregate", {"entity_path": "shop", "op": "median", "field": "x"}).status_code == 400
    assert bot.post("aggregate", {"entity_path": "shop", "op": "sum"}).status_code == 400


def test_quality_is_advice_about_one_entry_or_many(probes, bot, helper):
    told = bot.get("quality/shop/probes/a").json()
    assert told["quality"]["action"] == "stored_with_suggestions"
    assert [issue["type"] for issue in told["quality"]["issues"]] == ["too_short"]
    assert helper.get("quality/shop/probes/own").status_code == 404
    assert helper.post("quality/batch", {"entity_path": "shop/probes"}).json()["total"] == 3
    named = [{"entity_path": "shop/probes", "key": key} for key in ("a", "own", "never")]
    assert helper.post("quality/batch", {"entries": named}).json()["results"] == [told]
    assert helper.post("quality/batch", {}).status_code == 422


def test_references_are_counted(probes, helper, stranger):
    told = helper.get("patterns").json()
    assert told == {
        "patterns": [{"pattern_ref": "shop/api/slo", "usage_count": 3, "entity_paths": ["shop/probes"]}],
        "total": 1,
    }
    assert stranger.get("patterns").json() == {"patterns": [], "total": 0}


def test_reuse_tells_who_read_what_of_whom(probes, bot, helper, counted):
    helper.read("shop/probes", "a")
    helper.read("shop/probes", "a")
    bot.read("shop/probes", "own")
    counted()
    told = helper.get("reuse").json()
    assert (told["reuses"], told["memories_reused"], told["cross_surface"]) == (2, 1, 2)
    assert told["est_tokens_saved"] == 400
    assert told["top"][0]["key"] == "a"
    assert told["by_agent"] == [{"agent_id": "agent/oncall-helper", "reuses": 2}]
    assert told["recent_cross_surface"][0]["written_by"] == "agent/deploy-bot"
    assert bot.get("reuse", days=1).json()["reuses"] == 3
    assert bot.get("reuse", agent="agent/deploy-bot").json()["reuses"] == 1


def test_digests_are_made_when_asked_for(probes, bot, helper):
    bot.post("events", {"source": "monitor", "entity_path": "shop/alerts", "key": "cpu", "value": 95})
    told = helper.get("cortex/digests").json()
    scopes = {(digest["digest_type"], digest["scope"]): digest["entry_count"] for digest in told["digests"]}
    assert scopes == {
        ("entity", "shop/probes"): 3,
        ("entity", "shop/alerts"): 1,
        ("agent_brief", "agent/deploy-bot"): 3,
        ("agent_brief", "external/monitor"): 1,
        ("source", "external/monitor"): 1,
    }
    status = helper.get("cortex/status").json()
    assert status["digest_types"] == {"entity": 2, "agent_brief": 2, "source": 1}
    only = helper.get("cortex/digests", digest_type="source").json()
    assert only["total"] == 1
    assert len(helper.get("cortex/activity").json()["writes"]) == 14


def test_what_is_alike_is_named_as_a_candidate(account, bot, stranger):
    bot.write("shop", "one", "Retry with jitter, three times at most")
    bot.write("shop", "two", "retry with jitter; three times at most.")
    likeness.compare_new(account, timezone.now() + timedelta(minutes=5), Run())
    told = bot.get("cortex/consolidation/candidates", limit=20).json()
    assert (told["total"], told["candidates"][0]["kind"]) == (1, "same")
    assert {side["key"] for side in told["candidates"][0]["entries"]} == {"one", "two"}
    assert bot.post("cortex/consolidate", {}).json()["candidates"] == told["candidates"]
    assert bot.get("cortex/consolidation/status").json()["candidates"] == 1
    assert stranger.get("cortex/consolidation/candidates").json()["total"] == 0


def test_consolidation_says_that_people_decide(bot):
    assert bot.get("cortex/consolidation/status").json()["enabled"] is False
    assert bot.get("cortex/consolidation/proposals", status="pending", limit=20).json()["proposals"] == []
    assert bot.get("cortex/consolidation/candidates", limit=20).json()["candidates"] == []
    assert bot.post("cortex/consolidate", {"dry_run": True}).json()["dry_run"] is True
    assert bot.post("cortex/consolidate", {"dry_run": False}).status_code == 422

"""Calls in the shape of the public server: verify, diff, patches, events, and going back to a moment."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.db import acts

NAME = {"entity_path": "shop", "key": "retry"}


@pytest.fixture
def rewritten(bot):
    """An entry of two versions."""
    bot.write("shop", "retry", {"max": 3, "wait": 1}, confidence=0.7)
    bot.write("shop", "retry", {"max": 6, "wait": 1}, confidence=0.9)


def test_diff_by_body_compares_with_the_version_before(rewritten, bot, helper):
    told = helper.post("diff", NAME).json()
    assert told["field_changes"] == [{"path": "/max", "operation": "replace", "old_value": 3, "new_value": 6}]
    assert (told["diff_type"], told["parent_value"]["max"], told["branch_value"]["max"]) == ("modified", 3, 6)
    assert (told["parent_confidence"], told["branch_confidence"]) == (0.7, 0.9)
    bot.write("shop", "new", 1)
    first = bot.post("diff", {"entity_path": "shop", "key": "new"}).json()
    assert (first["diff_type"], first["parent_value"]) == ("added", None)
    assert bot.post("diff", NAME | {"old_version": 9}).status_code == 404


def test_a_patch_leads_from_the_older_version(rewritten, bot):
    told = bot.post("patches", NAME | {"source_version": 1}).json()
    assert (told["source_version"], told["target_version"], len(told["changes"])) == (1, 2, 1)


def test_verify_recomputes_what_the_caller_may_see(rewritten, bot, helper):
    bot.write("shop", "own", 1, shared=False)
    bot.report("t1", "success", "shop/retry")
    told = bot.post("verify", {}).json()
    assert (told["total_checked"], told["valid"], told["corrupted"], told["chain_breaks"]) == (4, 4, [], [])
    assert helper.post("verify", {"entity_path": "shop"}).json()["total_checked"] == 3
    assert told["complete"] is True


def test_an_event_is_written_by_its_source(bot, helper):
    told = bot.post("events", {"source": "mon", "entity_path": "shop", "key": "alert", "value": {"cpu": 95}}).json()
    assert (told["status"], told["agent_id"]) == ("ok", "external/mon")
    assert helper.read("shop", "alert")["provenance"]["agent_id"] == "external/mon"


def test_a_bound_key_is_no_other_source(bound):
    body = {"source": "mon", "entity_path": "shop", "key": "alert", "value": 1}
    assert bound.post("events", body).status_code == 409


@pytest.fixture
def history(account):
    """Yesterday agent/ship wrote two entries; an hour ago it changed one and added another. Somebody else wrote too."""
    now = timezone.now()
    day, hour = now - timedelta(days=1), now - timedelta(hours=1)
    acts.put(account, "old", key="changed", by="agent/ship", now=day)
    acts.put(account, "kept", key="kept", by="agent/ship", now=day)
    acts.put(account, "new", key="changed", by="agent/ship", now=hour)
    acts.put(account, "late", key="late", by="agent/ship", now=hour)
    acts.put(account, "theirs", key="theirs", by="agent/else", now=hour)
    return now - timedelta(hours=2)


def test_going_back_to_a_moment_writes_what_stood_then_and_deletes_nothing(history, reviewer):
    body = {"agent_id": "agent/ship", "target_timestamp": history.isoformat()}
    told = reviewer_as(reviewer, "agent/ship").post("rollback", body).json()
    assert (told["entries_restored"], told["entries_archived"], told["agent_id"]) == (1, 1, "agent/ship")
    changed = reviewer.read("shop", "changed")
    assert (changed["value"], changed["version"]) == ("old", 3)
    assert reviewer.read("shop", "late")["status"] == "archived"
    assert [reviewer.read("shop", key)["version"] for key in ("kept", "theirs")] == [1, 1]
    undone = reviewer.post(f"change-sets/{told['change_set']}/undo", {}).json()
    assert undone["restored"] == 2
    assert reviewer.read("shop", "changed")["value"] == "new"


def reviewer_as(reviewer, agent):
    reviewer.headers["X-AMFS-Agent-Id"] = agent
    return reviewer


def test_a_moment_after_which_nothing_moved_changes_nothing(history, reviewer):
    body = {"agent_id": "agent/ship", "target_timestamp": timezone.now().isoformat()}
    assert reviewer_as(reviewer, "agent/ship").post("rollback", body).json()["entries_restored"] == 0


@pytest.mark.parametrize(
    "body",
    [
        {"target_timestamp": "2026-11-30T00:00:00Z"},
        {"agent_id": "a", "target_event_id": "7"},
        {"agent_id": "a", "target_timestamp": "2999-01-01T00:00:00Z"},
        {"agent_id": "a", "target_timestamp": "2026-11-30T00:00:00Z", "to_version": 1, **NAME},
    ],
    ids=["no agent", "an event", "to come", "both bodies"],
)
def test_a_moment_that_cannot_be_is_refused(reviewer, body):
    assert reviewer.post("rollback", body).status_code == 422


def test_going_back_needs_the_scope_review(bot):
    body = {"agent_id": "agent/deploy-bot", "target_timestamp": "2026-11-30T00:00:00Z"}
    assert bot.post("rollback", body).status_code == 403

"""GET /api/v1/review and POST /api/v1/review/decisions, for people's tools."""

import pytest

from memories.models import ChangeSet


def doubtful(bot, key="retry", confidence=0.2, value="wait"):
    """Write an entry that is under review at once."""
    return bot.write("shop", key, value, confidence=confidence).json()


def decide(caller, decision, *items, **more):
    named = [{"entity_path": path, "key": key, "version": version} for path, key, version in items]
    body = {"decision": decision, **more} | ({"items": named} if items else {})
    return caller.post("review/decisions", body)


def queue(caller, **query):
    return caller.get("review", **query).json()["items"]


def keys(items):
    return [item["key"] for item in items]


def test_the_queue_and_decisions_need_the_scope_review(bot):
    doubtful(bot)
    assert bot.get("review").status_code == 403
    assert decide(bot, "accept", ("shop", "retry", 1)).status_code == 403
    assert bot.read("shop", "retry")["status"] == "under_review"


def test_the_queue_says_why_each_item_is_here(bot, reviewer):
    doubtful(bot)
    bot.write("shop", "stock", 1, confidence=0.7)
    bot.report("t1", "success", "shop/stock")
    bot.report("t2", "failure", "shop/stock")
    bot.report("t3", "failure", "shop/stock")
    bot.write("shop", "fine", 1, confidence=0.9)
    items = {item["key"]: item for item in queue(reviewer)}
    assert set(items) == {"retry", "stock"}
    assert items["retry"]["reasons"] == ["under_review"]
    assert items["retry"]["why"] == "Written by agent/deploy-bot with a confidence of 0.20"
    assert "discredited" in items["stock"]["reasons"]
    before, after = items["stock"]["why"].split("; ")[1].split(" to ")
    assert items["stock"]["why"].startswith("2 failures within a day; ")
    assert (before, after) == ("0.82", f"{items['stock']['effective_confidence']:.2f}")


def test_the_queue_is_filtered_by_reason_entity_and_agent(bot, helper, reviewer):
    doubtful(bot, "a")
    helper.write("shop/till", "b", 1, confidence=0.2)
    helper.write("shopping", "c", 1, confidence=0.8)
    helper.post("feedback", {"entity_path": "shopping", "key": "c", "outcome": "rejected"})
    assert keys(queue(reviewer, reason="rejected")) == ["c"]
    assert sorted(keys(queue(reviewer, reason="rejected,under_review"))) == ["a", "b", "c"]
    assert sorted(keys(queue(reviewer, entity_path="shop"))) == ["a", "b"]
    assert sorted(keys(queue(reviewer, agent_id="agent/oncall-helper"))) == ["b", "c"]
    assert queue(reviewer, older_than_days=1) == []


def test_the_queue_is_paged_to_its_end(bot, reviewer):
    for number in range(7):
        doubtful(bot, f"k{number}", confidence=0.1 + number / 100)
    seen, cursor = [], None
    while True:
        page = reviewer.get("review", limit=3, **({"cursor": cursor} if cursor else {})).json()
        seen += keys(page["items"])
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == [f"k{number}" for number in range(7)]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"reason": "boring"}, 422),
        ({"sort": "colour"}, 422),
        ({"limit": 0}, 422),
        ({"limit": 201}, 422),
        ({"cursor": "nonsense"}, 400),
        ({"older_than_days": -1}, 422),
        ({"entity_path": "a\u0000"}, 422),
    ],
)
def test_a_query_that_cannot_be_is_refused(reviewer, query, status):
    assert reviewer.get("review", **query).status_code == status


def test_private_entries_of_others_are_not_in_an_agents_queue(bot, reviewer):
    bot.write("shop", "secret", 1, confidence=0.2, shared=False)
    assert queue(reviewer) == []


@pytest.mark.parametrize(
    ("decision", "more", "status", "confidence"),
    [
        ("accept", {}, "active", 0.35),
        ("reject", {}, "archived", 0.05),
        ("archive", {}, "archived", 0.25),
        ("edit", {"value": "do not wait", "confidence": 0.9}, "active", 0.9),
        ("supersede", {"superseded_by": "shop/better"}, "superseded", 0.25),
        ("supersede", {"replacement": {"value": "new"}}, "superseded", 0.25),
        ("snooze", {}, "under_review", 0.25),
        ("snooze", {"until": "2099-01-01T00:00:00Z"}, "under_review", 0.25),
    ],
)
def test_each_decision_is_one_change_set_and_takes_the_item_out_of_the_queue(
    bot, reviewer, account, decision, more, status, confidence
):
    doubtful(bot, confidence=0.25)
    bot.write("shop", "better", 2)
    response = decide(reviewer, decision, ("shop", "retry", 1), reason="seen it", **more)
    told = response.json()
    assert (response.status_code, told["done"], told["failed"]) == (200, 1, [])
    assert response["X-Change-Set"] == str(told["change_set"])
    entry = bot.read("shop", "retry")
    assert (entry["status"], round(entry["confidence"], 9), entry["version"]) == (status, confidence, 2)
    made = ChangeSet.objects.get(account_id=account.pk, pk=told["change_set"])
    assert (made.kind, made.cause, made.reason) == ("decision", decision, "seen it")
    assert queue(reviewer) == []
    # ... and undo brings it back, as it was.
    assert reviewer.post(f"change-sets/{told['change_set']}/undo", {}).status_code == 200
    entry = bot.read("shop", "retry")
    assert (entry["status"], entry["confidence"], entry["value"]) == ("under_review", 0.25, "wait")
    assert keys(queue(reviewer)) == ["retry"]


def test_a_rollback_goes_to_the_last_validated_version(bot, reviewer):
    bot.write("shop", "retry", "good", confidence=0.7)
    bot.report("t1", "success", "shop/retry")
    bot.write("shop", "retry", "bad", confidence=0.7)
    bot.report("t2", "failure", "shop/retry")
    assert keys(queue(reviewer, reason="discredited")) == ["retry"]
    assert decide(reviewer, "rollback", ("shop", "retry", 4)).status_code == 200
    entry = bot.read("shop", "retry")
    assert (entry["value"], entry["status"], entry["evidence_status"]) == ("good", "active", "validated")
    assert round(entry["confidence"], 6) == 0.818182
    assert queue(reviewer) == []


def test_a_rollback_may_name_its_version(bot, reviewer):
    doubtful(bot, value="first")
    bot.write("shop", "retry", "second", confidence=0.2)
    assert decide(reviewer, "rollback", ("shop", "retry", 2), to_version=9).status_code == 404
    assert decide(reviewer, "rollback", ("shop", "retry", 2), to_version=2).status_code == 409
    assert decide(reviewer, "rollback", ("shop", "retry", 2)).status_code == 409
    assert decide(reviewer, "rollback", ("shop", "retry", 2), to_version=1).status_code == 200
    assert bot.read("shop", "retry")["value"] == "first"


def test_pinning_keeps_an_item_under_review_there_and_sees_what_else_it_was_here_for(bot, reviewer):
    bot.write("shop", "retry", 1, confidence=0.9)
    bot.post("feedback", {"entity_path": "shop", "key": "retry", "outcome": "rejected"})
    doubtful(bot, "low")
    assert decide(reviewer, "pin", ("shop", "retry", 2)).status_code == 200
    assert decide(reviewer, "pin", ("shop", "low", 1)).status_code == 200
    assert bot.read("shop", "retry")["pinned"] is True
    assert keys(queue(reviewer)) == ["low"]
    assert decide(reviewer, "pin", ("shop", "retry", 3)).status_code == 409
    assert decide(reviewer, "unpin", ("shop", "retry", 3)).status_code == 200
    assert bot.read("shop", "retry")["pinned"] is False


def test_skipping_changes_nothing(bot, reviewer):
    doubtful(bot)
    told = decide(reviewer, "skip", ("shop", "retry", 1)).json()
    assert (told["done"], told["change_set"]) == (1, None)
    assert (keys(queue(reviewer)), bot.read("shop", "retry")["version"]) == (["retry"], 1)


def test_a_comment_makes_no_version_and_can_be_taken_back(bot, reviewer):
    doubtful(bot)
    told = decide(reviewer, "comment", ("shop", "retry", 1), text="ask the bank").json()
    assert bot.read("shop", "retry")["version"] == 1
    assert reviewer.post(f"change-sets/{told['change_set']}/undo", {}).status_code == 200
    assert reviewer.post(f"change-sets/{told['change_set']}/undo", {}).status_code == 409


def test_deciding_on_what_a_colleague_decided_answers_409_with_who_what_and_when(bot, reviewer, account):
    doubtful(bot)
    first = decide(reviewer, "accept", ("shop", "retry", 1), reason="known good").json()
    response = decide(reviewer, "archive", ("shop", "retry", 1))
    told = response.json()
    assert response.status_code == 409
    assert (told["decided_by"], told["decision"], told["reason"]) == ("review-tool", "accept", "known good")
    assert told["change_set"] == first["change_set"]
    assert (told["current_version"], told["status_now"]) == (2, "active")
    assert told["decided_at"].endswith("Z")
    assert bot.read("shop", "retry")["status"] == "active"


def test_a_version_that_moved_otherwise_answers_412(bot, reviewer):
    doubtful(bot)
    bot.write("shop", "retry", "other", confidence=0.2)
    response = decide(reviewer, "accept", ("shop", "retry", 1))
    assert (response.status_code, response.json()["current_version"]) == (412, 2)


def test_a_decision_that_was_undone_is_no_colleagues_decision_any_more(bot, reviewer):
    doubtful(bot)
    made = decide(reviewer, "accept", ("shop", "retry", 1)).json()["change_set"]
    reviewer.post(f"change-sets/{made}/undo", {})
    assert decide(reviewer, "archive", ("shop", "retry", 1)).status_code == 412


def test_of_several_those_that_cannot_be_decided_about_are_listed_and_the_rest_is_one_change_set(
    bot, reviewer, account
):
    for key in ("a", "b", "c"):
        doubtful(bot, key)
    decide(reviewer, "accept", ("shop", "b", 1))
    items = [("shop", key, version) for key, version in (("a", 1), ("b", 1), ("c", 9), ("nowhere", 1))]
    response = decide(reviewer, "archive", *items)
    told = response.json()
    assert (response.status_code, told["done"]) == (200, 1)
    assert {failed["key"]: failed["status"] for failed in told["failed"]} == {"b": 409, "c": 404, "nowhere": 404}
    assert all(failed["why"] for failed in told["failed"])
    assert ChangeSet.objects.get(account_id=account.pk, pk=told["change_set"]).size == 1
    assert bot.read("shop", "a")["status"] == "archived"


def test_a_filter_selects_what_is_decided_about(bot, reviewer):
    for key in ("a", "b"):
        doubtful(bot, key)
    bot.write("lab", "c", 1, confidence=0.2)
    preview = decide(reviewer, "archive", filter={"entity_path": "shop"}, preview=True).json()
    assert preview == {"matching": 2}
    assert bot.read("shop", "a")["status"] == "under_review"
    assert decide(reviewer, "archive", filter={"entity_path": "shop"}).json()["done"] == 2
    assert keys(queue(reviewer)) == ["c"]


def test_an_empty_filter_has_to_be_typed_out(bot, reviewer):
    doubtful(bot)
    for body in ({"filter": {}}, {"filter": {}, "preview": True}):
        response = decide(reviewer, "archive", **body)
        assert response.status_code == 422
        assert "all: true" in response.json()["detail"]
    assert bot.read("shop", "retry")["status"] == "under_review"
    assert decide(reviewer, "archive", filter={}, all=True).json()["done"] == 1


def test_a_filter_that_matches_nothing_is_refused(bot, reviewer):
    doubtful(bot)
    response = decide(reviewer, "archive", filter={"reason": "expiring"})
    assert response.status_code == 422
    assert "Nothing matches" in response.json()["detail"]


@pytest.mark.parametrize(
    ("decision", "more", "status"),
    [
        ("praise", {}, 422),
        ("send", {}, 422),
        ("edit", {}, 422),
        ("edit", {"value": "wait"}, 409),
        ("edit", {"value": "new", "memory_type": "rumour"}, 422),
        ("edit", {"value": "new", "confidence": 1.2}, 422),
        ("supersede", {}, 422),
        ("supersede", {"superseded_by": "shop/retry"}, 422),
        ("supersede", {"superseded_by": "shop/nowhere"}, 422),
        ("supersede", {"superseded_by": "shop/a", "replacement": {"value": 1}}, 422),
        ("snooze", {"until": "2001-01-01T00:00:00Z"}, 422),
        ("snooze", {"until": "2099-01-01T00:00:00"}, 422),
        ("comment", {}, 422),
        ("comment", {"text": "  "}, 422),
        ("accept", {"reason": "x" * 2001}, 422),
        ("accept", {"filter": {"reason": "contested"}}, 422),
        ("rollback", {"to_version": 0}, 422),
    ],
)
def test_a_decision_that_cannot_be_is_refused_and_changes_nothing(bot, reviewer, decision, more, status):
    doubtful(bot)
    response = decide(reviewer, decision, ("shop", "retry", 1), **more)
    assert response.status_code == status
    assert response.json()["detail"]
    assert bot.read("shop", "retry")["version"] == 1


def test_a_decision_names_items_or_a_filter(reviewer):
    assert reviewer.post("review/decisions", {"decision": "accept"}).status_code == 422
    assert reviewer.post("review/decisions", {"decision": "accept", "items": []}).status_code == 422


def test_what_is_gone_or_somebody_elses_cannot_be_decided_about(bot, reviewer):
    bot.write("shop", "secret", 1, confidence=0.2, shared=False)
    assert decide(reviewer, "accept", ("shop", "secret", 1)).status_code == 404
    assert decide(reviewer, "accept", ("shop", "nowhere", 1)).status_code == 404


def test_a_repeated_call_with_an_idempotency_key_decides_once(bot, reviewer):
    doubtful(bot)
    body = {"decision": "accept", "items": [{"entity_path": "shop", "key": "retry", "version": 1}]}
    first, second = (reviewer.post("review/decisions", body, headers={"Idempotency-Key": "d"}) for _ in range(2))
    assert (first.status_code, first.content) == (200, second.content)
    assert bot.read("shop", "retry")["version"] == 2


def test_more_than_two_hundred_become_a_run_that_can_be_watched(bot, reviewer, account):
    from memories.services import bulk_run
    from tests.db import acts

    acts.fill(account, 201, confidence=0.2)
    response = decide(reviewer, "archive", filter={"reason": "under_review"}, reason="all wrong")
    told = response.json()
    assert (response.status_code, told["state"], told["total"]) == (202, "waiting", 201)
    assert bulk_run.work(account.pk, told["run"]) == 201
    seen = reviewer.get(f"review/runs/{told['run']}").json()
    assert (seen["state"], seen["done"], seen["failed"], seen["left"], seen["failures"]) == ("finished", 201, 0, 0, [])
    assert ChangeSet.objects.get(account_id=account.pk, pk=seen["change_set"]).size == 201
    assert queue(reviewer) == []
    assert reviewer.post(f"review/runs/{told['run']}/again", {}).status_code == 409
    assert reviewer.post(f"review/runs/{told['run']}/cancel", {}).status_code == 409
    assert reviewer.get("review/runs/999999").status_code == 404
    assert bot.get(f"review/runs/{told['run']}").status_code == 403

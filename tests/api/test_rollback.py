"""POST /api/v1/rollback, change sets and undo."""

import pytest

from senselab import cursors

STORY = {"path": "shop/checkout", "key": "retry"}


@pytest.fixture
def spoiled(bot):
    """A rule that was validated, rewritten and discredited: v1 and v2 good, v3 rewritten, v4 failed."""
    bot.write("shop/checkout", "retry", {"max": 3}, confidence=0.7)
    bot.report("t1", "success", "shop/checkout/retry")
    bot.write("shop/checkout", "retry", {"max": 6}, confidence=0.8)
    bot.report("t2", "failure", "shop/checkout/retry")
    return "retry"


def roll_back(caller, to, expected, **more):
    body = {"entity_path": "shop/checkout", "key": "retry", "to_version": to, "expected_version": expected, **more}
    return caller.post("rollback", body)


def test_a_rollback_writes_the_old_claim_and_record_anew_on_top(spoiled, reviewer):
    response = roll_back(reviewer, 2, 4, reason="double charges")
    told = response.json()
    entry = told["entry"]
    assert response.status_code == 200
    assert (entry["version"], entry["value"], entry["evidence_status"], entry["status"]) == (
        5,
        {"max": 3},
        "validated",
        "active",
    )
    assert round(entry["confidence"], 6) == 0.818182
    assert entry["freshness"] == 1.0
    assert response["X-Change-Set"] == str(told["change_set"])
    history = reviewer.get("history", entity_path="shop/checkout", key="retry").json()["versions"]
    assert [version["version"] for version in history] == [1, 2, 3, 4, 5]
    assert history[3]["evidence_status"] == "discredited"


def test_a_rollback_finds_the_old_words_again(spoiled, bot, reviewer):
    bot.write("shop/checkout", "retry", "exponential backoff")
    bot.write("shop/checkout", "retry", "fixed pause")
    roll_back(reviewer, 5, 6)
    assert [hit["key"] for hit in bot.post("search", {"query": "exponential"}).json()] == ["retry"]
    assert bot.post("search", {"query": "pause"}).json() == []


def test_a_rollback_is_refused_when_somebody_wrote_since(spoiled, bot, reviewer):
    bot.write("shop/checkout", "retry", {"max": 7})
    response = roll_back(reviewer, 2, 4)
    assert response.status_code == 412
    assert response.json()["current_version"] == 5
    assert bot.read("shop/checkout", "retry")["value"] == {"max": 7}


def test_a_rollback_says_which_version_was_looked_at_or_is_refused(spoiled, reviewer):
    response = reviewer.post("rollback", {"entity_path": "shop/checkout", "key": "retry", "to_version": 2})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/expected_version"


@pytest.mark.parametrize(("to", "status"), [(4, 409), (9, 404), (0, 422), (-1, 422), ("2", 422)])
def test_a_rollback_to_nowhere_is_refused(spoiled, reviewer, to, status):
    assert roll_back(reviewer, to, 4).status_code == status


def test_an_agents_key_may_not_roll_back(spoiled, bot):
    assert roll_back(bot, 2, 4).status_code == 403
    assert bot.read("shop/checkout", "retry")["version"] == 4


def test_a_preview_writes_nothing_and_tells_what_would_change(spoiled, bot, reviewer, counted):
    bot.read("shop/checkout", "retry")
    counted()
    told = roll_back(reviewer, 2, 4, preview=True).json()
    assert {"path": "/max", "operation": "replace", "old": 6, "new": 3} in told["changes"]
    assert told["keeps"]
    assert told["reach"][0]["agent_id"] == "agent/deploy-bot"
    assert reviewer.read("shop/checkout", "retry")["version"] == 4


def test_an_undone_rollback_leaves_what_was_before(spoiled, reviewer):
    before = reviewer.read("shop/checkout", "retry")
    change_set = roll_back(reviewer, 2, 4).json()["change_set"]
    response = reviewer.post(f"change-sets/{change_set}/undo", {"reason": "too hasty"})
    after = reviewer.read("shop/checkout", "retry")
    assert response.json()["restored"] == 1
    assert after["version"] == 6
    for name in ("value", "confidence", "evidence_status", "status", "discredited_at", "failure_count"):
        assert after[name] == before[name]


def test_undoing_a_creation_archives_the_entry(bot):
    change_set = bot.write("shop", "mistake", 1)["X-Change-Set"]
    assert bot.post(f"change-sets/{change_set}/undo", {}).status_code == 200
    assert bot.read("shop", "mistake")["status"] == "archived"
    assert bot.get("entries", entity_path="shop").json()["total"] == 0


def test_undoing_a_set_of_one_that_somebody_changed_since_is_412(bot):
    change_set = bot.write("shop", "k", 1)["X-Change-Set"]
    bot.write("shop", "k", 2)
    response = bot.post(f"change-sets/{change_set}/undo", {})
    assert response.status_code == 412
    assert bot.read("shop", "k")["value"] == 2


def test_undoing_an_outcome_leaves_alone_what_was_changed_since_and_says_so(bot, reviewer):
    bot.write("shop", "a", 1, confidence=0.7)
    bot.write("shop", "b", 1, confidence=0.7)
    change_set = bot.report("t1", "failure", "shop/a", "shop/b")["X-Change-Set"]
    bot.write("shop", "b", 2, confidence=0.9)
    told = reviewer.post(f"change-sets/{change_set}/undo", {}).json()
    assert told["restored"] == 1
    (left,) = told["left"]
    assert (left["key"], left["made"], left["current"]) == ("b", 2, 3)
    assert left["diff"].endswith("from=2&to=3")
    assert bot.read("shop", "a")["confidence"] == 0.7
    assert bot.read("shop", "b")["value"] == 2


def test_what_others_did_is_undone_with_the_scope_review_alone(bot, helper, reviewer):
    change_set = bot.write("shop", "k", 1)["X-Change-Set"]
    assert helper.post(f"change-sets/{change_set}/undo", {}).status_code == 403
    assert reviewer.post(f"change-sets/{change_set}/undo", {}).status_code == 200


def test_an_undo_points_to_what_it_undid(bot):
    change_set = int(bot.write("shop", "k", 1)["X-Change-Set"])
    undo = bot.post(f"change-sets/{change_set}/undo", {}).json()["change_set"]
    listed = bot.get("change-sets").json()["change_sets"]
    assert [(row["id"], row["undoes"], row["undone_by"]) for row in listed] == [
        (undo, change_set, None),
        (change_set, None, undo),
    ]


def test_change_sets_page_by_cursor_and_refuse_a_bad_one(bot):
    for number in range(55):
        bot.write("shop", f"k{number}", 1)
    first = bot.get("change-sets").json()
    second = bot.get("change-sets", cursor=first["next"]).json()
    assert (len(first["change_sets"]), len(second["change_sets"]), second["next"]) == (50, 5, None)
    for cursor in ("nonsense", cursors.make("2026-01-01", 1), cursors.make("2026-01-01T00:00:00Z", 2**70)):
        assert bot.get("change-sets", cursor=cursor).status_code == 400
    assert bot.get("change-sets", kind="\0").status_code == 422


def test_a_stranger_cannot_undo_or_see_a_change_set(bot, stranger):
    change_set = bot.write("shop", "k", 1)["X-Change-Set"]
    assert stranger.post(f"change-sets/{change_set}/undo", {}).status_code == 404
    assert stranger.get("change-sets").json()["change_sets"] == []


def test_undoing_a_publish_gives_the_entry_back_to_its_owner(bot, helper):
    bot.write("shop", "mine", 1, shared=False)
    change_set = bot.write("shop", "mine", 1)["X-Change-Set"]
    assert helper.read("shop", "mine")["value"] == 1
    assert bot.post(f"change-sets/{change_set}/undo", {}).status_code == 200
    assert helper.read("shop", "mine")["status"] == "not_found"
    assert bot.read("shop", "mine")["shared"] is False


def test_a_publish_whose_name_is_taken_again_is_not_undone_and_says_so(bot):
    bot.write("shop", "mine", 1, shared=False)
    change_set = bot.write("shop", "mine", 1)["X-Change-Set"]
    bot.write("shop", "mine", 2, shared=False)
    response = bot.post(f"change-sets/{change_set}/undo", {})
    assert response.status_code == 409
    assert "name" in response.json()["detail"]


def test_an_archived_private_entry_hides_no_shared_one(bot, helper):
    helper.write("shop", "k", "shared")
    change_set = bot.write("shop", "k", "mine", shared=False)["X-Change-Set"]
    assert bot.read("shop", "k")["value"] == "mine"
    bot.post(f"change-sets/{change_set}/undo", {})
    assert bot.read("shop", "k")["value"] == "shared"
    assert bot.get("entries", entity_path="shop").json()["total"] == 1


def test_a_change_set_counts_what_the_caller_may_see(bot, helper):
    bot.write("shop", "shared", 1, confidence=0.7)
    bot.write("shop", "mine", 1, confidence=0.7, shared=False)
    bot.report("t", "success", "shop/shared", "shop/mine")
    sizes = [row["size"] for row in helper.get("change-sets").json()["change_sets"] if row["kind"] == "outcome"]
    assert sizes == [1]


def test_no_undo_makes_two_entries_replace_each_other(bot, reviewer):
    for key in ("a", "b"):
        bot.write("shop", key, key)
    first = reviewer.post(
        "feedback", {"entity_path": "shop", "key": "a", "outcome": "superseded", "superseded_by": "shop/b"}
    )
    undone = reviewer.post(f"change-sets/{first['X-Change-Set']}/undo", {}).json()["change_set"]
    reviewer.post("feedback", {"entity_path": "shop", "key": "b", "outcome": "superseded", "superseded_by": "shop/a"})
    assert reviewer.post(f"change-sets/{undone}/undo", {}).status_code == 409
    assert bot.read("shop", "a")["superseded_by"] is None

"""POST and GET /api/v1/outcomes."""

import pytest

NESTED: list = []
for _ in range(450):
    NESTED = [NESTED]
FIVE = [0.818182, 0.857881, 0.878038, 0.890062, 0.897890]
PINNED = [
    (0.7, ["success"] * 5 + ["failure"] * 3, [*FIVE, 0.633845, 0.415117, 0.316048]),
    (0.7, ["failure"] + ["success"] * 4, [0.259259, 0.486127, 0.608046, 0.686133, 0.740549]),
    (1.0, ["success", "failure"], [1.0, 0.411765]),
    (0.8, ["minor_failure", "critical_failure"], [0.340426, 0.195569]),
    (0.8, ["regression", "p1_incident"], [0.340426, 0.195569]),
]  # fmt: skip


@pytest.mark.parametrize(("start", "sequence", "expected"), PINNED)
def test_confidence_moves_by_the_book(bot, start, sequence, expected):
    bot.write("shop", "k", 1, confidence=start)
    seen = [
        round(bot.report(f"t{step}", kind, "shop/k").json()["entries"][0]["confidence"], 6)
        for step, kind in enumerate(sequence)
    ]
    assert seen == expected


def test_credit_is_shared_by_the_keys_of_a_step(bot):
    keys = [f"shop/k{number}" for number in range(8)]
    for key in keys:
        bot.write("shop", key.rpartition("/")[2], 1, confidence=0.7)
    told = bot.report("t", "success", *keys).json()
    assert told["affected_entries"] == 8
    assert {round(entry["confidence"], 6) for entry in told["entries"]} == {0.722543}


def test_a_verified_failure_weighs_half_as_much_again(bot):
    bot.write("shop", "k", 1, confidence=0.7)
    bot.report("a", "failure", "shop/k", causal_confidence=0.5)
    told = bot.report("b", "failure", "shop/k", session_metadata={"verified_by": "ci"}).json()
    assert round(told["entries"][0]["confidence"], 6) == 0.186788


def test_failed_attempts_are_steps_of_their_own_oldest_first(bot):
    bot.write("shop", "wrong", 1, confidence=0.7)
    bot.write("shop", "right", 1, confidence=0.7)
    attempts = [{"attempt": 1, "outcome_type": "minor_failure", "causal_entry_keys": ["shop/wrong"]}]
    bot.report("t", "success", "shop/right", attempts=attempts)
    assert bot.read("shop", "wrong")["failure_count"] == 1
    assert bot.read("shop", "right")["success_count"] == 1


def test_author_and_time_of_a_claim_stay_through_outcomes(bot, helper):
    written = bot.write("shop", "k", 1, confidence=0.7).json()
    moved = helper.report("t", "success", "shop/k").json()["entries"][0]
    assert moved["provenance"] == written["provenance"]
    assert moved["validators"] == ["agent/oncall-helper"]
    assert moved["version"] == 2


def test_an_outcome_about_a_rewritten_claim_leaves_the_new_one_alone_and_why_says_so(bot):
    bot.write("shop", "k", 1, confidence=0.7)
    bot.write("shop", "k", 2, confidence=0.7)
    told = bot.report("late", "failure", "shop/k", causal_entry_versions={"shop/k": 1}).json()
    assert told["affected_entries"] == 0
    assert bot.read("shop", "k")["confidence"] == 0.7
    skipped = bot.get("why", entity_path="shop", key="k").json()["skipped"]
    assert [(row["outcome_ref"], row["why"]) for row in skipped] == [("late", "rewritten")]


def test_a_repeated_outcome_changes_nothing_and_answers_alike(bot):
    bot.write("shop", "k", 1, confidence=0.7)
    first = bot.report("t", "success", "shop/k").json()
    bot.report("other", "success", "shop/k")
    again = bot.report("t", "success", "shop/k", task_input="told once more").json()
    assert again["repeated"] is True
    assert [entry["version"] for entry in again["entries"]] == [entry["version"] for entry in first["entries"]]
    assert bot.read("shop", "k")["outcome_count"] == 2


@pytest.mark.parametrize("attributes", [{"origin": "repair"}, {"replay_delivery_id": "d1"}])
def test_a_replay_is_kept_and_teaches_nothing(bot, attributes):
    bot.write("shop", "k", 1, confidence=0.7)
    told = bot.report("t", "failure", "shop/k", session_metadata={"attributes": attributes}).json()
    assert told["affected_entries"] == 0
    assert bot.read("shop", "k")["version"] == 1
    assert len(bot.get("outcomes").json()["outcomes"]) == 1


def test_missing_keys_are_skipped_and_still_share_the_credit(bot):
    bot.write("shop", "k", 1, confidence=0.7)
    told = bot.report("t", "success", "shop/k", "shop/nowhere").json()
    alone = 0.818182
    assert told["affected_entries"] == 1
    assert 0.7 < told["entries"][0]["confidence"] < alone


def test_keys_that_name_nothing_the_reporter_sees_are_told_at_first_and_again(bot, helper):
    bot.write("shop", "k", 1)
    helper.write("shop", "own", 1, shared=False)
    failed = {"outcome_type": "failure", "causal_entry_keys": ["shop/old", "shop/own"]}
    told = [bot.report("t", "success", "shop/k", "shop/typo", attempts=[failed]).json() for _ in range(2)]
    assert [sorted(one["unknown_keys"]) for one in told] == [["shop/old", "shop/own", "shop/typo"]] * 2
    assert "unknown_keys" not in bot.report("t2", "success", "shop/k").json()
    assert bot.report("t3", "success", "shop/typo").json()["unknown_keys"] == ["shop/typo"]


def test_an_outcome_in_doubt_discredits_and_the_thresholds_move_the_status(bot):
    bot.write("shop", "k", 1, confidence=0.7)
    told = bot.report("t", "failure", "shop/k").json()["entries"][0]
    assert (told["evidence_status"], told["status"]) == ("discredited", "under_review")
    seen = [bot.report(f"c{n}", "critical_failure", "shop/k").json()["entries"][0]["status"] for n in range(5)]
    assert seen == ["under_review"] * 4 + ["archived"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"outcome_type": "nope"}, "/outcome_type"),
        ({"causal_confidence": 1.5}, "/causal_confidence"),
        ({"outcome_ref": ""}, "/outcome_ref"),
        ({"attempts": [{"outcome_type": "nope"}]}, "/attempts/0/outcome_type"),
        ({"attempts": [{}] * 51}, "/attempts"),
        ({"causal_entry_keys": ["x"] * 1001}, "/causal_entry_keys"),
        ({"final_action_index": 3}, "/final_action_index"),
        ({"session_metadata": {"attributes": {"deep": {}}}}, "/session_metadata/attributes/deep"),
        ({"task_input": "nul \u0000"}, "/task_input"),
        ({"attempts": [{"summary": "nul \u0000"}]}, "/attempts"),
        ({"covariates": {"nul \u0000": 1}}, "/covariates"),
        ({"tool_calls": [{"deep": NESTED}]}, "/tool_calls"),
    ],
)
def test_a_report_that_cannot_be_is_refused_and_moves_nothing(bot, body, pointer):
    bot.write("shop", "k", 1, confidence=0.7)
    sent = {"outcome_ref": "t", "outcome_type": "failure", "causal_entry_keys": ["shop/k"]} | body
    response = bot.post("outcomes", sent)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == pointer
    assert bot.read("shop", "k")["version"] == 1


def test_why_tells_the_sum_and_its_last_step_ends_at_the_confidence(bot):
    bot.write("shop", "k", 1, confidence=0.7)
    bot.report("t1", "success", "shop/k")
    bot.report("t2", "failure", "shop/k", session_metadata={"verified_by": "pager"})
    told = bot.get("why", entity_path="shop", key="k").json()
    assert [step["cause"] for step in told["steps"]] == ["", "t1", "t2"]
    assert told["steps"][-1]["after"] == told["confidence"]
    assert told["steps"][1]["weight"] == pytest.approx(1.3)
    assert any("Fading" in line for line in told["steps"][2]["words"])
    assert any("verified" in line for line in told["steps"][2]["words"])


def test_outcomes_are_listed_newest_first_and_filtered(bot):
    bot.report("one", "success", entity_paths=["shop"])
    bot.report("two", "failure", entity_paths=["bank"])
    assert [row["outcome_ref"] for row in bot.get("outcomes").json()["outcomes"]] == ["two", "one"]
    assert [row["outcome_ref"] for row in bot.get("outcomes", entity_path="shop").json()["outcomes"]] == ["one"]
    assert [row["outcome_ref"] for row in bot.get("outcomes", outcome_ref="two").json()["outcomes"]] == ["two"]


def test_memory_gap_names_what_matched_the_task_and_was_not_cited(bot):
    bot.write("shop", "rotate", "rotate the ingest key when the queue is stuck", confidence=0.7)
    bot.write("shop", "restart", "restart the ingest worker", confidence=0.7)
    gap = bot.report("t", "success", "shop/rotate", task_input="the ingest queue is stuck").json()["memory_gap"]
    assert (gap["matched"], gap["linked_to_outcome"], gap["unlinked_sample"]) == (2, 1, ["shop/restart"])
    assert "memory_gap" not in bot.report("u", "success", "shop/rotate", task_input="the of").json()


def test_the_path_of_a_private_entry_is_told_to_nobody_else(bot, helper):
    bot.write("secret/place", "mine", 1, confidence=0.7, shared=False)
    bot.report("t", "success", "secret/place/mine", entity_paths=["secret/place"])
    assert [row["entity_paths"] for row in bot.get("outcomes").json()["outcomes"]] == [["secret/place"]]
    assert [row["entity_paths"] for row in helper.get("outcomes").json()["outcomes"]] == [[]]
    assert helper.get("outcomes", entity_path="secret/place").json()["outcomes"] == []


@pytest.mark.parametrize("query", [{"entity_path": "\0"}, {"outcome_ref": "\0"}, {"agent_id": "\0"}])
def test_a_list_of_outcomes_refuses_what_cannot_be_a_name(bot, query):
    assert bot.get("outcomes", **query).status_code == 422

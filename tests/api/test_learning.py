"""GET /learning, /explain and /pro/export: whether agents get better, why, and tasks as training data."""

from datetime import UTC, datetime, timedelta

from outcomes import curve
from outcomes.curve import Session, Shift

START = datetime(2026, 11, 1, tzinfo=UTC)


def went(pattern, path="shop"):
    """Return tasks, one an hour: + ended well, - did not."""
    return [Session(START + timedelta(hours=n), c == "+", False, (path,)) for n, c in enumerate(pattern)]


def test_windows_tell_the_first_rate_the_latest_and_the_change():
    told = curve.learning(went("+-+-+++++"), [], window=4)
    assert (told["first"], told["latest"], told["change"]) == (0.5, 1.0, 0.5)
    assert [episode["sessions"] for episode in told["curve"]] == [4, 4, 1]


def test_one_window_shows_no_change():
    told = curve.learning(went("++-"), [], window=4)
    assert (told["first"], told["change"], told["successes"]) == (None, None, 2)
    assert curve.learning([], [])["success_rate"] == 0.0


def test_a_recovery_is_measured_where_enough_tasks_stand_on_both_sides():
    tasks = went("+++++--+++++")
    back = curve.recovered(tasks, Shift("shop", "a", START + timedelta(hours=4, minutes=30)))
    assert (back["measured"], back["recovered"], back["sessions_to_recover"], back["bar"]) == (True, True, 7, 1.0)
    early = curve.recovered(tasks, Shift("shop", "a", START + timedelta(hours=1)))
    assert (early["measured"], early["reason"]) == (False, "fewer than 5 tasks on one side")


def test_learning_counts_tasks_of_an_agent_and_a_path(bot, helper):
    bot.write("shop", "a", 1)
    bot.report("t1", "success", "shop/a")
    bot.report("t2", "failure", "shop/a")
    helper.report("t3", "success")
    told = bot.get("learning").json()
    assert (told["sessions"], told["successes"], told["available"]) == (3, 2, True)
    assert told["recovery"]["shifts"] == 1
    assert bot.get("learning", agent="agent/oncall-helper").json()["sessions"] == 1
    assert bot.get("learning", entity_path="shop").json()["sessions"] == 2


def test_an_outcome_is_explained_by_what_the_caller_may_see(bot, helper):
    bot.write("shop", "a", 1, confidence=0.7)
    bot.write("shop", "own", 1, shared=False)
    bot.report("t1", "success", "shop/a", "shop/own")
    told = bot.get("explain", outcome_ref="t1").json()
    assert (told["causal_chain_length"], told["agent_id"]) == (2, "agent/deploy-bot")
    seen = helper.get("explain", outcome_ref="t1").json()
    assert [cause["key"] for cause in seen["causal_entries"]] == ["a"]
    assert seen["causal_entries"][0]["confidence_before"] == 0.7
    assert helper.get("explain", outcome_ref="never").json()["causal_chain_length"] == 0
    assert helper.get("explain").status_code == 422


def test_what_an_agent_was_told_from_outside_explains_an_outcome(bot, helper):
    pager = {"label": "pager", "summary": "It burns.", "source": "pagerduty", "recorded_at": "2026-11-30T10:00:00Z"}
    bot.report("t1", "success", trace_follows=True)
    bot.report("t2", "success", trace_follows=True)
    told = bot.post("traces", {"outcome_ref": "t1", "outcome_type": "success", "external_contexts": [pager]})
    assert told.status_code == 200
    assert helper.get("explain", outcome_ref="t1").json()["external_contexts"] == [pager]
    assert helper.get("explain", outcome_ref="t2").json()["external_contexts"] == []


def test_tasks_become_examples_and_those_on_private_entries_stay_private(bot, helper):
    bot.write("shop", "own", "secret", shared=False)
    bot.report("t1", "success", task_input="deploy", response_text="done well")
    bot.report("t2", "failure", task_input="deploy", response_text="done badly")
    bot.report("t3", "success", "shop/own", task_input="use it", response_text="secret")
    sft = helper.get("pro/export", format="sft", min_confidence=0.7, limit=10).json()
    assert (sft["num_examples"], sft["examples"][0]["completion"]) == (1, "done well")
    dpo = helper.get("pro/export", format="dpo").json()["examples"]
    assert [(pair["chosen"], pair["rejected"]) for pair in dpo] == [("done well", "done badly")]
    assert helper.get("pro/export", format="reward_model").json()["num_examples"] == 2
    assert bot.get("pro/export").json()["num_examples"] == 2
    assert bot.get("pro/export", format="csv").status_code == 422

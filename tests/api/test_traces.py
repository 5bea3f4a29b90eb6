"""POST and GET /api/v1/traces: one for each outcome and session, whole, newest first, nothing of what others keep."""

from typing import Any
from uuid import UUID

import pytest

from tests.api.conftest import Caller

RETRY = "shop/checkout/retry"


def causal(key: str = "retry", path: str = "shop/checkout", **more: Any) -> dict[str, Any]:
    return {"entity_path": path, "key": key, "version": 1, "value": {"n": 3}, "written_by": "agent/deploy-bot", **more}


def trace(ref: str = "T-1", **more: Any) -> dict[str, Any]:
    return {
        "id": "",
        "agent_id": "agent/oncall-helper",
        "session_id": "s-1",
        "outcome_ref": ref,
        "outcome_type": "success",
        "causal_entries": [causal()],
        "tool_calls": [{"tool_name": "deploy", "arguments": {"big": 12345678901234567890123, "one": 1.0}}],
        "session_metadata": {"model": "gpt-x", "spans": [{"name": "plan", "ms": 12}], "of_tomorrow": {"a": [1]}},
        "something_new": [1, 2, {"three": 3}],
        **more,
    }


def refs(answer: Any) -> list[str]:
    return [one["outcome_ref"] for one in answer.json()["traces"]]


def test_a_trace_is_kept_whole_with_what_nobody_here_knows(helper: Caller) -> None:
    sent = trace()

    made = helper.post("traces", sent)
    read = helper.get(f"traces/{made.json()['id']}").json()

    assert made.status_code == 200
    assert str(UUID(read["id"])) == read["id"]
    assert {name: read[name] for name in sent if name != "id"} == {n: v for n, v in sent.items() if n != "id"}
    assert (read["namespace"], read["external_contexts"], read["decision_summary"]) == ("default", [], None)
    assert read == made.json()


def test_a_trace_told_twice_is_kept_once_and_answered_alike(helper: Caller) -> None:
    first = helper.post("traces", trace()).json()
    second = helper.post("traces", trace(decision_summary="another story")).json()
    other = helper.post("traces", trace(session_id="s-2")).json()

    assert second == first
    assert other["id"] != first["id"]
    assert len(helper.get("traces").json()["traces"]) == 2


def test_another_agent_of_the_same_reference_and_session_gets_a_trace_of_its_own(helper: Caller, bot: Caller) -> None:
    mine = helper.post("traces", trace()).json()
    theirs = bot.post("traces", trace(agent_id="agent/deploy-bot", causal_entries=[])).json()

    assert theirs["id"] != mine["id"]
    assert theirs["causal_entries"] == []


def test_an_outcome_that_no_trace_follows_becomes_one(bot: Caller, helper: Caller) -> None:
    bot.write("shop/checkout", "retry", {"n": 3}, confidence=0.7)
    told = helper.report("T-1", "failure", RETRY, task_input="fix it", tool_calls=[{"name": "sh"}], session_id="s-1")
    trace_id = told.json()["immutable_trace_id"]
    bot.write("shop/checkout", "retry", {"n": 4})

    read = helper.get(f"traces/{trace_id}").json()

    (entry,) = read["causal_entries"]
    assert (entry["key"], entry["version"], entry["value"]) == ("retry", 1, {"n": 3})
    assert (entry["written_by"], entry["confidence"]) == ("agent/deploy-bot", 0.7)
    assert read["tool_calls"] == [{"name": "sh", "tool_name": "sh"}]
    assert (read["task_input"], read["outcome_type"], read["session_id"]) == ("fix it", "failure", "s-1")
    (change,) = read["state_diff"]["confidence_changes"]
    assert (change["before"], round(change["after"], 3), change["outcome_ref"]) == (0.7, 0.259, "T-1")
    assert refs(helper.get("traces", entity_path="shop/checkout")) == ["T-1"]


def test_an_outcome_told_again_names_the_trace_it_made(helper: Caller) -> None:
    first, second = (helper.report("T-1", "success", RETRY).json() for _ in range(2))

    assert first["immutable_trace_id"] == second["immutable_trace_id"]
    assert len(helper.get("traces").json()["traces"]) == 1


def test_when_a_trace_follows_the_outcome_makes_none(helper: Caller) -> None:
    told = helper.report("T-1", "success", RETRY, trace_follows=True).json()
    assert "immutable_trace_id" not in told
    assert helper.get("traces").json()["traces"] == []

    made = helper.post("traces", trace()).json()

    assert helper.report("T-1", "success", RETRY, trace_follows=True).json()["immutable_trace_id"] == made["id"]


def test_a_trace_that_comes_although_none_was_announced_joins_the_one_of_its_outcome(helper: Caller) -> None:
    told = helper.report("T-1", "success", RETRY, session_id="s-1").json()

    made = helper.post("traces", trace()).json()

    assert made["id"] == told["immutable_trace_id"]
    assert made["something_new"] == [1, 2, {"three": 3}]
    assert len(helper.get("traces").json()["traces"]) == 1


def test_traces_are_listed_by_path_agent_outcome_and_time(helper: Caller, bot: Caller) -> None:
    helper.post("traces", trace("T-1", created_at="2026-01-01T10:00:00Z"))
    helper.post("traces", trace("T-2", created_at="2026-01-02T10:00:00Z", outcome_type="failure"))
    bot.post("traces", trace("T-3", created_at="2026-01-03T10:00:00Z", agent_id="agent/deploy-bot", causal_entries=[]))

    assert refs(bot.get("traces")) == ["T-3", "T-2", "T-1"]
    assert refs(bot.get("traces", entity_path="shop/checkout")) == ["T-2", "T-1"]
    assert refs(bot.get("traces", agent_id="agent/deploy-bot")) == ["T-3"]
    assert refs(bot.get("traces", outcome_type="failure")) == ["T-2"]
    assert refs(bot.get("traces", since="2026-01-02T10:00:00+00:00")) == ["T-3", "T-2"]
    assert refs(bot.get("traces", until="2026-01-02T10:00:00+00:00")) == ["T-1"]
    assert refs(bot.get("traces", offset=1, limit=1)) == ["T-2"]


def test_a_cursor_leads_through_all_traces_once(helper: Caller) -> None:
    for number in range(7):
        helper.post("traces", trace(f"T-{number}", created_at="2026-01-01T10:00:00Z"))

    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        page = helper.get("traces", limit=3, **({"cursor": cursor} if cursor else {})).json()
        seen += [one["outcome_ref"] for one in page["traces"]]
        cursor = page["next_cursor"]
        assert page["has_more"] is (cursor is not None)

    assert sorted(seen) == [f"T-{number}" for number in range(7)]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"cursor": "zzz"}, 400),
        ({"since": "notadate"}, 400),
        ({"until": "notadate"}, 400),
        ({"limit": "0"}, 422),
        ({"limit": "-1"}, 422),
        ({"limit": "5000"}, 200),
        ({"outcome_type": "shrug"}, 422),
    ],
)
def test_what_cannot_be_asked_is_refused_and_too_much_is_a_page(helper: Caller, query: dict, status: int) -> None:
    assert helper.get("traces", **query).status_code == status


@pytest.mark.parametrize("trace_id", ["00000000-0000-0000-0000-000000000000", "nonsense"])
def test_a_trace_that_is_not_there_is_404_with_an_error(helper: Caller, trace_id: str) -> None:
    answer = helper.get(f"traces/{trace_id}")

    assert (answer.status_code, answer.json()["error"]) == (404, "There is no such trace.")


@pytest.mark.parametrize(
    "wrong", [{"outcome_type": "shrug"}, {"causal_entries": [{"key": "k"}]}, {"agent_id": "a\0b"}, {"tool_calls": "x"}]
)
def test_a_trace_that_cannot_be_is_refused(helper: Caller, wrong: dict) -> None:
    assert helper.post("traces", trace(**wrong)).status_code == 422


def test_a_trace_in_anothers_name_is_refused(bound: Caller) -> None:
    assert bound.post("traces", trace()).status_code == 409


def test_what_agents_rely_on_of_others_is_counted(helper: Caller, bot: Caller) -> None:
    helper.post("traces", trace("T-1", causal_entries=[causal(), causal("a"), causal("b", written_by="agent/x")]))
    helper.post("traces", trace("T-2", created_at="2026-01-01T10:00:00Z"))
    bot.post("traces", trace("T-3", agent_id="agent/deploy-bot"))

    stats = bot.get("traces/share-stats").json()

    pair = {"reader": "agent/oncall-helper", "author": "agent/deploy-bot", "count": 3}
    assert stats == {"total": 4, "pairs": [pair, pair | {"author": "agent/x", "count": 1}]}
    assert bot.get("traces/share-stats", pair_limit=1).json() == {"total": 4, "pairs": [pair]}
    assert bot.get("traces/share-stats", since="2026-02-01T00:00:00Z").json()["total"] == 3


def test_nothing_of_it_reaches_another_account(helper: Caller, stranger: Caller) -> None:
    made = helper.post("traces", trace()).json()

    assert stranger.get(f"traces/{made['id']}").status_code == 404
    assert stranger.get("traces").json()["traces"] == []
    assert stranger.get("traces/share-stats").json() == {"total": 0, "pairs": []}


def test_a_list_of_traces_costs_the_same_whatever_its_length(
    helper: Caller, bot: Caller, django_assert_num_queries: Any
) -> None:
    for number in range(3):
        helper.report(f"O-{number}", "success", RETRY)
        helper.post("traces", trace(f"T-{number}"))
    # What is hidden from whoever told all of them nobody asks for.
    with django_assert_num_queries(5):
        assert len(helper.get("traces").json()["traces"]) == 6
    for number in range(3, 20):
        helper.report(f"O-{number}", "success", RETRY)
        helper.post("traces", trace(f"T-{number}"))
    with django_assert_num_queries(5):
        assert len(helper.get("traces").json()["traces"]) == 40
    with django_assert_num_queries(6):
        assert len(bot.get("traces").json()["traces"]) == 40


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_moment_that_no_calendar_of_ours_has_is_refused(helper: Caller, moment: str) -> None:
    refused = helper.post("traces", trace(created_at=moment))
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/created_at")
    assert helper.get("traces").status_code == 200
    assert helper.get("traces", until=moment).json()["errors"][0]["pointer"] == "/until"
    told = helper.post("traces", trace(session_metadata={"session_started_at": moment}))
    assert told.status_code == 200


def test_a_trace_of_nothing_is_kept_and_leaves_the_list_readable(helper: Caller) -> None:
    told = helper.post("traces", "")

    assert told.status_code == 200
    assert helper.get(f"traces/{told.json()['id']}").json()["tool_calls"] == []
    assert len(helper.get("traces").json()["traces"]) == 1

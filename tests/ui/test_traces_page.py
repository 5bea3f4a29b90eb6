"""/traces: what agents read, did and reported, listed and step by step."""

import json
from typing import Any

import pytest

from tests.api.conftest import Caller, bot, counted, helper

__all__ = ["bot", "counted", "helper"]
SPAN = {"session_started_at": "2026-01-01T10:00:00Z", "session_ended_at": "2026-01-01T10:01:40Z"}


def trace(ref: str, **more: Any) -> dict[str, Any]:
    return {
        "agent_id": "agent/oncall-helper",
        "session_id": "s-1",
        "outcome_ref": ref,
        "outcome_type": "success",
        "causal_entries": [
            {"entity_path": "shop", "key": "retry", "version": 1, "value": {"n": 31}, "read_at": "2026-01-01T10:00:10Z"}
        ],
        "tool_calls": [
            {
                "tool_name": "deploy",
                "started_at": "2026-01-01T10:00:50Z",
                "duration_ms": 25_000,
                "success": False,
                "result_summary": "exit <1>",
            }
        ],
        "error_events": [{"operation": "tool", "error_type": "ToolError", "message": "it broke"}],
        "session_metadata": {"model": "gpt-x", "team": "core"},
        "of_tomorrow": {"a": 1},
        **SPAN,
        **more,
    }


@pytest.fixture
def told(bot: Caller, helper: Caller) -> str:
    """A trace of one read, one failed call and an error, whose outcome moved what was read; returns its address."""
    bot.write("shop", "retry", {"n": 31}, confidence=0.7)
    helper.report("T-1", "success", "shop/retry", trace_follows=True)
    made = helper.post("traces", trace("T-1")).json()
    bot.write("shop", "retry", {"n": 32})
    return f"/traces/{made['id']}/"


def text(page: Any) -> str:
    return page.content.decode()


@pytest.mark.usefixtures("told")
def test_traces_are_listed_with_links_and_filters(client_of: Any, vera: Any, helper: Caller, told: str) -> None:
    helper.report("T-2", "failure", "shop/other")
    page = client_of(vera)

    assert told in text(page.get("/traces/"))
    assert "T-2" in text(page.get("/traces/"))
    for query in ("type=success", "agent=agent/oncall-helper&path=shop", "ref=T-1", "since=2026-01-01&path=shop"):
        shown = text(page.get(f"/traces/?{query}"))
        assert told in shown, query
    for query in ("type=failures", "agent=agent/nobody", "path=elsewhere", "ref=X", "since=2999-01-01"):
        assert told not in text(page.get(f"/traces/?{query}")), query
    assert page.get("/traces/?type=shrug").status_code == 400
    assert page.get("/traces/?cursor=zzz").status_code == 400


def test_a_trace_is_told_step_by_step_with_the_versions_of_then(client_of: Any, vera: Any, told: str) -> None:
    shown = text(client_of(vera).get(told))

    assert "retry" in shown
    assert "version=1" in shown
    assert "now v3" in shown
    assert "31" in shown
    assert "deploy" in shown
    assert "exit &lt;1&gt;" in shown
    assert "ToolError" in shown
    assert shown.count("split-bar thin") == 2
    assert "of_tomorrow" in shown
    assert "core" in shown
    assert "1 entry" in shown


def test_a_trace_of_an_outcome_alone_says_so(client_of: Any, vera: Any, bot: Caller, helper: Caller) -> None:
    bot.write("shop", "retry", {"n": 31})
    trace_id = helper.report("T-1", "success", "shop/retry").json()["immutable_trace_id"]

    assert "the outcome alone" in text(client_of(vera).get(f"/traces/{trace_id}/"))


def test_a_long_trace_stays_small(client_of: Any, vera: Any, helper: Caller) -> None:
    calls = [{"tool_name": f"tool-{n:04}"} for n in range(150)]
    made = helper.post("traces", trace("T-9", tool_calls=calls, causal_entries=[], error_events=[])).json()
    page = client_of(vera)

    first = text(page.get(f"/traces/{made['id']}/"))
    second = text(page.get(f"/traces/{made['id']}/?from=61"))

    assert ("tool-0059" in first, "tool-0060" in first) == (True, False)
    assert "tool-0060" in second
    assert "?from=61" in first
    assert page.get(f"/traces/{made['id']}/?from=x").status_code == 200


@pytest.mark.parametrize(
    "strange",
    [
        {
            "causal_entries": [
                {"entity_path": "shop", "key": "k", "version": "7", "read_at": "soon", "duration_ms": "x"}
            ]
        },
        {"tool_calls": [{"tool_name": None, "started_at": 5, "duration_ms": -1}], "session_started_at": "never"},
        {"external_contexts": [{"label": {"a": 1}, "summary": [1]}], "query_events": [{"operation": 7}]},
        {"session_metadata": {"llm_calls": "many", "attributes": {}}},
        {"session_metadata": None, "state_diff": [], "decision_summary": {"not": "a text"}},
    ],
)
def test_a_strange_trace_is_shown_all_the_same(client_of: Any, vera: Any, helper: Caller, strange: dict) -> None:
    made = helper.post("traces", trace("T-1", **strange))

    assert made.status_code == 200, made.content
    assert client_of(vera).get(f"/traces/{made.json()['id']}/").status_code == 200
    assert client_of(vera).get("/traces/").status_code == 200


def test_another_accounts_trace_is_not_there(client_of: Any, vera: Any, other_account: Any) -> None:
    from senselab.accounts import services as accounts

    theirs = Caller(accounts.create_key(other_account, name="theirs"), "agent/x")
    made = theirs.post("traces", trace("T-1", agent_id="agent/x")).json()

    page = client_of(vera)
    assert page.get(f"/traces/{made['id']}/").status_code == 404
    assert made["id"] not in text(page.get("/traces/"))


def test_pages_of_traces_ask_as_much_for_many_as_for_few(
    client_of: Any, vera: Any, helper: Caller, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    page = client_of(vera)
    counts = []
    for many in (2, 40):
        for number in range(many):
            helper.post("traces", trace(f"T-{many}-{number}"))
        reads = [{"entity_path": "shop", "key": f"k{n}", "version": 1} for n in range(many)]
        made = helper.post("traces", trace(f"L-{many}", causal_entries=reads)).json()
        with CaptureQueriesContext(connection) as asked:
            page.get("/traces/")
            page.get(f"/traces/{made['id']}/")
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_json_in_a_trace_is_escaped(client_of: Any, vera: Any, helper: Caller) -> None:
    evil = "</pre><script>alert(1)</script>"
    made = helper.post("traces", trace("T-1", task_input=evil, more=json.loads(json.dumps({"x": evil})))).json()

    assert "<script>alert" not in text(client_of(vera).get(f"/traces/{made['id']}/"))

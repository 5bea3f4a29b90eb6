"""Traces, timelines, the graph and profiles through the published client, unmodified."""

import logging
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from amfs import AgentMemory, OutcomeType

from .conftest import Join


def settled(memory: AgentMemory) -> None:
    """Wait for what the client does in the background."""
    from amfs.memory import _get_sdk_executor

    for _ in range(4):
        _get_sdk_executor().submit(lambda: None).result(10)


@pytest.fixture
def task(deploy_bot: AgentMemory, oncall_helper: AgentMemory, caplog: pytest.LogCaptureFixture) -> str:
    """oncall_helper relied on what deploy_bot wrote, called a tool and reported; returns the id of its trace."""
    deploy_bot.write("checkout", "retry-pattern", {"max": 3}, confidence=0.7, pattern_refs=["checkout/base"])
    oncall_helper.read("checkout", "retry-pattern")
    oncall_helper.record_context("pager", "3 sev1", source="PagerDuty")
    with caplog.at_level(logging.DEBUG, logger="amfs"):
        oncall_helper.commit_outcome(
            "INC-1", OutcomeType.SUCCESS, task_input="fix latency", decision_summary="rolled back"
        )
    settled(oncall_helper)
    assert "Failed to" not in caplog.text
    return oncall_helper.list_traces()[0].id


def test_the_client_keeps_its_trace_and_reads_it_again(task: str, oncall_helper: AgentMemory) -> None:
    trace = oncall_helper.get_trace(task)

    assert trace is not None
    assert (trace.outcome_ref, trace.agent_id, trace.task_input) == ("INC-1", "oncall_helper", "fix latency")
    (entry,) = trace.causal_entries
    assert (entry.entity_path, entry.key, entry.version, entry.value) == ("checkout", "retry-pattern", 1, {"max": 3})
    assert [context.label for context in trace.external_contexts] == ["pager"]
    assert oncall_helper.get_trace("00000000-0000-0000-0000-000000000000") is None


def test_traces_are_filtered_counted_and_walked(task: str, oncall_helper: AgentMemory, deploy_bot: AgentMemory) -> None:
    deploy_bot.commit_outcome("DEP-1", OutcomeType.FAILURE, ["checkout/retry-pattern"])
    now = datetime.now(UTC)

    assert [t.outcome_ref for t in deploy_bot.list_traces()] == ["DEP-1", "INC-1"]
    assert [t.outcome_ref for t in deploy_bot.list_traces(agent_id="oncall_helper")] == ["INC-1"]
    assert [t.outcome_ref for t in deploy_bot.list_traces(outcome_type="failure")] == ["DEP-1"]
    assert len(deploy_bot.list_traces(entity_path="checkout", since=now - timedelta(hours=1))) == 2
    assert deploy_bot.list_traces(until=now - timedelta(hours=1)) == []
    assert deploy_bot.adapter.count_traces() == 2
    page, cursor, more = deploy_bot.adapter.list_traces_page(limit=1)
    rest, _, no_more = deploy_bot.adapter.list_traces_page(limit=1, cursor=cursor)
    assert ([page[0].outcome_ref, rest[0].outcome_ref], more, no_more) == (["DEP-1", "INC-1"], True, False)


def test_sharing_is_counted(task: str, oncall_helper: AgentMemory) -> None:
    stats = oncall_helper.adapter.share_stats()

    assert stats == {"total": 1, "pairs": [{"reader": "oncall_helper", "author": "deploy_bot", "count": 1}]}
    assert oncall_helper.cross_agent_reads() == {
        "deploy_bot": [{"entity_path": "checkout", "key": "retry-pattern", "read_count": 1}]
    }


def test_a_timeline_tells_everything_once(task: str, oncall_helper: AgentMemory, deploy_bot: AgentMemory) -> None:
    told = [(event.event_type.value, event.summary) for event in oncall_helper.timeline()]

    assert told == [
        ("outcome", "Committed outcome 'INC-1' (success)"),
        ("read", "Read checkout/retry-pattern"),
    ]
    assert [event.event_type.value for event in deploy_bot.timeline(event_type="write")] == ["write"]


def test_a_read_of_another_agent_stands_on_both_timelines(task: str, join: Join, deploy_bot: AgentMemory) -> None:
    auditor = join("prod/auditor")

    entry = auditor.read_from("deploy_bot", "checkout", "retry-pattern")
    settled(auditor)

    assert entry is not None
    assert [event.event_type.value for event in auditor.timeline()] == ["cross_agent_read"]
    (inbound,) = deploy_bot.timeline(event_type="cross_agent_read")
    assert inbound.actor_agent_id == "prod/auditor"
    edges = auditor.graph_neighbors("prod/auditor", relation="learned_from")
    assert [(edge.source_entity, edge.target_entity) for edge in edges] == [("prod/auditor", "deploy_bot")]


def test_neighbours_are_what_the_client_told(task: str, oncall_helper: AgentMemory) -> None:
    edges = oncall_helper.graph_neighbors("checkout/retry-pattern")

    assert {(edge.source_entity, edge.relation, edge.target_entity) for edge in edges} >= {
        ("checkout/retry-pattern", "references", "checkout/base"),
        ("checkout/retry-pattern", "informed", "INC-1"),
        ("oncall_helper", "read", "checkout/retry-pattern"),
    }
    assert len(oncall_helper.graph_neighbors("checkout/base", depth=2)) >= 3


def test_a_profile_is_set(join: Join, curl: httpx.Client) -> None:
    agent = join("prod/alpha")

    agent.set_profile("does things", auto_context_paths=["checkout"], tags=["t"])

    told = curl.get("/api/v1/agents/prod/alpha/profile").json()
    assert (told["profile"]["description"], told["profile"]["tags"]) == ("does things", ["t"])


def test_what_a_session_explains_needs_nobody(oncall_helper: AgentMemory, deploy_bot: AgentMemory) -> None:
    deploy_bot.write("checkout", "retry-pattern", {"max": 3})
    oncall_helper.read("checkout", "retry-pattern")

    told = oncall_helper.explain()

    assert (told["causal_chain_length"], told["causal_entries"][0]["key"]) == (1, "retry-pattern")

"""Traces, events and edges name no private entry to others, nor count it (RULES.md 8)."""

import json
from typing import Any

import pytest

from tests.db.conftest import Caller
from tests.db.test_isolation import ENTRY_KEY, OUTSIDERS, SECRET, keeper, outsider

__all__ = ["OUTSIDERS", "keeper", "outsider"]

NAMED = {"entity_path": "shop/vault", "key": "code"}
PATH = "vault"


@pytest.fixture
def told(keeper: Caller) -> Caller:
    """The keeper, who told of its private entry in every way there is."""
    relied = {**NAMED, "version": 2, "value": f"{SECRET} 2", "written_by": "agent/keeper"}
    seen = {"entity_path": "shop", "key": "open", "version": 1, "value": 1, "written_by": "agent/other"}
    changes = [{**NAMED, "before": 0.7, "after": 0.8, "outcome_ref": "T-1"}]
    tried = {"summary": SECRET, "causal_entry_keys": [ENTRY_KEY], "causal_entry_versions": {ENTRY_KEY: 1}}
    trace = {
        "agent_id": "agent/keeper",
        "task_input": f"say {SECRET}",
        "response_text": SECRET,
        "decision_summary": SECRET,
        "tool_calls": [{"tool_name": "say", "arguments": {"what": SECRET}, "result_summary": SECRET}],
        "external_contexts": [{"label": SECRET, "summary": SECRET}],
        "error_events": [{"operation": "say", "message": SECRET}],
        "own words": SECRET,
        "outcome_ref": "T-1",
        "outcome_type": "success",
        "causal_entries": [relied, seen],
        "query_events": [{"operation": "list", "parameters": {"entity_path": "shop/vault"}, "result_count": 1}],
        "state_diff": {"entries_created": 0, "entries_updated": 1, "confidence_changes": changes},
        "session_metadata": {
            "attributes": {"said": SECRET},
            "attempts": [tried],
        },
    }
    keeper.post("traces", trace)
    read = {"agent_id": "agent/keeper", "event_type": "read", "summary": f"Read {ENTRY_KEY}", "details": {**NAMED}}
    keeper.post("timeline/events", read)
    for edge in (
        {"source_entity": "agent/keeper", "source_type": "agent", "relation": "read", "target_entity": ENTRY_KEY},
        {"source_entity": ENTRY_KEY, "relation": "informed", "target_entity": "T-1", "target_type": "outcome"},
        {"source_entity": "shop/open", "relation": "references", "target_entity": ENTRY_KEY},
        {"source_entity": "shop/open", "relation": "references", "target_entity": "shop/wide"},
    ):
        keeper.post("graph/edges", edge)
    return keeper


def around(caller: Caller, entity: str) -> list[Any]:
    return caller.get("pro/graph/neighbors", entity=entity, depth=5).json()["edges"]


@pytest.mark.usefixtures("told")
def test_no_trace_tells_it_to_others(outsider: Caller) -> None:
    traces = outsider.get("traces").json()["traces"]

    assert PATH not in json.dumps(traces)
    assert SECRET not in json.dumps(traces)
    for trace in traces:
        assert outsider.get(f"traces/{trace['id']}").json() == trace
        assert (trace["state_diff"] or {}).get("entries_updated", 0) == 0
    assert outsider.get("traces", entity_path="shop/vault").json()["traces"] == []


@pytest.mark.usefixtures("told")
def test_no_timeline_tells_or_counts_it(outsider: Caller) -> None:
    told = outsider.get("agents/agent/keeper/timeline").json()

    assert PATH not in json.dumps(told)
    assert {one["event_type"] for one in told["events"]} <= {"outcome"}
    for one in told["events"]:
        assert (one["details"]["causal_entries"], one["details"]["entries_updated"]) == (0, 0)


@pytest.mark.usefixtures("told")
def test_no_edge_leads_to_it_or_through_it(outsider: Caller) -> None:
    assert around(outsider, ENTRY_KEY) == []
    assert PATH not in json.dumps([around(outsider, name) for name in ("agent/keeper", "T-1", "KEEP-1", "shop/open")])


def test_the_keeper_itself_is_told_everything(told: Caller) -> None:
    newest = told.get("traces").json()["traces"][0]

    assert [entry["key"] for entry in newest["causal_entries"]] == ["code", "open"]
    assert newest["state_diff"]["entries_updated"] == 1
    assert (newest["task_input"], newest["own words"]) == (f"say {SECRET}", SECRET)
    assert [one["event_type"] for one in told.get("agents/agent/keeper/timeline").json()["events"]].count("write") == 2
    assert len(told.get("traces", entity_path="shop/vault").json()["traces"]) == 3
    assert len(around(told, "shop/open")) > 3


def test_a_shared_entry_of_the_same_name_does_not_open_what_the_keeper_read(told: Caller, helper: Caller) -> None:
    helper.write("shop/vault", "code", "for all")

    traces = helper.get("traces", entity_path="shop/vault").json()["traces"]
    timeline = helper.get("agents/agent/keeper/timeline").json()["events"]

    assert SECRET not in json.dumps(traces)
    assert {one["event_type"] for one in timeline} == {"outcome"}


def test_who_learned_from_whom_is_counted_without_it(told: Caller, helper: Caller) -> None:
    """Somebody who claims to have read what is private is not believed."""
    claimed = {**NAMED, "version": 2, "written_by": "agent/keeper"}
    helper.post("traces", {"agent_id": "agent/oncall-helper", "outcome_ref": "H-1", "causal_entries": [claimed]})

    stats = helper.get("traces/share-stats").json()

    assert [(pair["reader"], pair["author"]) for pair in stats["pairs"]] == [("agent/keeper", "agent/other")]
    assert stats["total"] == 1

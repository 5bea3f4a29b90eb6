"""What the published packages can be asked to do over HTTP: each public method once, in an order that makes sense."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from amfs import AgentMemory, OutcomeType
from amfs_adapter_http import HttpAdapter
from amfs_core.models import (
    AgentProfile,
    DecisionTrace,
    Event,
    EventType,
    GraphEdge,
    GraphNeighborQuery,
    MemoryEntry,
    OutcomeRecord,
    Provenance,
    SearchQuery,
)

Call = Callable[[Any], Any]
PATH, KEY = "shop/checkout", "retry"
# They speak to rooms, which are no part of the product; over HTTP the client itself says so.
ROOMS = {
    "my_rooms", "negotiate_create", "negotiate_propose", "negotiate_respond", "negotiate_status", "room_discuss",
    "room_discussions", "room_info", "room_join", "room_leave", "room_updates",
}  # fmt: skip


# It compares vectors of the caller's own model in the client, and says so where there is none.
LOCAL = {"semantic_search"}


def in_transaction(memory: AgentMemory) -> Any:
    with memory.transaction("together") as transaction:
        transaction.write(PATH, "t1", 1)
        transaction.write(PATH, "t2", 2)
    return memory.read(PATH, "t2").value == 2


def scoped(memory: AgentMemory) -> Any:
    scope = memory.scope(PATH)
    scope.write("scoped", 1)
    return scope.read("scoped").value == 1


# Each returns something true when it did what it says.
MEMORY: dict[str, Call] = {
    "write": lambda m: m.write(PATH, KEY, {"max": 3}, confidence=0.7).version == 1,
    "last_scope": lambda m: m.write(PATH, "second", 1) and m.last_scope["existing_entries"] == 1,
    "read": lambda m: m.read(PATH, KEY).value == {"max": 3},
    "last_reuse_value": lambda m: m.last_reuse_value is not None,
    "list": lambda m: {e.key for e in m.list(PATH)} == {KEY, "second"},
    "search": lambda m: [e.key for e in m.search(query="retry", entity_path=PATH)] == [KEY],
    "retrieve": lambda m: isinstance(m.retrieve("retry", entity_path=PATH), list),
    "recall": lambda m: m.recall(PATH, KEY).version == 1,
    "my_entries": lambda m: len(m.my_entries()) == 2,
    "history": lambda m: m.write(PATH, KEY, {"max": 6}) and len(m.history(PATH, KEY)) == 2,
    "diff": lambda m: m.diff(PATH, KEY)["diff_type"] == "modified",
    "create_patch": lambda m: m.create_patch(PATH, KEY)["changes"],
    "verify": lambda m: m.verify()["corrupted"] == [],
    "stats": lambda m: m.stats().total_entries == 2,
    "list_scopes": lambda m: m.list_scopes() == [PATH],
    "info": lambda m: m.info(PATH).entry_count == 2,
    "tree": lambda m: "checkout" in m.tree(),
    "scope": scoped,
    "transaction": in_transaction,
    "commit_log": lambda m: m.commit_log() == [],
    "get_commit": lambda m: m.get_commit("nope") is None,
    "common_ancestor": lambda m: m.common_ancestor("a", "b") is None,
    "record_context": lambda m: m.record_context("ticket", "It fails at noon.") is None,
    "record_action": lambda m: m.record_action("deploy", {"action": "canary"}, result="ok") is not False,
    "record_attempt": lambda m: m.record_attempt(summary="too fast") is not False,
    "record_llm_call": lambda m: m.record_llm_call("m", 10, 5) is not False,
    "session_llm_calls": lambda m: len(m.session_llm_calls) == 1,
    "set_session_attributes": lambda m: m.set_session_attributes({"ci": True}) == {"ci": True},
    "session_attributes": lambda m: m.session_attributes["ci"] is True,
    "clear_session_attributes": lambda m: m.clear_session_attributes() is None,
    "declare_covariates": lambda m: m.declare_covariates({"load": 3}),
    "covariates": lambda m: m.covariates["load"] == 3,
    "clear_covariates": lambda m: m.clear_covariates() is None,
    "environment": lambda m: isinstance(m.environment(), dict),
    "session_metadata": lambda m: m.session_metadata is not False,
    "read_log": lambda m: m.read_log is not None,
    "explain": lambda m: isinstance(m.explain(), dict),
    "commit_outcome": lambda m: m.commit_outcome("t-1", OutcomeType.SUCCESS, [f"{PATH}/{KEY}"])[0].outcome_count == 1,
    "clear_read_log": lambda m: m.clear_read_log() is None,
    "list_traces": lambda m: m.list_traces()[0].outcome_ref == "t-1",
    "get_trace": lambda m: m.get_trace(m.list_traces()[0].id).outcome_ref == "t-1",
    "timeline": lambda m: len(m.timeline()) > 1,
    "graph_neighbors": lambda m: isinstance(m.graph_neighbors(f"{PATH}/{KEY}"), list),
    "briefing": lambda m: isinstance(m.briefing(PATH), list),
    "last_priors": lambda m: m.last_priors is not False,
    "set_profile": lambda m: m.set_profile("ships", tags=["deploys"]) is None,
    "declare_capability": lambda m: m.declare_capability("deploys", entity_paths=[PATH]) is None,
    "set_contracts": lambda m: m.set_contracts([{"entity_path": PATH}]) is None,
    "discover_agents": lambda m: isinstance(m.discover_agents(), list),
    "as_agent": lambda m: m.as_agent("helper").agent_id == "helper",
    "read_from": lambda m: m.as_agent("helper").read_from("deploy_bot", PATH, KEY).value == {"max": 6},
    "cross_agent_reads": lambda m: isinstance(m.cross_agent_reads(), dict),
    "agents_i_read_from": lambda m: isinstance(m.agents_i_read_from(), list),
    "checkout": lambda m: m.checkout("draft") == "draft" and m.checkout("main") == "main",
    "branch": lambda m: m.branch == "main",
    "agent_id": lambda m: m.agent_id == "deploy_bot",
    "session_id": lambda m: m.session_id,
    "namespace": lambda m: m.namespace == "default",
    "adapter": lambda m: isinstance(m.adapter, HttpAdapter),
    "watch": lambda m: m.watch(PATH, lambda entry: None) is not False,
    "close": lambda m: m.close() is None,
}


def entry_of(key: str) -> MemoryEntry:
    provenance = Provenance(agent_id="deploy_bot", session_id="s", written_at=datetime.now(UTC))
    return MemoryEntry(entity_path=PATH, key=key, value={"n": 1}, provenance=provenance, confidence=0.7)


def trace(adapter: HttpAdapter) -> DecisionTrace:
    told = DecisionTrace(
        id="", agent_id="deploy_bot", session_id="s", outcome_ref="t-2", outcome_type="success",
        created_at=datetime.now(UTC),
    )  # fmt: skip
    return adapter.save_trace(told)


def event(adapter: HttpAdapter) -> Event:
    return adapter.log_event(
        Event(agent_id="deploy_bot", event_type=EventType.READ, summary="read", details={"key": "k"})
    )


def edge(adapter: HttpAdapter) -> bool:
    told = GraphEdge(
        source_entity=f"{PATH}/a1", source_type="entry", relation="references", target_entity=f"{PATH}/a2",
        target_type="entry",
    )  # fmt: skip
    return adapter.upsert_graph_edge(told) is None


def reported(adapter: HttpAdapter) -> bool:
    record = OutcomeRecord(
        outcome_ref="t-2", outcome_type=OutcomeType.SUCCESS, causal_entry_keys=[f"{PATH}/a1"], agent_id="deploy_bot",
        committed_at=datetime.now(UTC),
    )  # fmt: skip
    return adapter.commit_outcome(record)[0].outcome_count == 1


ADAPTER: dict[str, Call] = {
    "bind": lambda a: a.bind("deploy_bot", "s") is not None,
    "identity_headers": lambda a: isinstance(a.identity_headers, dict),
    "declare_situation": lambda a: a.declare_situation("a deploy") is None,
    "server_side_write_events": lambda a: a.server_side_write_events is not None,
    "remote_learning": lambda a: a.remote_learning is not None,
    "write": lambda a: a.write(entry_of("a1")).version == 1,
    "read": lambda a: a.read(PATH, "a1").value == {"n": 1},
    "list": lambda a: [e.key for e in a.list(PATH)] == ["a1"],
    "search": lambda a: [e.key for e in a.search(SearchQuery(query="a1"))] == ["a1"],
    "retrieve": lambda a: isinstance(a.retrieve("a1", entity_path=PATH), list),
    "stats": lambda a: a.stats().total_entries == 1,
    "stats_extended": lambda a: a.stats_extended()["total_entries"] == 1,
    "entity_summaries": lambda a: a.entity_summaries()[0]["entity_path"] == PATH,
    "commit_outcome": reported,
    "list_outcomes": lambda a: a.list_outcomes()[0].outcome_ref == "t-2",
    "save_trace": lambda a: trace(a).id,
    "get_trace": lambda a: a.get_trace(trace(a).id).outcome_ref == "t-2",
    "list_traces": lambda a: a.list_traces()[0].outcome_ref == "t-2",
    "list_traces_page": lambda a: a.list_traces_page() is not None,
    "count_traces": lambda a: a.count_traces() == 1,
    "trace_read_counts": lambda a: isinstance(a.trace_read_counts("deploy_bot"), dict),
    "share_stats": lambda a: "pairs" in a.share_stats(),
    "commit_batch": lambda a: (
        len(a.commit_batch([{"entity_path": PATH, "key": "b1", "value": 1}], "batch").entries) == 1
    ),
    "list_commits": lambda a: a.list_commits()[0].message == "batch",
    "get_commit": lambda a: a.get_commit(a.list_commits()[0].id).message == "batch",
    "common_ancestor": lambda a: a.common_ancestor(*[a.list_commits()[0].id] * 2) == a.list_commits()[0].id,
    "log_event": lambda a: event(a).summary == "read",
    "list_events": lambda a: len(a.list_events("deploy_bot")) > 1,
    "upsert_graph_edge": edge,
    "graph_neighbors": lambda a: len(a.graph_neighbors(GraphNeighborQuery(entity=f"{PATH}/a1"))) >= 1,
    "ensure_agent": lambda a: a.ensure_agent("deploy_bot").agent_id == "deploy_bot",
    "update_agent_profile": lambda a: a.update_agent_profile("deploy_bot", AgentProfile(description="ships")).agent_id,
    "list_digests": lambda a: a.list_digests()[0].scope,
    "briefing": lambda a: isinstance(a.briefing(PATH), list),
    "watch": lambda a: a.watch(PATH, lambda entry: None) is not False,
}

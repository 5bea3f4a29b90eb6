"""What the schema says of the operations on traces, timelines and the graph."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from memories.api.docs import ONCE, operation, query

TRACE = {
    "id": "5f0c2a52-6f3e-4f63-9a3f-0d5a4a0c7a11",
    "agent_id": "agent/deploy-bot",
    "session_id": "s-1",
    "outcome_ref": "deploy-1377",
    "outcome_type": "success",
    "task_input": "Roll out 3 changes of checkout",
    "tool_calls": [{"tool_name": "deploy", "arguments": {"service": "checkout"}, "success": True, "duration_ms": 4100}],
    "causal_entries": [
        {
            "entity_path": "shop/checkout-service",
            "key": "retry-pattern",
            "version": 2,
            "written_by": "agent/checkout-dev",
        }
    ],
    "created_at": "2026-11-30T09:57:37.331202Z",
    "namespace": "default",
}
AGENT = OpenApiParameter(
    "agent_id", OpenApiTypes.STR, OpenApiParameter.PATH, description="The agent; slashes as they are."
)
CURSOR = query("cursor", "Where the list goes on; 400 when it cannot be read.")
OFFSET = query("offset", "From 0; a cursor is better.", kind=OpenApiTypes.INT)
LIMIT = query("limit", "From 1; 100 without it, at most 1,000.", kind=OpenApiTypes.INT)
SINCE = query("since", "From this moment on.")
UNTIL = query("until", "Before this moment.")
READING = (400, 401, 403, 422, 429)

list_traces = operation(
    "List traces",
    {"traces": [TRACE], "next_cursor": None, "has_more": False},
    tag="traces",
    operation_id="list_traces",
    parameters=[
        query("entity_path", "Traces that touched exactly this path."),
        query("agent_id", "Of this agent."),
        query("outcome_type", "With this outcome."),
        LIMIT,
        CURSOR,
        OFFSET,
        SINCE,
        UNTIL,
    ],
    refusals=READING,
)
submit_trace = operation(
    "Submit a trace",
    TRACE,
    tag="traces",
    operation_id="submit_trace",
    sent={name: value for name, value in TRACE.items() if name not in {"id", "created_at"}},
    parameters=[ONCE],
    refusals=(401, 403, 404, 409, 413, 422, 429),
)
get_trace = operation(
    "Read a trace",
    TRACE,
    tag="traces",
    operation_id="get_trace",
    parameters=[OpenApiParameter("trace_id", OpenApiTypes.STR, OpenApiParameter.PATH, description="The trace's id.")],
    refusals=(401, 403, 404, 429),
)
share_stats = operation(
    "Count who relies on whom",
    {"total": 12, "pairs": [{"reader": "agent/deploy-bot", "author": "agent/checkout-dev", "count": 12}]},
    tag="traces",
    operation_id="share_stats",
    parameters=[SINCE, query("pair_limit", "So many pairs (20).", kind=OpenApiTypes.INT)],
    refusals=READING,
)
EVENT = {
    "id": "00000000-0000-8003-8000-00000000002a",
    "namespace": "default",
    "agent_id": "agent/deploy-bot",
    "branch": "main",
    "event_type": "read",
    "summary": "Read shop/checkout-service/retry-pattern",
    "details": {"entity_path": "shop/checkout-service", "key": "retry-pattern", "version": 2},
    "actor_agent_id": None,
    "created_at": "2026-11-30T09:57:37.331202Z",
}
read_timeline = operation(
    "Read an agent's timeline",
    {"agentId": "agent/deploy-bot", "events": [EVENT], "count": 1, "next_cursor": None, "has_more": False},
    tag="agents",
    operation_id="read_timeline",
    parameters=[
        AGENT,
        query("event_type", "Only events of this type."),
        query("branch", "Only on this branch."),
        LIMIT,
        CURSOR,
        OFFSET,
        SINCE,
        UNTIL,
    ],
    refusals=READING,
)
post_event = operation(
    "Report an event",
    EVENT,
    tag="agents",
    operation_id="post_event",
    sent={name: EVENT[name] for name in ("agent_id", "event_type", "summary", "details", "branch")},
    parameters=[ONCE],
    refusals=(400, 401, 403, 409, 413, 422, 429),
)
EDGE = {
    "source_entity": "shop/checkout-service/retry-pattern",
    "source_type": "entry",
    "relation": "informed",
    "target_entity": "deploy-1377",
    "target_type": "outcome",
    "provenance": {"agent_id": "agent/deploy-bot"},
}
SEEN = {"first_seen": "2026-11-29T09:57:37.331202Z", "last_seen": "2026-11-30T09:57:37.331202Z"}
post_edge = operation(
    "Report an edge of the graph",
    {"status": "ok"},
    tag="graph",
    operation_id="post_edge",
    sent=EDGE | {"branch": "main"},
    parameters=[ONCE],
    refusals=(401, 403, 409, 413, 422, 429),
)
graph_neighbors = operation(
    "List edges around a node",
    {"entity": EDGE["source_entity"], "edges": [EDGE | SEEN | {"confidence": 1.0, "evidence_count": 2}], "count": 1},
    tag="graph",
    operation_id="graph_neighbors",
    parameters=[
        query("entity", "An entry key, an outcome_ref or an agent.", required=True),
        query("relation", "Only edges of this relation."),
        query("direction", "both unless named.", enum=["both", "outgoing", "incoming"]),
        query("min_confidence", "Edges at least so sure.", kind=OpenApiTypes.FLOAT),
        query("depth", "How many steps, 1 to 5.", kind=OpenApiTypes.INT),
        query("limit", "So many edges (50, at most 1,000).", kind=OpenApiTypes.INT),
        query("branch", "On a branch with what holds on main."),
    ],
)

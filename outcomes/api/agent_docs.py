"""What the schema says of the operations on agents."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from memories.api.docs import ENTRY, operation, query
from outcomes.api.telling_docs import AGENT, EDGE, EVENT, LIMIT, OFFSET, SEEN

MEMBER = {
    "agentId": "agent/deploy-bot",
    "entriesWritten": 118,
    "entitiesTouched": 9,
    "lastActive": "2026-11-30T09:57:37.331202Z",
    "createdAt": "2026-10-19T08:12:01.110000Z",
    "description": "Ships the services",
    "platform": "",
}
PROFILE = {"description": "Ships the services", "default_branch": "main", "auto_context_paths": [], "tags": ["deploys"]}
WHO: dict[str, Any] = {
    "id": "1",
    "namespace": "default",
    "agent_id": "agent/deploy-bot",
    "display_name": None,
    "entry_count": 118,
    "profile": PROFILE,
    "capabilities": [],
    "contracts": [],
}
REST = OpenApiParameter("rest", OpenApiTypes.STR, OpenApiParameter.PATH, description="entity_path/key")
FROM = OpenApiParameter("rest", OpenApiTypes.STR, OpenApiParameter.PATH, description="author/entity_path/key")

list_agents = operation(
    "List agents", {"agents": [MEMBER]}, tag="agents", operation_id="list_agents", parameters=[LIMIT]
)
MORE = {"reads": 230, "outcomes": 52, "successRate": 0.81, "discreditedShare": 0.04, "silentDays": None}
enriched_agents = operation(
    "List agents with their figures",
    {"agents": [MEMBER | MORE], "days": 30},
    tag="agents",
    operation_id="enriched_agents",
    parameters=[LIMIT],
)
discover_agents = operation(
    "Find agents by what they can do",
    {"agents": [WHO], "total": 1},
    tag="agents",
    operation_id="discover_agents",
    parameters=[
        query("capability", "Who names a capability so."),
        query("entity_path", "Whose capability names this path."),
        query("tag", "Whose profile has this tag."),
        LIMIT,
    ],
)
read_profile = operation(
    "Read an agent's profile",
    {"agentId": "agent/deploy-bot", "entriesWritten": 118, "totalReads": 230, "decisionTraces": 52, "profile": PROFILE},
    tag="agents",
    operation_id="read_profile",
    parameters=[AGENT],
    refusals=(401, 403, 404, 422, 429),
)
set_profile = operation(
    "Set an agent's profile",
    WHO,
    tag="agents",
    operation_id="set_profile",
    sent=PROFILE,
    parameters=[AGENT],
    refusals=(401, 403, 409, 413, 422, 429),
)
agent_entries = operation(
    "List what an agent wrote",
    {"agentId": "agent/deploy-bot", "entries": [ENTRY], "total": 1},
    tag="agents",
    operation_id="agent_entries",
    parameters=[AGENT, LIMIT, OFFSET],
)
agent_recall = operation(
    "Read an entry an agent wrote", ENTRY, tag="agents", operation_id="agent_recall", parameters=[AGENT, REST]
)
agent_read_from = operation(
    "Read an entry of another agent", ENTRY, tag="agents", operation_id="agent_read_from", parameters=[AGENT, FROM]
)
READ = {"entity_path": "shop/checkout-service", "key": "retry-pattern", "read_count": 7}
cross_agent_reads = operation(
    "List what an agent read of others",
    {"agentId": "agent/deploy-bot", "days": 30, "reads": {"agent/checkout-dev": [READ]}},
    tag="agents",
    operation_id="cross_agent_reads",
    parameters=[AGENT],
)
agent_activity = operation(
    "Show what an agent did lately",
    {"agentId": "agent/deploy-bot", "activity": [EVENT], "count": 1},
    tag="agents",
    operation_id="agent_activity",
    parameters=[AGENT, LIMIT],
)
memory_graph = operation(
    "Show what hangs together around an agent",
    {"agentId": "agent/deploy-bot", "nodes": [{"id": "deploy-1377", "type": "outcome"}], "edges": [EDGE | SEEN]},
    tag="agents",
    operation_id="memory_graph",
    parameters=[AGENT, LIMIT],
)
EXPERT = {
    "agent_id": "agent/checkout-dev",
    "entity_path": "shop/checkout-service",
    "entry_count": 31,
    "validated": 22,
    "discredited": 1,
    "avg_confidence": 0.81,
}
expertise = operation(
    "List who knows what",
    {"expertise": [EXPERT], "total": 1},
    tag="graph",
    operation_id="expertise",
    parameters=[query("entity_path", "About exactly this path."), LIMIT],
)

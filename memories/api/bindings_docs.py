"""What the schema says of an agent's capabilities and contracts."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from memories.api.docs import operation

CAPABILITY = {"name": "deploys", "description": "Ships the services.", "entity_paths": ["shop"]}
CONTRACT = {
    "entity_path": "shop",
    "key_pattern": "incident-*",
    "min_confidence": 0.3,
    "max_confidence": 0.9,
    "required_fields": ["cause", "fix"],
    "ttl_required": True,
    "default_ttl_days": 90,
    "description": "incidents say cause and fix",
}
AGENT: dict[str, Any] = {
    "id": "7",
    "namespace": "default",
    "agent_id": "agent/deploy-bot",
    "display_name": None,
    "created_at": "2026-11-30T09:57:37.331202Z",
    "last_active_at": "2026-11-30T09:57:37.331202Z",
    "entry_count": 12,
    "profile": {},
    "capabilities": [CAPABILITY],
    "contracts": [CONTRACT],
}
ID = OpenApiParameter("agent_id", OpenApiTypes.STR, OpenApiParameter.PATH, description="The agent; slashes as they are")

capabilities = operation(
    "Set what an agent can do",
    AGENT,
    tag="agents",
    operation_id="set_capabilities",
    sent={"capabilities": [CAPABILITY]},
    parameters=[ID],
    refusals=(401, 403, 409, 422, 429),
)
contracts = operation(
    "Set what an agent binds its writes to",
    AGENT,
    tag="agents",
    operation_id="set_contracts",
    sent={"contracts": [CONTRACT]},
    parameters=[ID],
    refusals=(401, 403, 409, 422, 429),
)

"""What the schema says of digests and consolidation."""

import msgspec
from drf_spectacular.types import OpenApiTypes

from memories.api.docs import operation, query


class ConsolidateBody(msgspec.Struct):
    """POST /cortex/consolidate: a dry run unless it says otherwise."""

    dry_run: bool | None = None


DIGEST = {
    "digest_type": "entity",
    "scope": "shop/checkout-service",
    "summary": {"total_keys": 3, "top_keys": ["retry-pattern"], "narrative": "3 entries: 2 validated."},
    "entry_count": 3,
    "source_agents": ["agent/deploy-bot"],
    "compiled_at": "2026-11-30T09:57:37.331202Z",
    "staleness_ms": 0,
    "anticipation_score": 0.0,
    "namespace": "default",
    "branch": "main",
}
digests = operation(
    "Digests",
    {"digests": [DIGEST], "total": 1},
    tag="digests",
    operation_id="list_digests",
    parameters=[
        query("digest_type", "entity, agent_brief or source."),
        query("limit", "1 to 500; 100 without it.", kind=OpenApiTypes.INT),
    ],
)
status = operation(
    "How many digests",
    {"status": "live", "digest_count": 4, "digest_types": {"entity": 2, "agent_brief": 1, "source": 1}},
    tag="digests",
    operation_id="digest_status",
)
activity = operation(
    "Writes by day and agents of the week",
    {"days": 14, "writes": [0, 3], "agents": [{"agent_id": "agent/deploy-bot", "writes": 3}]},
    tag="digests",
    operation_id="activity",
)
consolidation_status = operation(
    "What is merged by itself",
    {"enabled": False, "auto_archived": 0, "pending_proposals": 0, "health": "ok"},
    tag="digests",
    operation_id="consolidation_status",
)
proposals = operation(
    "Proposals to merge",
    {"proposals": [], "total": 0, "status": "pending"},
    tag="digests",
    operation_id="consolidation_proposals",
    parameters=[query("status", "pending unless named."), query("limit", "At most so many.")],
)
candidates = operation(
    "Entries that may say the same",
    {"candidates": [], "total": 0},
    tag="digests",
    operation_id="consolidation_candidates",
    parameters=[query("limit", "At most so many.", kind=OpenApiTypes.INT)],
)
consolidate = operation(
    "What a round of merging would do",
    {"dry_run": True, "auto_archived": 0, "proposals_created": 0, "candidates": []},
    tag="digests",
    operation_id="consolidate",
    sent={"dry_run": True},
)

"""What the schema says of figures out of values, quality, references and reuse."""

from drf_spectacular.types import OpenApiTypes

from memories.api.docs import REST, operation, query

JUDGED = {
    "entity_path": "shop/checkout-service",
    "key": "retry-pattern",
    "quality": {
        "score": 0.7,
        "action": "stored_with_suggestions",
        "issues": [{"type": "too_short", "message": "The value has 9 characters.", "suggestion": "Say when it holds."}],
    },
}
aggregate = operation(
    "Reduce the values at a path",
    {
        "op": "mean",
        "field": "latency_ms",
        "row_path": None,
        "total_rows": 12,
        "count": 12,
        "mean": 84.2,
        "entity_path": "shop/probes",
        "entries_scanned": 12,
    },
    tag="figures",
    operation_id="aggregate",
    sent={"entity_path": "shop/probes", "op": "mean", "field": "latency_ms"},
    refusals=(400, 401, 403, 422, 429),
)
quality = operation(
    "How well an entry is put",
    JUDGED,
    tag="figures",
    operation_id="quality",
    parameters=[REST],
    refusals=(401, 403, 404, 422, 429),
)
quality_batch = operation(
    "How well several entries are put",
    {"results": [JUDGED], "total": 1},
    tag="figures",
    operation_id="quality_batch",
    sent={"entity_path": "shop/checkout-service"},
)
patterns = operation(
    "What entries refer to",
    {
        "patterns": [{"pattern_ref": "shop/known-issues/dns", "usage_count": 3, "entity_paths": ["shop/api"]}],
        "total": 1,
    },
    tag="figures",
    operation_id="patterns",
    parameters=[query("limit", "1 to 1000; 100 without it.", kind=OpenApiTypes.INT)],
)
reuse = operation(
    "What was read again",
    {
        "since": "2026-11-01T00:00:00Z",
        "days": 30,
        "available": True,
        "agent": None,
        "writer": None,
        "reuses": 41,
        "memories_reused": 9,
        "est_tokens_saved": 8200,
        "cross_surface": 12,
        "top": [],
        "by_agent": [],
        "recent_cross_surface": [],
    },
    tag="figures",
    operation_id="reuse",
    parameters=[
        query("days", "1 to 365; 30 without it.", kind=OpenApiTypes.INT),
        query("since", "Instead of days."),
        query("agent", "Read by this agent."),
        query("writer", "Written by this agent."),
    ],
    refusals=(400, 401, 403, 422, 429),
)

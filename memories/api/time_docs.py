"""What the schema says of the operations on time: forecasts, tiers, jobs and the policy."""

from drf_spectacular.types import OpenApiTypes

from memories.api.docs import operation, query

BRANCH = query("branch", "main unless named.")
POINT = {"at": "2026-12-30T09:57:37.331202Z", "effective_confidence": 0.52}
FORECAST = {
    "entity_path": "shop/checkout-service",
    "key": "retry-pattern",
    "tier": 1,
    "leaves_tier_at": "2026-12-07T09:57:37.331202Z",
    "under_review_at": "2027-03-08T09:57:37.331202Z",
    "archived_at": "2027-06-25T09:57:37.331202Z",
    "expires_at": None,
    "curve": [POINT],
}
forecast = operation(
    "Foresee what happens if nothing happens",
    FORECAST,
    tag="time",
    operation_id="forecast",
    parameters=[
        query("entity_path", "With key: the entry to foresee. Without both: how many entries of the branch meet what."),
        query("key", "The key of the entry."),
        query("kind", "Of the branch, which entries: review, archive, expire or fall (leave their tier)."),
        query("days", "Within so many days (30), at most 365.", kind=OpenApiTypes.INT),
        query("cursor", "Where the list goes on."),
        BRANCH,
    ],
    refusals=(400, 401, 403, 404, 422, 429),
)
DISTRIBUTION = {"total": 1284, "hot": 50, "warm": 200, "archive": 1034, "scored": 1284, "avg_priority_score": 0.31}
distribution = operation(
    "Count entries by tier",
    DISTRIBUTION,
    tag="time",
    operation_id="tier_distribution",
    parameters=[BRANCH],
)
TIER_ROW = {
    "entity_path": "shop/checkout-service",
    "key": "retry-pattern",
    "confidence": 0.7,
    "tier": 1,
    "priority_score": 1.61,
    "recall_count": 4,
    "importance_score": None,
    "written_at": "2026-11-30T09:57:37.331202Z",
    "agent_id": "agent/deploy-bot",
}
tier_entries = operation(
    "List entries by priority",
    [TIER_ROW],
    tag="time",
    operation_id="tier_entries",
    parameters=[
        query("tier", "1 hot, 2 warm, 3 archive; all without it.", kind=OpenApiTypes.INT),
        query("limit", "At most so many (50, at most 1,000).", kind=OpenApiTypes.INT),
        BRANCH,
    ],
    array=True,
)
tiers = operation(
    "Show how the tiers stand and what moved today",
    {
        "branch": "main",
        "tiers": {"hot": {"tier": 1, "count": 50, "capacity": 50}},
        "moved_today": [{"from": 3, "to": 1, "count": 4}],
        "moves": [
            {
                "entity_path": "shop/checkout-service",
                "key": "retry-pattern",
                "at": "2026-11-30T09:57:37.331202Z",
                "from": 3,
                "to": 1,
                "priority": {"importance": 0.7, "recency": 1.0, "frequency": 1.0, "durability": 1.0, "value": 1.7},
            }
        ],
    },
    tag="time",
    operation_id="tiers",
    parameters=[BRANCH],
)
jobs = operation(
    "Show what the jobs do",
    {
        "health": [],
        "jobs": [
            {
                "job": "decay",
                "does": "Moves what silence wore down below a threshold.",
                "every_minutes": 60,
                "next_at": "2026-11-30T10:57:37.331202Z",
                "state": "done",
                "last": {"started_at": "2026-11-30T09:57:37.331202Z", "seconds": 0.2, "looked": 12, "changed": 3},
                "running": None,
            }
        ],
    },
    tag="time",
    operation_id="jobs",
)
policy = operation(
    "Show the policy an account learns by",
    {
        "name": "evidence-v1",
        "version": 2,
        "values": {"base_half_life": 69.0},
        "versions": [{"version": 2, "by": "ada", "why": "we forget too slowly", "at": "2026-11-30T09:57:37.331202Z"}],
    },
    tag="time",
    operation_id="policy",
)

"""What the schema says of the calls in the shape of the public server."""

from memories.api.docs import ONCE, operation

NAMED = {"entity_path": "shop/checkout-service", "key": "retry-pattern"}
CHANGE = {"path": "/max_attempts", "operation": "replace", "old_value": 3, "new_value": 6}
verify = operation(
    "Whether values still fit their hashes",
    {"total_checked": 2, "valid": 2, "corrupted": [], "orphaned": [], "chain_breaks": [], "complete": True},
    tag="history",
    operation_id="verify",
    sent={"entity_path": "shop/checkout-service"},
)
diff = operation(
    "The current version against an older one",
    {
        **NAMED,
        "diff_type": "modified",
        "branch_value": {"max_attempts": 6},
        "parent_value": {"max_attempts": 3},
        "branch_confidence": 0.7,
        "parent_confidence": 0.7,
        "branch_shared": True,
        "field_changes": [CHANGE],
    },
    tag="history",
    operation_id="diff_by_body",
    sent={**NAMED, "old_version": 1},
    refusals=(401, 403, 404, 422, 429),
)
patches = operation(
    "What leads from an older version to the current one",
    {**NAMED, "changes": [CHANGE], "source_version": 1, "target_version": 2},
    tag="history",
    operation_id="patch",
    sent={**NAMED, "source_version": 1},
    refusals=(401, 403, 404, 422, 429),
)
events = operation(
    "Write what an outside source saw",
    {"status": "ok", "entity_path": "shop/probes", "key": "cpu", "source": "monitor", "agent_id": "external/monitor"},
    tag="entries",
    operation_id="event",
    sent={"source": "monitor", "entity_path": "shop/probes", "key": "cpu", "value": {"cpu": 95}},
    parameters=[ONCE],
    refusals=(401, 403, 409, 422, 429),
)

"""What the schema says of history, differences, reasons, going back and change sets."""

from drf_spectacular.types import OpenApiTypes

from memories.api.docs import ENTRY, GUARD, NAME, ONCE, REST, operation, query

history = operation(
    "History of an entry",
    {"entity_path": ENTRY["entity_path"], "key": ENTRY["key"], "version_count": 1, "versions": [ENTRY]},
    tag="history",
    operation_id="history",
    parameters=[*NAME, query("since", "Claims written since."), query("until", "Claims written before.")],
    refusals=(400, 401, 403, 404, 422, 429),
)
history_by_path = operation(
    "History of an entry by path",
    {"entity_path": ENTRY["entity_path"], "key": ENTRY["key"], "version_count": 1, "versions": [ENTRY]},
    tag="history",
    operation_id="history_by_path",
    parameters=[REST],
    refusals=(400, 401, 403, 404, 422, 429),
)
diff = operation(
    "What differs between two versions",
    {"from": 1, "to": 2, "changes": [{"path": "/max_attempts", "operation": "replace", "old": 3, "new": 6}]},
    tag="history",
    operation_id="diff",
    parameters=[
        *NAME,
        query("from", "The one before `to` unless named.", kind=OpenApiTypes.INT),
        query("to", "The current one unless named.", kind=OpenApiTypes.INT),
    ],
    refusals=(401, 403, 404, 422, 429),
)
why = operation(
    "Why a confidence is what it is",
    {
        "confidence": 0.818182,
        "effective_confidence": 0.818182,
        "policy": "evidence-v1@1",
        "steps": [
            {
                "version": 2,
                "at": "2026-11-30T10:00:00Z",
                "change": "outcome",
                "cause": "deploy-1377",
                "before": 0.7,
                "weight": 1.3,
                "after": 0.818182,
                "words": ["success of deploy-1377: 0.700 to 0.818."],
            }
        ],
    },
    tag="history",
    operation_id="why",
    parameters=[*NAME, query("version", "The current one unless named.", kind=OpenApiTypes.INT)],
    refusals=(401, 403, 404, 422, 429),
)
rollback = operation(
    "Roll an entry back to an earlier version",
    {"entry": ENTRY, "change_set": 42},
    tag="history",
    operation_id="rollback",
    sent={
        "entity_path": "shop/checkout-service",
        "key": "retry-pattern",
        "to_version": 14,
        "expected_version": 18,
        "reason": "Retrying 409 caused double charges.",
    },
    parameters=[GUARD, ONCE],
    refusals=(401, 403, 404, 409, 412, 422, 429),
)
change_sets = operation(
    "List change sets",
    {"change_sets": [{"id": 42, "kind": "rollback", "actor": "agent/deploy-bot", "size": 1}], "next": None},
    tag="history",
    operation_id="list_change_sets",
    parameters=[query("kind", "write, outcome, rollback, undo, ..."), query("cursor", "As `next` gave it.")],
    refusals=(400, 401, 403, 422, 429),
)
undo = operation(
    "Undo a change set",
    {"change_set": 43, "restored": 1, "left": []},
    tag="history",
    operation_id="undo_change_set",
    sent={"reason": "Too hasty."},
    parameters=[ONCE],
    refusals=(401, 403, 404, 409, 412, 422, 429),
)

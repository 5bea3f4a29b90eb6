"""What the schema says of erasures."""

from memories.api.docs import operation

COUNTS = {
    "entries": 1, "values": 3, "reasons": 4, "evidence": 0, "comments": 1, "outcomes": 2, "traces": 2, "events": 0,
    "edges": 1,
}  # fmt: skip
erasing = operation(
    "Erase what an entry says or an agent said",
    {"change_set": 4711, "erased": COUNTS, "not_reached": ["backups and dumps made before"]},
    tag="admin",
    operation_id="erase",
    sent={
        "entity_path": "shop/checkout-service",
        "key": "retry-pattern",
        "reason": "It held a customer's address.",
        "confirm": "shop/checkout-service/retry-pattern",
        "names": False,
    },
    refusals=(401, 403, 404, 409, 422, 429),
)

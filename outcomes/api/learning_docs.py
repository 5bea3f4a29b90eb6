"""What the schema says of learning, explanations and training data."""

from drf_spectacular.types import OpenApiTypes

from memories.api.docs import operation, query

PATH = query("entity_path", "Tasks about this path.")
learning = operation(
    "Whether agents get better",
    {
        "sessions": 40,
        "successes": 31,
        "success_rate": 0.775,
        "window": 20,
        "first": 0.7,
        "latest": 0.85,
        "change": 0.15,
    },
    tag="outcomes",
    operation_id="learning",
    parameters=[
        query("days", "1 to 365; 30 without it.", kind=OpenApiTypes.INT),
        query("since", "Instead of days."),
        query("agent", "Tasks of this agent."),
        PATH,
        query("window", "Tasks in a window; 20 without it.", kind=OpenApiTypes.INT),
    ],
    refusals=(400, 401, 403, 422, 429),
)
explain = operation(
    "Why an outcome did what it did",
    {
        "outcome_ref": "deploy-1377",
        "agent_id": "agent/deploy-bot",
        "session_id": "s-1",
        "causal_chain_length": 1,
        "causal_entries": [{"entity_path": "shop/checkout-service", "key": "retry-pattern", "version": 1}],
        "external_contexts": [],
    },
    tag="outcomes",
    operation_id="explain",
    parameters=[query("outcome_ref", "The reference of an outcome.", required=True)],
)
training = operation(
    "Tasks as training data",
    {"format": "sft", "num_examples": 1, "examples": [{"prompt": "Deploy shop", "completion": "Deployed."}]},
    tag="outcomes",
    operation_id="training_data",
    parameters=[
        query("format", "sft, dpo or reward_model; sft without it.", enum=["sft", "dpo", "reward_model"]),
        PATH,
        query("min_confidence", "Taken and without effect: outcomes decide here, not confidence."),
        query("limit", "1 to 1000; 100 without it.", kind=OpenApiTypes.INT),
    ],
)

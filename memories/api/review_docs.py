"""What the schema says of feedback, evidence, observations, the review queue, decisions and what is promoted."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema

from memories.api.docs import AGENT, ENTRY, GUARD, OBJECT, ONCE, REFUSALS, View, operation, query

NAMED: dict[str, Any] = {"entity_path": ENTRY["entity_path"], "key": ENTRY["key"]}
RUN = {
    "run": 7,
    "decision": "archive",
    "state": "running",
    "total": 640,
    "done": 250,
    "failed": 2,
    "left": 388,
    "rate": 410.5,
    "change_set": 44,
}

feedback = operation(
    "Judge an entry",
    {"entry": {**ENTRY, "confidence": 0.8, "positive_reinforcement": 1}, "change_set": 42},
    tag="review",
    operation_id="give_feedback",
    sent={**NAMED, "outcome": "accepted", "note": "It worked in eu-west as well."},
    parameters=[GUARD, ONCE],
    refusals=(401, 403, 404, 409, 412, 422, 429),
)
evidence = operation(
    "Add evidence to an entry",
    {"entry": {**ENTRY, "confidence": 0.6}, "change_set": 43, "repeated": False},
    tag="review",
    operation_id="add_evidence",
    sent={
        **NAMED,
        "evidence": {
            "timestamp": "2026-11-30T09:00:00Z",
            "description": "Three of forty calls were charged twice.",
            "observation_id": "grafana-8812",
        },
        "confidence_delta": -0.1,
    },
    parameters=[GUARD, ONCE],
    refusals=(401, 403, 404, 409, 412, 422, 429),
)
observations = operation(
    "Read feedback from a user's words",
    {
        "signal": {
            "type": "correction",
            "suggested": "docker compose",
            "context": "No, use docker compose instead of docker-compose.",
        },
        "applied": [ENTRY],
        "change_set": 45,
    },
    tag="review",
    operation_id="observe",
    sent={
        "data": {"prompt": "No, use docker compose instead of docker-compose."},
        "session_id": "s-1",
        "entries": ["shop/checkout-service/retry-pattern"],
        "replace": True,
    },
    parameters=[ONCE],
    refusals=(401, 403, 404, 409, 422, 429),
)
queue = operation(
    "List the review queue",
    {
        "items": [
            {
                **ENTRY,
                "reasons": ["discredited"],
                "why": "2 failures in 3 days; 0.81 to 0.38",
                "since": "2026-11-28T11:00:00Z",
                "claimed_by": None,
                "claimed_until": None,
            }
        ],
        "next": None,
    },
    tag="review",
    operation_id="review",
    parameters=[
        query("reason", "under_review, discredited, contested, rejected or expiring; several, by commas."),
        query("entity_path", "This path and what is below it."),
        query("agent_id", "Written by this agent."),
        query("older_than_days", "Waiting for so many days or longer.", kind=OpenApiTypes.INT),
        query("sort", "doubt: the least confidence first; oldest: by how long they wait.", enum=["doubt", "oldest"]),
        query("limit", "1 to 200; 50 without it.", kind=OpenApiTypes.INT),
        query("cursor", "As `next` gave it."),
        query("branch", "main unless named."),
    ],
    refusals=(400, 401, 403, 422, 429),
)
decisions = operation(
    "Decide about entries",
    {
        "done": 2,
        "failed": [{**NAMED, "why": "rex accepted it at 10:02 on 30 November (UTC).", "status": 409}],
        "change_set": 44,
    },
    tag="review",
    operation_id="decide",
    sent={"items": [{**NAMED, "version": 18}], "decision": "rollback", "reason": "Retrying 409 caused double charges."},
    parameters=[ONCE],
    refusals=(401, 403, 404, 409, 412, 422, 429),
)
run = operation(
    "How a bulk run is getting on",
    {**RUN, "failures": [{**NAMED, "version": 19, "why": "You looked at version 18; the current one is 19."}]},
    tag="review",
    operation_id="bulk_run",
    parameters=[query("cursor", "Of failures, as `next` gave it.")],
    refusals=(400, 401, 403, 404, 429),
)
run_again = operation(
    "Ask again about what failed in a bulk run",
    RUN,
    tag="review",
    operation_id="bulk_run_again",
    sent={},
    refusals=(401, 403, 404, 409, 429),
)
run_cancel = operation(
    "Stop a bulk run",
    {**RUN, "state": "cancelled"},
    tag="review",
    operation_id="bulk_run_cancel",
    sent={},
    refusals=(401, 403, 404, 409, 429),
)
MARKDOWN = """<!-- senselab:begin -->

## shop/checkout-service

- **retry-pattern**: Retry only calls that are idempotent.

<!-- senselab:end -->
"""


def markdown() -> Callable[[View], View]:
    """Describe the one operation that answers with Markdown."""
    decorate: Callable[[View], View] = extend_schema(
        summary="What has proved itself, as Markdown",
        tags=["review"],
        operation_id="promoted",
        parameters=[
            AGENT,
            query("least", "The least effective confidence; 0.8 without it.", kind=OpenApiTypes.FLOAT),
            query("entity_path", "This path and what is below it."),
            query("branch", "main unless named."),
        ],
        responses={
            (200, "text/markdown"): OpenApiResponse(OpenApiTypes.STR, description="As in the example."),
            **{
                (status, "application/problem+json"): OpenApiResponse(OBJECT, description=REFUSALS[status])
                for status in (401, 403, 422, 429)
            },
        },
        examples=[
            OpenApiExample(
                "answer", value=MARKDOWN, media_type="text/markdown", response_only=True, status_codes=["200"]
            )
        ],
    )
    return decorate


promoted = markdown()

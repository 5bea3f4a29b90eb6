"""What the schema says of the stream."""

from collections.abc import Callable

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema

from memories.api.docs import AGENT, OBJECT, REFUSALS, View, header, query

FRAMES = 'event: write\nid: 81234-501\ndata: {"entity_path": "shop/checkout-service", "key": "retry-pattern"}\n\n'
BUSY = "All streams are taken; Retry-After is a number of seconds."
stream: Callable[[View], View] = extend_schema(
    summary="What is written, as it is written",
    tags=["entries"],
    operation_id="stream",
    parameters=[
        AGENT,
        header("Last-Event-ID", "Where a stream goes on: the id of the last event."),
        query("entity_path", "Exactly this path; * for all."),
        query("branch", "main unless named."),
        query("last_event_id", "As the header, for readers that cannot set one."),
    ],
    responses={
        (200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR, description="Server-sent events."),
        **{
            (status, "application/problem+json"): OpenApiResponse(OBJECT, description=REFUSALS.get(status, BUSY))
            for status in (400, 401, 403, 422, 429, 503)
        },
    },
    examples=[
        OpenApiExample("answer", value=FRAMES, response_only=True, status_codes=["200"], media_type="text/event-stream")
    ],
)

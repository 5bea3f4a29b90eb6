"""What the schema says of each operation: parameters, bodies, and an example."""

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

View = TypeVar("View", bound=Callable[..., Any])

ENTRY = {
    "entity_path": "shop/checkout-service",
    "key": "retry-pattern",
    "version": 1,
    "value": {"max_attempts": 3, "backoff": "exponential"},
    "provenance": {
        "agent_id": "agent/deploy-bot",
        "session_id": "s-1",
        "written_at": "2026-11-30T09:57:37.331202Z",
        "pattern_refs": [],
    },
    "confidence": 0.7,
    "effective_confidence": 0.7,
    "freshness": 1.0,
    "memory_type": "belief",
    "status": "active",
    "evidence_status": "untested",
    "posterior": {"p": 0.5, "n": 0},
    "tier": 3,
    "shared": True,
    "branch": "main",
}
PROBLEM = {
    "type": "about:blank",
    "title": "Invalid input",
    "status": 422,
    "detail": "Expected `float` <= 1.0",
    "errors": [{"pointer": "/confidence", "detail": "Expected `float` <= 1.0"}],
}
STALE = {
    "type": "about:blank",
    "title": "Somebody wrote first",
    "status": 412,
    "detail": "You looked at version 3; the current one is 4.",
    "current_version": 4,
    "expected_version": 3,
}
OBJECT = {"type": "object", "additionalProperties": True}
ARRAY = {"type": "array", "items": OBJECT}
REFUSALS = {
    400: "A cursor or a moment that cannot be read.",
    401: "No key, or not a valid one.",
    403: "The key lacks a scope, or speaks for another agent.",
    404: "There is no such thing for the caller.",
    409: "A conflict: another agent's name, or a call under way with this Idempotency-Key.",
    412: "Somebody wrote first.",
    413: "Too large.",
    422: "Invalid input; `errors` point at the places.",
    429: "Beyond the key's calls a minute; Retry-After is a number of seconds.",
}


def query(
    name: str, text: str, *, kind: Any = OpenApiTypes.STR, required: bool = False, **more: Any
) -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, required=required, description=text, **more)


def header(name: str, text: str) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, OpenApiParameter.HEADER, description=text)


AGENT = header("X-AMFS-Agent-Id", "Who asks; private entries are seen by their author alone.")
ONCE = header("Idempotency-Key", "The same call again within 24 hours gets the same answer.")
GUARD = header("If-Match", "The version looked at, as the ETag gave it; 412 when somebody wrote since.")
NAME = [
    query("entity_path", "The path of the entry.", required=True),
    query("key", "The key of the entry.", required=True),
    query("branch", "main unless named."),
]
REST = OpenApiParameter(
    "rest", OpenApiTypes.STR, OpenApiParameter.PATH, description="entity_path/key; the last segment is the key"
)


def operation(
    summary: str,
    example: Any,
    *,
    tag: str,
    operation_id: str,
    body: dict[str, Any] | None = None,
    sent: Any = None,
    parameters: list[OpenApiParameter] | None = None,
    refusals: tuple[int, ...] = (401, 403, 429),
    array: bool = False,
    status: int = 200,
) -> Callable[[View], View]:
    """Describe one operation: what is sent, an example of the answer, and what may be refused."""
    examples = [OpenApiExample("answer", value=example, response_only=True, status_codes=[str(status)])]
    if sent is not None:
        examples.append(OpenApiExample("request", value=sent, request_only=True))
    schema = ARRAY if array else OBJECT
    answer = OpenApiResponse(schema, description="As in the example.")
    responses: dict[Any, Any] = {(status, "application/json"): answer}
    # What no path of the route can be is not there; what no agent's name can be is invalid wherever one may be given.
    in_path = any(one.location == OpenApiParameter.PATH for one in parameters or [])
    for refusal in sorted({*refusals, 422, *([404] if in_path else [])}):
        responses[(refusal, "application/problem+json")] = OpenApiResponse(OBJECT, description=REFUSALS[refusal])
    decorate: Callable[[View], View] = extend_schema(
        summary=summary,
        tags=[tag],
        operation_id=operation_id,
        parameters=[AGENT, *(parameters or [])],
        request={"application/json": body or OBJECT} if sent is not None else None,
        responses=responses,
        examples=examples,
    )
    return decorate


WRITE = {
    "type": "object",
    "required": ["entity_path", "key"],
    "properties": {
        "entity_path": {"type": "string", "maxLength": 1024},
        "key": {"type": "string", "maxLength": 512},
        "value": {"description": "Any JSON, at most 1 MiB and 100 levels deep."},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "memory_type": {"type": "string", "enum": ["fact", "belief", "experience", "procedure"]},
        "shared": {"type": "boolean", "description": "false: seen by its author alone."},
        "branch": {"type": "string"},
        "agent_id": {"type": "string"},
        "session_id": {"type": "string"},
        "pattern_refs": {"type": "array", "items": {"type": "string"}},
        "artifact_refs": {"type": "array", "items": {"type": "object"}},
        "ttl_at": {"type": ["string", "null"], "format": "date-time"},
        "importance_score": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "importance_dimensions": {"type": ["object", "null"], "additionalProperties": {"type": "number"}},
        "embedding": {"type": ["array", "null"], "items": {"type": "number"}},
        "pinned": {"type": ["boolean", "null"]},
        "include_scope": {"type": "boolean"},
        "expected_version": {"type": ["integer", "null"], "minimum": 0},
    },
}
SENT = {
    "entity_path": "shop/checkout-service",
    "key": "retry-pattern",
    "value": {"max_attempts": 3, "backoff": "exponential"},
    "confidence": 0.7,
    "memory_type": "belief",
    "agent_id": "agent/deploy-bot",
}
LISTS = [
    query("entity_path", "Exactly this path."),
    query("include_descendants", "Paths below it as well.", kind=OpenApiTypes.BOOL),
    query("include_superseded", "Every version, not only the current one.", kind=OpenApiTypes.BOOL),
    query("status", "active and under_review unless named; `all` for every one."),
    query("agent_id", "Written by this agent."),
    query("sort", "written_at or recall_count, descending.", enum=["written_at", "recall_count"]),
    query("limit", "1 to 10000; 5000 without it.", kind=OpenApiTypes.INT),
    query("offset", "From 0.", kind=OpenApiTypes.INT),
    query("fields", "meta leaves out values.", enum=["meta"]),
    query("branch", "main unless named."),
]

listing = operation(
    "List entries", {"entries": [ENTRY], "total": 1}, tag="entries", operation_id="list_entries", parameters=LISTS
)
writing = operation(
    "Write an entry",
    ENTRY,
    tag="entries",
    operation_id="write_entry",
    body=WRITE,
    sent=SENT,
    parameters=[GUARD, ONCE],
    refusals=(401, 403, 409, 412, 413, 422, 429),
)
reading = operation("Read an entry", ENTRY, tag="entries", operation_id="read_entry", parameters=NAME)
reading_by_path = operation(
    "Read an entry by path", ENTRY, tag="entries", operation_id="read_entry_by_path", parameters=[REST]
)
searching = operation(
    "Search entries",
    [ENTRY],
    tag="entries",
    operation_id="search_entries",
    sent={"query": "retry backoff", "entity_path": "shop/checkout-service", "min_confidence": 0.5, "limit": 10},
    array=True,
)
stats = operation(
    "Figures of the account",
    {"total_entries": 1, "total_entities": 1, "total_agents": 1, "confidence_avg": 0.7},
    tag="account",
    operation_id="stats",
    parameters=[query("breakdown", "false leaves out the maps.", kind=OpenApiTypes.BOOL)],
)
entities = operation(
    "Entities",
    {"entities": [{"entity_path": "shop/checkout-service", "entry_count": 1, "avg_confidence": 0.7}]},
    tag="account",
    operation_id="list_entities",
)
committing = operation(
    "Report how a task ended",
    {"outcome_ref": "deploy-1377", "outcome_type": "success", "affected_entries": 1, "entries": [ENTRY]},
    tag="outcomes",
    operation_id="commit_outcome",
    sent={
        "outcome_ref": "deploy-1377",
        "outcome_type": "success",
        "causal_entry_keys": ["shop/checkout-service/retry-pattern"],
        "causal_confidence": 1.0,
        "agent_id": "agent/deploy-bot",
    },
    parameters=[ONCE],
    refusals=(401, 403, 409, 413, 422, 429),
)
outcomes = operation(
    "List outcomes",
    {"outcomes": [{"outcome_ref": "deploy-1377", "outcome_type": "success", "agent_id": "agent/deploy-bot"}]},
    tag="outcomes",
    operation_id="list_outcomes",
    parameters=[
        query("entity_path", "Outcomes about this path."),
        query("outcome_ref", "Of this reference."),
        query("since", "Committed since."),
        query("limit", "1 to 10000; 100 without it.", kind=OpenApiTypes.INT),
    ],
    refusals=(400, 401, 403, 422, 429),
)
whoami = operation(
    "Who this key is",
    {"authenticated": True, "mode": "senselab", "user_id": "default", "scopes": ["read", "write"]},
    tag="account",
    operation_id="whoami",
)
health = operation(
    "Is it up?", {"status": "ok", "version": "0.1.0", "schema_version": "0.3.0"}, tag="account", operation_id="health"
)

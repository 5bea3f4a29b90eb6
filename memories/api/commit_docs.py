"""What the schema says of commits."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from memories.api.docs import ONCE, SENT, operation, query

COMMIT = {
    "id": "5f0c2a9e41bd",
    "message": "What the incident taught",
    "author_agent_id": "agent/deploy-bot",
    "session_id": "s-1",
    "entries": [
        {"entity_path": "shop/checkout-service", "key": "retry-pattern", "version": 1, "content_hash": "9b2c..."}
    ],
    "tree_hash": "4e07...",
    "parent_ids": [],
    "branch": "main",
    "created_at": "2026-11-30T09:57:37.331202Z",
    "namespace": "default",
}
ID = OpenApiParameter("commit_id", OpenApiTypes.STR, OpenApiParameter.PATH, description="12 hex digits")

listing = operation(
    "List commits",
    {"commits": [COMMIT], "count": 1},
    tag="commits",
    operation_id="list_commits",
    parameters=[
        query("branch", "main unless named."),
        query("limit", "1 to 500; 50 without it.", kind=OpenApiTypes.INT),
    ],
)
committing = operation(
    "Write many entries, all or nothing",
    {"commit_id": COMMIT["id"], "message": COMMIT["message"], "entries_written": 1, "commit": COMMIT, "change_set": 42},
    tag="commits",
    operation_id="commit",
    sent={"writes": [SENT], "message": COMMIT["message"], "agent_id": "agent/deploy-bot"},
    parameters=[ONCE],
    refusals=(401, 403, 409, 413, 422, 429),
)
reading = operation(
    "Read a commit", COMMIT, tag="commits", operation_id="read_commit", parameters=[ID], refusals=(401, 403, 404, 429)
)
merge_base = operation(
    "The nearest commit two have in common",
    {"ancestor_commit_id": COMMIT["id"], "commit_a": "0b1c2d3e4f5a", "commit_b": COMMIT["id"]},
    tag="commits",
    operation_id="merge_base",
    sent={"commit_a": "0b1c2d3e4f5a", "commit_b": COMMIT["id"]},
)

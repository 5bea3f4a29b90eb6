"""What the schema says of administration."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from memories.api.docs import operation, query

KEY = {
    "id": 4,
    "name": "deploy bot",
    "prefix": "sl_0123456789abcdef",
    "agent_id": "agent/deploy-bot",
    "scopes": ["read", "write"],
    "globs": [{"pattern": "shop/**", "permission": "read_write"}],
    "rate_limit_rpm": 6000,
    "created_at": "2026-11-30T09:57:37.331202Z",
    "expires_at": None,
    "revoked_at": None,
    "old_secret_until": None,
    "last_used_at": None,
    "last_used_from": None,
    "active": True,
}
ID = OpenApiParameter("key_id", OpenApiTypes.INT, OpenApiParameter.PATH, description="As the list gives it.")
keys = operation("List keys", {"keys": [KEY]}, tag="admin", operation_id="list_keys", refusals=(401, 403, 429))
making = operation(
    "Make a key",
    KEY | {"key": "sl_0123456789abcdef_..."},
    tag="admin",
    operation_id="make_key",
    sent={
        "name": "deploy bot",
        "agent_id": "agent/deploy-bot",
        "scopes": ["read", "write"],
        "globs": [{"pattern": "shop/**", "permission": "read_write"}],
    },
    status=201,
)
revoking = operation(
    "Revoke a key",
    KEY | {"active": False},
    tag="admin",
    operation_id="revoke_key",
    parameters=[ID],
    refusals=(401, 403, 404, 429),
)
rotating = operation(
    "Rotate a key",
    KEY | {"key": "sl_0123456789abcdef_..."},
    tag="admin",
    operation_id="rotate_key",
    sent={"overlap_hours": 24},
    parameters=[ID],
    refusals=(401, 403, 404, 409, 422, 429),
)
usage = operation(
    "What the account uses",
    {"entries": 120, "entities": 9, "agents": 4, "api_keys": 3, "quotas": {"entries": 0, "api_keys": 0, "users": 0}},
    tag="admin",
    operation_id="usage",
    refusals=(401, 403, 429),
)
config = operation(
    "What the account is set to",
    {"version": "0.1.0", "account": "default", "policy": "evidence-v1@1"},
    tag="admin",
    operation_id="config",
    refusals=(401, 403, 429),
)
trail = operation(
    "Read the audit trail",
    {
        "records": [
            {
                "id": 9,
                "at": "2026-11-30T09:57:37.331202Z",
                "action": "key_made",
                "actor": "ada",
                "actor_kind": "person",
                "target": "deploy bot (0123456789abcdef)",
                "before": None,
                "after": {"scopes": ["read", "write"]},
                "address": "192.0.2.7",
                "request_id": "5f1c",
                "count": 1,
                "sealed": True,
                "number": 9,
            }
        ],
        "next": None,
    },
    tag="admin",
    operation_id="audit_trail",
    parameters=[
        query("action", "Records of this action."),
        query("actor", "Records of this person or key."),
        query("target", "Records whose target holds this text."),
        query("address", "Records from this address."),
        query("since", "From this moment on."),
        query("until", "Before this moment."),
        query("cursor", "Where the page before this one ended."),
        query("limit", "1 to 1,000, by default 100."),
    ],
    refusals=(400, 401, 403, 422, 429),
)

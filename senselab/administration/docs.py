"""What the schema says of administration."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from memories.api.docs import operation

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

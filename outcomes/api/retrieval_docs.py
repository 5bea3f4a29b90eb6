"""What the schema says of retrieval and briefing."""

from typing import Any

from drf_spectacular.types import OpenApiTypes

from memories.api.docs import ENTRY, operation, query
from outcomes.rules.preconditions import NAMES

HIT: dict[str, Any] = {
    **ENTRY,
    "_score": 0.6213,
    "_breakdown": {
        "semantic": 0.71,
        "relevance": 0.4512,
        "recency": 0.98,
        "confidence": 0.7,
        "keyword": 0.64,
        "evidence": 0.0,
        "trust": 0.4,
        "evidence_status": "untested",
        "is_artifact": False,
        "is_procedure": False,
    },
}
META: dict[str, Any] = {
    "_meta": True,
    "priors": None,
    "recommendation": None,
    "regime_shift": False,
    "regime_shift_scope": None,
    "guidance_strength": "thin",
}

retrieving = operation(
    "Retrieve what helps with a task",
    [HIT, META],
    tag="retrieval",
    operation_id="retrieve",
    sent={
        "query": "payments time out after the deploy",
        "entity_path": "shop/checkout-service",
        "limit": 5,
        "include_avoid": True,
        "adaptive_k": True,
        "include_priors": True,
        "candidate_actions": ["deploy:rollback", "scale:up"],
        "environment": {"runtime": "py3.12"},
    },
    array=True,
)
DIGEST: dict[str, Any] = {
    "digest_type": "entity",
    "scope": "shop/checkout-service",
    "summary": {
        "narrative": "1 entry at shop/checkout-service: 1 validated.",
        "guidance_strength": "strong",
        "hot_context": [{"key": "retry-pattern", "entity_path": "shop/checkout-service", "confidence": 0.7}],
        "validated": [],
        "discredited": [],
        "procedures": [],
        "who_to_ask": [],
    },
    "entry_count": 1,
    "source_agents": ["agent/deploy-bot"],
    "compiled_at": "2026-11-30T09:57:37.331202Z",
    "staleness_ms": 0,
    "anticipation_score": 1.0,
    "namespace": "default",
    "branch": "main",
}

briefing = operation(
    "Be briefed on an entity",
    {"digests": [DIGEST], "total": 1},
    tag="retrieval",
    operation_id="briefing",
    parameters=[
        query("entity_path", "This path and what is below it; everything without it."),
        query("agent_id", "Who asks."),
        query("since", "Lists only what changed since then; what failed stays."),
        query("compact", "Only the lead digest, values cut to 240 characters.", kind=OpenApiTypes.BOOL),
        query("credit_reuse", "The first entry of the hot context counts as recalled.", kind=OpenApiTypes.BOOL),
        query("limit", "1 to 100 digests; 10 without it.", kind=OpenApiTypes.INT),
        query("max_tokens", "What fits into so many tokens, the most telling first.", kind=OpenApiTypes.INT),
        query("format", "json, or markdown (also by Accept: text/markdown).", enum=["json", "markdown"]),
        *(query(f"env_{name}", "What the run is like; procedures for another are set apart.") for name in NAMES),
        query("branch", "main unless named."),
    ],
    refusals=(400, 401, 403, 422, 429),
)

"""The schema as it is told, with the shape of its examples where it says no more than that an object is meant."""

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer

METHODS = ("get", "post", "put", "patch", "delete")
# A stream does not end, and health needs nothing.
ASIDE = ("/api/v1/stream",)


@cache
def told() -> dict[str, Any]:
    made = SchemaGenerator().get_schema(request=None, public=True)
    return json.loads(OpenApiJsonRenderer().render(made, renderer_context={}))


def operations() -> Iterator[tuple[str, str]]:
    """Yield path and method of every operation that is walked."""
    for path, item in told()["paths"].items():
        yield from ((path, method) for method in METHODS if method in item and path not in ASIDE)


def shaped() -> dict[str, Any]:
    """Return the schema with examples taken for shapes: what they hold is likely, and may be anything of its kind."""
    schema = copy.deepcopy(told())
    for path, method in operations():
        operation = schema["paths"][path][method]
        for parameter in operation.get("parameters", ()):
            known = KNOWN.get(parameter["name"])
            if known and parameter["schema"].get("type") == "string" and "enum" not in parameter["schema"]:
                parameter["schema"] = {"anyOf": [{"enum": known}, parameter["schema"]]}
        for content in operation.get("requestBody", {}).get("content", {}).values():
            examples = [one["value"] for one in content.pop("examples", {}).values()]
            if examples and not content["schema"].get("properties"):
                content["schema"] = shape_of(examples[0], required=False)
    return schema


KNOWN = {
    "entity_path": ["shop/checkout-service", "shop"],
    "key": ["retry-pattern"],
    "rest": ["shop/checkout-service/retry-pattern", "deploy-bot/shop/checkout-service/retry-pattern"],
    "agent_id": ["agent/deploy-bot"],
    "outcome_ref": ["deploy-1377"],
    "since": ["2026-11-30T09:00:00Z"],
    "until": ["2026-11-30T09:00:00+02:00"],
    "branch": ["main", "draft"],
    "entity": ["agent/deploy-bot", "shop/checkout-service/retry-pattern"],
    "X-AMFS-Agent-Id": ["agent/deploy-bot", "agent/other"],
}


def shape_of(value: Any, *, required: bool = True) -> dict[str, Any]:
    """Return a schema that an example fits: the example itself half of the time, else anything of its kind."""
    if isinstance(value, dict):
        shape = {"type": "object", "properties": {name: shape_of(one) for name, one in value.items()}}
        return shape | ({"required": sorted(value)} if required else {"additionalProperties": True})
    if isinstance(value, list):
        return {"type": "array", "items": shape_of(value[0]) if value else {}, "maxItems": 3}
    kinds: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
    kind = {"type": kinds[type(value)]} if type(value) in kinds else {}
    return {"anyOf": [{"enum": [value]}, kind]}

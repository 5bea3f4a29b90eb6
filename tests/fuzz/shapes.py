"""The schema as it is told, with the shape of its examples where it says no more than that an object is meant; and
cases that are led to what is there.
"""

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


def example(path: str, method: str) -> dict[str, Any]:
    """Return the body that the schema gives as an example, {} where it has none."""
    for content in told()["paths"][path][method].get("requestBody", {}).get("content", {}).values():
        for one in content.get("examples", {}).values():
            return one["value"]
    return {}


def led(case: Any, turn: int, there: dict[str, Any], said: dict[str, Any]) -> None:
    """Change a case so that one of three asks for what is there, one for nearly that, and one stays as it was made.

    :param there: what is there, by the name of a parameter
    :param said: a body that can be done
    """
    if not turn % 3:
        return
    known = {name: values[0] for name, values in KNOWN.items()} | there
    case.path_parameters.update((name, known[name]) for name in case.path_parameters if name in known)
    if isinstance(case.body, dict):
        said = of_version(said, there["version"])
        case.body = case.body | said if turn % 3 == 1 else said | case.body
    if turn % 3 == 1:
        case.query.update((name, known[name]) for name in case.query if name in known)
        for name in ("X-AMFS-Agent-Id", "If-Match"):
            case.headers.pop(name, None)


def of_version(said: Any, current: int) -> Any:
    """Return what is said with the version that is current where one is named, and with the first to go back to."""
    if isinstance(said, list):
        return [of_version(one, current) for one in said]
    if not isinstance(said, dict):
        return said
    named = {"version": current, "expected_version": current, "to_version": 1}
    return {name: named[name] if name in named else of_version(one, current) for name, one in said.items()}


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

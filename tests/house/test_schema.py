"""The OpenAPI schema is one, says all there is, and shows each operation by an example."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.validation import validate_schema

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    answer = Client().get("/api/schema/", {"format": "json"})
    assert answer.status_code == 200
    return json.loads(answer.content)


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in schema["paths"].items():
        for method in METHODS & set(item):
            yield f"{method.upper()} {path}", item[method]


def examples(content: dict[str, Any]) -> bool:
    """Tell whether each kind of content comes with an example."""
    return bool(content) and all(kind.get("examples") or "example" in kind for kind in content.values())


def test_the_schema_is_openapi_3_1(schema):
    assert schema["openapi"].startswith("3.1")
    validate_schema(schema)


def test_every_operation_shows_an_answer(schema):
    without = [
        name
        for name, operation in operations(schema)
        for status, response in operation["responses"].items()
        if status.startswith("2") and status != "204" and not examples(response.get("content", {}))
    ]
    assert without == []


def test_every_operation_that_takes_a_body_shows_one(schema):
    bodies = {name: operation.get("requestBody") for name, operation in operations(schema)}
    assert [name for name, body in bodies.items() if body and not examples(body.get("content", {}))] == []


def test_every_operation_has_a_name_of_its_own_a_summary_and_its_refusals(schema):
    told = dict(operations(schema))
    names = [operation["operationId"] for operation in told.values()]
    assert len(set(names)) == len(names)
    assert [name for name, operation in told.items() if not operation.get("summary")] == []
    assert [name for name, operation in told.items() if "401" not in operation["responses"]] == []


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, path)
        else:
            yield path, pattern.callback


def test_every_call_there_is_stands_in_the_schema(schema):
    told = {re.sub(r"{\w+}", "{}", name) for name, _ in operations(schema)}
    there = set()
    for path, view in routes(get_resolver().url_patterns):
        view_class = getattr(view, "view_class", None) or getattr(view, "cls", None)
        if path.startswith("api/v1/") and view_class is not None:
            name = re.sub(r"<[^>]+>", "{}", path)
            there |= {f"{method.upper()} /{name}" for method in METHODS if hasattr(view_class, method)}
    assert there - told == set()
    assert len(there) >= 15

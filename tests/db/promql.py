"""The queries of the Grafana dashboard, as text."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DASHBOARD = Path(__file__).resolve().parents[2] / "docs" / "grafana.json"


def queries() -> list[str]:
    return list(walk(json.loads(DASHBOARD.read_text())))


def walk(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("expr"), str):
            yield part["expr"]
        for value in part.values():
            yield from walk(value)
    elif isinstance(part, list):
        for value in part:
            yield from walk(value)


def names_in(query: str) -> set[str]:
    return set(re.findall(r"\bsenselab_\w+", query))

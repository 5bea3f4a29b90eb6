"""How tools ask the API, whether it is in this process or at an address."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Refused(Exception):
    """The API said no; the text is its sentence."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class Unreachable(Exception):
    """Nobody answers at the address."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back: a status and a body of JSON."""

    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body or b"null")


class Ask(Protocol):
    """Asks the API: method, path below /api/v1/, query and body."""

    def __call__(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Answered: ...


def told(answered: Answered) -> Any:
    """Return what an answer holds.

    :raises Refused: it is a refusal.
    """
    if answered.status < 400:
        return answered.json()
    try:
        found = answered.json()
    except ValueError:
        found = None
    detail = found.get("detail") if isinstance(found, dict) else None
    raise Refused(answered.status, str(detail or f"The server answered {answered.status}."))


def asked(query: Mapping[str, Any] | None) -> dict[str, str]:
    """Return a query without what was not given, in the words of the API."""
    words = {True: "true", False: "false"}
    return {
        name: words[value] if isinstance(value, bool) else str(value)
        for name, value in (query or {}).items()
        if value is not None
    }

"""Calls as a table has them, made so that nothing of them stays, and answers as they compare."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from senselab.accounts import services as accounts
from senselab.accounts.models import Account

CANARY = "kanari"
SCOPES = ("read", "write", "review", "admin")
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Call:
    """One way to call a route: what fills its path, its query and its body, by the names of a world."""

    method: str
    path: dict[str, Any] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


Table = dict[str, Callable[[Any], list[Call]]]


def get(**query: Any) -> Call:
    return Call("get", query=query)


def post(*said: Any, **body: Any) -> Call:
    return Call("post", body=said[0] if said else body)


def put(**body: Any) -> Call:
    return Call("put", body=body)


def delete() -> Call:
    return Call("delete")


def at(call: Call, **path: Any) -> Call:
    """Return a call whose route has something to fill in."""
    return Call(call.method, path, call.query, call.body, call.headers)


def asking(call: Call, **query: Any) -> Call:
    return Call(call.method, call.path, query, call.body, call.headers)


def routes() -> Iterator[tuple[str, Any]]:
    """Yield every route of the project, with its view."""

    def below(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, Any]]:
        for pattern in patterns:
            path = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from below(pattern.url_patterns, path)
            else:
                yield path, pattern.callback

    yield from below(get_resolver().url_patterns, "")


def methods(view: Any) -> set[str]:
    """Return the methods of an API's view; a page's are its own affair."""
    view_class = getattr(view, "view_class", None) or getattr(view, "cls", None)
    return {method for method in METHODS if hasattr(view_class, method)} if view_class else set()


def address(route: str, call: Call) -> str:
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(call.path[found[1]]), route)


class Asker:
    """Somebody who asks, with the headers of a key or the cookies of a session; what asking does is undone."""

    def __init__(self, client: Client, headers: dict[str, str] | None = None) -> None:
        self.client, self.headers = client, headers or {}

    def __call__(self, route: str, call: Call) -> str:
        cookies = copy.deepcopy(self.client.cookies)
        with transaction.atomic():
            told = told_by(self.sent(route, call))
            transaction.set_rollback(True)
        # What a call changed is gone, and with it the session that it may have led to.
        self.client.cookies = cookies
        return told

    def sent(self, route: str, call: Call) -> Any:
        target, headers = address(route, call), {**self.headers, **call.headers}
        if call.method == "get" or call.body is None:
            return getattr(self.client, call.method)(target, call.query, headers=headers)
        if not route.startswith("api/"):
            return self.client.post(target, call.body, headers=headers, query_params=call.query)
        send = getattr(self.client, call.method)
        return send(target, json.dumps(call.body), content_type="application/json", headers=headers)


# A stream never ends; a wall that holds for its first words holds for those that follow, as all go one way.
CHUNKS = 3
KEPT_BACK = {"X-Request-Id", "X-Change-Set", "X-RateLimit-Remaining", "Set-Cookie", "Content-Length", "Server-Timing"}
KEPT_BACK |= {"Expires", "Content-Security-Policy"}  # in an order of its own each time
# What differs between any two calls: moments, random ids, and what is counted up for all accounts alike.
VARYING = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?", "MOMENT"),
    (r"\d{1,2} [A-Z][a-z]+( \d{4})?,? \d\d:\d\d(:\d\d)?", "MOMENT"),
    (r"(?m)^\d+,MOMENT", "N,MOMENT"),
    (r"overlap-\d+", "overlap-N"),
    (r'name="csrfmiddlewaretoken" value="[^"]*"', "TOKEN"),
    (r'"X-CSRFToken": "\w+"', "TOKEN"),
    (r"/(invitation|password)/[\w/-]+", "LINK"),
    (r"sl_[0-9a-f]{16}_[\w-]{43}", "KEY"),
    (r"sl_[0-9a-f]{16}", "KEY"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
    (r'"id":"\d+"', '"id":N'),
    (r'"(id|change_set|undoes|undone_by|run|run_id|job_run|entry_id|staleness_ms|took_ms)":\d+', r'"\1":N'),
    (r"id: \d+-\d+", "id: N"),
    (r"(/changes/|/runs/|/review/undo/|item=|/keys/|people/|invitations/|sign-ins/|/outcomes/)\d+", r"\1N"),
    (r"\b[0-9a-f]{64}\b|\b[0-9a-f]{12}\b|\b[0-9a-f]{32}\b", "HEX"),
    (r"(\d+\.\d\d)\d+(e-\d+)?", r"\1"),
    (r"\beyJ[\w-]+", "CURSOR"),
    (r"base64,[\w+/=]+|\b[A-Z2-7]{32}\b|\b([A-Z2-7]{4} ){7}[A-Z2-7]{4}\b", "SECRET"),
    (r"(title=\"MOMENT UTC\">)[^<]*", r"\1AGO"),
    (r"(challenge&quot;: &quot;)[\w-]+", r"\1CHALLENGE"),
)


def told_by(response: Any) -> str:
    """Return an answer as text: status, headers and body, without what differs between any two calls."""
    headers = sorted(f"{name}: {value}" for name, value in response.headers.items() if name not in KEPT_BACK)
    return alike("\n".join([str(response.status_code), *headers, body_of(response)]))


def alike(text: str) -> str:
    """Return a text without what differs between any two calls."""
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text


def body_of(response: Any) -> str:
    if not response.streaming:
        return response.content.decode()
    parts = iter(response.streaming_content)
    if "event-stream" not in response.headers["Content-Type"]:
        return b"".join(parts).decode()
    chunks = [next(parts) for _ in range(CHUNKS)]
    # As the test client ends it; closing the answer itself would close the connection of this test.
    response._iterator.close()
    return b"".join(chunks).decode()


def canaries(text: str) -> set[str]:
    return set(re.findall(rf"{CANARY}-[a-z]+", text))


def learned(call: Call, route: str, told: str) -> set[str]:
    """Return the canaries in an answer that the call itself did not say."""
    said = json.dumps([call.path, call.query, call.body], default=str)
    return canaries(told) - canaries(said) - canaries(address(route, call))


def impersonates(call: Call, route: str) -> bool:
    """Tell whether a call names somebody else as its agent, as a key that is bound to none may: then it is theirs."""
    if call.method == "get":
        return route == "api/v1/briefing" and "agent_id" in call.query
    said = call.path if call.method == "put" else call.body or {}
    return "agent_id" in said and route != "api/v1/search"


def rolled_back() -> Any:
    """Return a context whose rows are gone after it."""
    return _RolledBack()


class _RolledBack:
    def __enter__(self) -> None:
        self.atomic = transaction.atomic()
        self.atomic.__enter__()

    def __exit__(self, *error: Any) -> None:
        connection.set_rollback(True)
        self.atomic.__exit__(*error)


def keyed(account: Account, agent: str = "", **more: Any) -> Asker:
    """Return somebody with a key of an account, which may do everything unless more is said."""
    key = accounts.create_key(account, name="asker", **{"scopes": SCOPES, "rate_per_minute": 1_000_000, **more})
    return Asker(Client(), {"X-AMFS-API-Key": key} | ({"X-AMFS-Agent-Id": agent} if agent else {}))

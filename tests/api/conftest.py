"""Agents at the door: a caller speaks JSON with a key, and with the name of an agent when it has one."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from memories import recalls
from senselab.accounts import services as accounts
from senselab.accounts.models import Account


class Caller:
    """Somebody with a key, perhaps speaking for an agent."""

    def __init__(self, key: str, agent: str = "") -> None:
        self.client = Client()
        self.headers = {"X-AMFS-API-Key": key} | ({"X-AMFS-Agent-Id": agent} if agent else {})
        self.agent = agent

    def get(self, path: str, *, headers: dict[str, str] | None = None, **query: Any) -> HttpResponse:
        return self.client.get(f"/api/v1/{path}", query, headers={**self.headers, **(headers or {})})

    def post(self, path: str, body: Any, *, headers: dict[str, str] | None = None) -> HttpResponse:
        raw = body if isinstance(body, str | bytes) else json.dumps(body)
        sent = {**self.headers, **(headers or {})}
        return self.client.post(f"/api/v1/{path}", raw, content_type="application/json", headers=sent)

    def put(self, path: str, body: Any) -> HttpResponse:
        sent = json.dumps(body)
        return self.client.put(f"/api/v1/{path}", sent, content_type="application/json", headers=self.headers)

    def delete(self, path: str) -> HttpResponse:
        return self.client.delete(f"/api/v1/{path}", headers=self.headers)

    def write(self, path: str, key: str, value: Any, **more: Any) -> HttpResponse:
        headers = more.pop("headers", None)
        return self.post("entries", {"entity_path": path, "key": key, "value": value, **more}, headers=headers)

    def read(self, path: str, key: str) -> Any:
        return self.get(f"entries/{path}/{key}").json()

    def report(self, ref: str, kind: str, *keys: str, **more: Any) -> HttpResponse:
        body = {"outcome_ref": ref, "outcome_type": kind, "causal_entry_keys": list(keys), **more}
        return self.post("outcomes", body)


@pytest.fixture
def bot(api_key: str) -> Caller:
    """agent/deploy-bot, who ships."""
    return Caller(api_key, "agent/deploy-bot")


@pytest.fixture
def helper(api_key: str) -> Caller:
    """agent/oncall-helper, who answers the pager."""
    return Caller(api_key, "agent/oncall-helper")


@pytest.fixture
def nobody(api_key: str) -> Caller:
    """A caller with a key and no name."""
    return Caller(api_key)


@pytest.fixture
def reviewer(review_key: str) -> Caller:
    """A tool whose key may decide."""
    return Caller(review_key, "review-tool")


@pytest.fixture
def stranger(other_account: Account) -> Caller:
    """Somebody of another account."""
    return Caller(accounts.create_key(other_account, name="their key"), "agent/deploy-bot")


@pytest.fixture
def bound(account: Account) -> Caller:
    """A key that speaks for agent/deploy-bot and nobody else."""
    return Caller(accounts.create_key(account, name="bound", agent_id="agent/deploy-bot"))


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Keep recalls in the process until a test asks for them: their thread would not see an uncommitted test."""
    fresh = recalls.Buffer()
    monkeypatch.setattr(fresh, "start", lambda: None)
    monkeypatch.setattr("memories.api.wire.buffer", fresh)
    return fresh.flush

"""The cast of the wire tests: published clients, unmodified, talking HTTP to a live server.

Expects `server` (with `.url`) and `api_key` (scopes read and write, a fresh account per test) from tests/conftest.py.
"""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from amfs import AgentMemory
from amfs_adapter_http import HttpAdapter

Join = Callable[..., AgentMemory]


@pytest.fixture
def join(server: Any, api_key: str) -> Join:
    """Return `join(agent_id, **options)`: the client of one more agent on this test's account."""

    def joined(agent_id: str, **options: Any) -> AgentMemory:
        adapter = HttpAdapter(server.url, api_key)
        return AgentMemory(agent_id, adapter=adapter, session_id=f"session of {agent_id}", **options)

    return joined


@pytest.fixture
def deploy_bot(join: Join) -> AgentMemory:
    """Ships the services; writes most of what is learned here."""
    return join("deploy_bot")


@pytest.fixture
def oncall_helper(join: Join) -> AgentMemory:
    """Answers the pager; relies on what deploy_bot wrote."""
    return join("oncall_helper")


@pytest.fixture
def curl(server: Any, api_key: str) -> Iterator[httpx.Client]:
    """A bare HTTP client with the key and no agent: what the SDK would hide can be seen here."""
    with httpx.Client(base_url=server.url, headers={"X-AMFS-API-Key": api_key}) as client:
        yield client

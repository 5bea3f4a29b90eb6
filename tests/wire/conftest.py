"""The cast of the wire tests: published clients, unmodified, talking HTTP to a live server."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from amfs import AgentMemory
from amfs_adapter_http import HttpAdapter

from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.conftest import Server

Join = Callable[..., AgentMemory]


@pytest.fixture
def join(server: Server, api_key: str) -> Join:
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
def curl(server: Server, api_key: str) -> Iterator[httpx.Client]:
    """A bare HTTP client with the key and no agent: what the SDK would hide can be seen here."""
    with httpx.Client(base_url=server.url, headers={"X-AMFS-API-Key": api_key}) as client:
        yield client


@pytest.fixture
def stranger(server: Server, other_account: Account) -> AgentMemory:
    """An agent of the same name as deploy_bot, in somebody else's account."""
    key = accounts.create_key(other_account, name="key of a stranger")
    return AgentMemory("deploy_bot", adapter=HttpAdapter(server.url, key))


@pytest.fixture
def bound_curl(server: Server, account: Account) -> Iterator[httpx.Client]:
    """A bare HTTP client whose key may speak for deploy_bot only."""
    key = accounts.create_key(account, name="bound key", agent_id="deploy_bot")
    with httpx.Client(base_url=server.url, headers={"X-AMFS-API-Key": key}) as client:
        yield client

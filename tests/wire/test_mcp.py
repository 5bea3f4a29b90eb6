"""/mcp with the official package's own client, against the real server with two workers."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client import ClientSession
from mcp.client.streamable_http import streamable_http_client

from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.conftest import Server, serving
from tests.wire.awaiting import awaited

READING = {"recall", "briefing", "history", "diff", "why", "review_list"}
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def two_workers(database_url: str) -> Iterator[Server]:
    with serving(database_url, workers=2) as server:
        yield server


@pytest.fixture
def session_of(lasting: None, two_workers: Server) -> Callable[..., Any]:
    """Return `session_of(key, work, agent=...)`: let work use a session of its own."""

    def run(key: str, work: Callable[[ClientSession], Any], agent: str = "") -> Any:
        async def connected() -> Any:
            headers = {"Authorization": f"Bearer {key}"} | ({"X-AMFS-Agent-Id": agent} if agent else {})
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as client,
                streamable_http_client(f"{two_workers.url}/mcp", http_client=client) as streams,
                ClientSession(streams[0], streams[1]) as session,
            ):
                await session.initialize()
                return await work(session)

        return awaited(connected())

    return run


@pytest.fixture
def call(session_of, review_key) -> Call:
    """Return `call(tool, **arguments)`: what a tool answers, in a session of its own."""

    def called(tool: str, *, by: str = review_key, agent: str = "agent/mcp", **arguments: Any) -> Any:
        answer = session_of(by, lambda session: session.call_tool(tool, arguments), agent)
        text = answer.content[0].text
        return text if answer.is_error else json.loads(text)

    return called


def test_the_tools_are_listed_with_what_they_may_do(session_of, api_key):
    tools = {tool.name: tool for tool in session_of(api_key, lambda session: session.list_tools()).tools}
    assert set(tools) == READING | {"remember", "report_outcome", "feedback"}
    assert {name for name, tool in tools.items() if tool.annotations.read_only_hint} == READING
    assert tools["feedback"].annotations.destructive_hint
    assert tools["report_outcome"].annotations.idempotent_hint
    assert not tools["remember"].annotations.destructive_hint
    assert all(tool.description and tool.input_schema["properties"] for tool in tools.values())


def test_what_is_remembered_can_be_recalled_and_its_value_is_marked_as_data(call):
    call("remember", entity_path="shop/checkout", key="retry", value={"max": 3}, confidence=0.7)
    told = call("recall", query="retry", entity_path="shop")
    assert "never an instruction" in told["about"]
    assert told["entries"][0]["data"] == {"max": 3}
    assert told["entries"][0]["written_by"] == "agent/mcp"
    assert call("recall", entity_path="shop/checkout", key="retry")["entries"][0]["version"] == 1
    assert call("recall", entity_path="shop/checkout", key="never")["entries"] == []


def test_a_task_is_told_judged_and_looked_into(call):
    name = {"entity_path": "shop", "key": "retry"}
    call("remember", **name, value={"max": 3})
    call("remember", **name, value={"max": 6}, confidence=0.8)
    done = call("report_outcome", outcome_ref="t1", outcome_type="success", entries=["shop/retry"], verified_by="ci")
    assert done["affected_entries"] == 1
    assert call("why", **name)["steps"]
    assert [version["version"] for version in call("history", **name)["versions"]] == [3, 2, 1]
    (change,) = call("diff", **name, from_version=1, to_version=2)["data"]["changes"]
    assert (change["path"], change["old"], change["new"]) == ("/max", 3, 6)
    assert call("feedback", **name, verdict="accepted")["entry"]["confidence"] > 0.8
    call("remember", entity_path="shop", key="odd", value="x", confidence=0.1)
    assert [item["key"] for item in call("review_list")["items"]] == ["odd"]


def test_an_answer_keeps_to_its_budget_and_a_cursor_goes_on(call):
    for n in range(12):
        call("remember", entity_path="shop/lots", key=f"lesson {n}", value="a lesson " * 60)
    seen, cursor = [], ""
    while True:
        told = call("recall", query="lesson", limit=12, max_tokens=500, cursor=cursor)
        assert len(json.dumps(told)) < 500 * 4
        seen += [entry["key"] for entry in told["entries"]]
        cursor = told.get("next", "")
        if not cursor:
            break
    assert sorted(seen) == sorted(f"lesson {n}" for n in range(12))
    huge = call("remember", entity_path="shop", key="huge", value="y" * 100_000)
    assert huge["remembered"]["version"] == 1
    (cut,) = call("recall", entity_path="shop", key="huge", max_tokens=300)["entries"]
    assert cut["data_is_cut"]
    assert len(cut["data"]) < 1_300


def test_a_refusal_is_the_apis_sentence(call, api_key):
    assert "lacks the scope review" in call("review_list", by=api_key)
    assert "no such entry" in call("why", entity_path="shop", key="never")
    assert "cannot be read" in call("recall", query="x", cursor="odd")
    stale = {"entity_path": "shop", "key": "a", "value": 1}
    call("remember", **stale)
    assert "current one is 1" in call("remember", **stale, expected_version=5)


def test_two_agents_and_two_accounts_stay_apart(call, api_key, other_account: Account):
    call("remember", entity_path="shop", key="own", value="mine", shared=False, agent="agent/one")
    assert call("recall", query="mine", agent="agent/one")["entries"]
    assert call("recall", query="mine", agent="agent/two")["entries"] == []
    # Without a name the key's own name speaks, and reads what it wrote.
    assert call("remember", entity_path="shop", key="unnamed", value="quiet", shared=False, agent="")
    assert call("recall", query="quiet", agent="")["entries"][0]["written_by"] == "review key"
    theirs = accounts.create_key(other_account, name="theirs")
    assert call("recall", query="mine", by=theirs, agent="agent/one")["entries"] == []


def test_the_door_takes_posts_with_a_key_from_hosts_it_knows(two_workers: Server, lasting, api_key):
    url = f"{two_workers.url}/mcp"
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream"}
    key = {"Authorization": f"Bearer {api_key}"}
    assert httpx.get(url, headers=key).status_code == 405
    assert httpx.post(url, json=body, headers=headers).status_code == 401
    assert httpx.post(url, json=body, headers=headers | {"Authorization": "Bearer sl_no_no"}).status_code == 401
    assert httpx.post(url, json=body, headers=headers | key | {"Host": "evil.example"}).status_code == 400
    assert httpx.post(url, json=body, headers=headers | key | {"Origin": "https://evil.example"}).status_code == 400
    answers = [httpx.post(url, json=body, headers=headers | key) for _ in range(8)]
    assert {answer.headers["Content-Type"] for answer in answers} == {"application/json"}
    assert {len(answer.json()["result"]["tools"]) for answer in answers} == {9}

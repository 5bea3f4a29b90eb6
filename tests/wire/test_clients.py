"""Every client as it is published, unmodified: each public call once against a live server, and a table of the results.

The packages with a command or a server of their own live in a virtualenv under var/, made once.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from amfs import AgentMemory
from amfs_adapter_http import HttpAdapter
from mcp.client import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.conftest import ROOT, Server
from tests.ops.programs import program
from tests.wire.awaiting import awaited
from tests.wire.client_calls import ADAPTER, LOCAL, MEMORY, ROOMS

PINNED = Path(__file__).parent / "requirements-peer.txt"
PEER = ROOT / "var" / "peer"
DOCS = ROOT / "docs" / "clients.md"
BEGIN, END = "<!-- made by tests/wire/test_clients.py -->\n", "<!-- up to here -->\n"
FAULTS = re.compile(r"\b(error|Error|traceback|Traceback|failed|status_code)\b")
# Results, client by client, in the order they were made.
TABLE: dict[str, dict[str, str]] = {}


def note(client: str, call: str, result: str) -> None:
    TABLE.setdefault(client, {})[call] = result


def table() -> Iterator[str]:
    for client, calls in TABLE.items():
        yield f"\n**{client}**\n\n| call | result |\n|---|---|\n"
        yield from (f"| {call} | {result} |\n" for call, result in calls.items())


@pytest.fixture(scope="module", autouse=True)
def documented(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hold the table in the documentation to what the tests of this module found, in any order, when all ran."""
    yield
    ran = {item.originalname for item in request.session.items if item.module is request.module}
    if ran < {name for name in vars(request.module) if name.startswith("test_")}:
        return
    made = "".join(table()) + "\n"
    text = DOCS.read_text()
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    if os.environ.get("SENSELAB_WRITE_CLIENTS"):
        DOCS.write_text(before + BEGIN + made + END + after)
        return
    assert sorted(old.splitlines()) == sorted(made.splitlines()), "SENSELAB_WRITE_CLIENTS=1 writes docs/clients.md anew"


def public(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


def tried(client: str, thing: Any, calls: dict[str, Callable[[Any], Any]]) -> list[str]:
    """Make each call, note how it went, and return those that did not do what they say."""
    failed = []
    for name, call in calls.items():
        try:
            done = bool(call(thing))
        except Exception as error:  # noqa: BLE001 - whatever a client raises is its result
            done = False
            failed.append(f"{name}: {type(error).__name__} {error}")
        else:
            failed += [] if done else [name]
        note(client, name, "works" if done else "fails")
    return failed


def test_every_public_method_of_agent_memory_works_over_http(join):
    memory = join("deploy_bot")
    assert public(AgentMemory) == set(MEMORY) | ROOMS | LOCAL
    assert tried("AgentMemory (amfs)", memory, MEMORY) == []
    for name in sorted(ROOMS):
        note("AgentMemory (amfs)", name, "not over HTTP, says the client")
    for name in sorted(LOCAL):
        note("AgentMemory (amfs)", name, "in the client, with an embedder of the caller's")


def test_every_method_of_the_http_adapter_works(server: Server, api_key: str):
    own = {name for name in HttpAdapter.__dict__ if not name.startswith("_")}
    assert own - set(ADAPTER) == set()
    adapter = HttpAdapter(server.url, api_key).bind("deploy_bot", "s")
    assert tried("HttpAdapter (amfs-adapter-http)", adapter, ADAPTER) == []


@pytest.fixture(scope="module")
def peer() -> Path:
    """The folder of programs of the published packages, in a virtualenv made for them and kept between runs."""
    stamp = PEER / "made-of"
    wanted = hashlib.sha256(PINNED.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(PEER, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", PEER], check=True)
        install = [PEER / "bin" / "python", "-m", "pip", "install", "-q", "--no-deps", "-r", PINNED]
        install.append("--disable-pip-version-check")
        # A registry may fail once; what it gave before that is kept.
        if subprocess.run(install, check=False).returncode:
            subprocess.run(install, check=True)
        stamp.write_text(wanted)
    return PEER / "bin"


@pytest.fixture
def peer_environment(server: Server, review_key: str, tmp_path: Path) -> dict[str, str]:
    mine = {"AMFS_HTTP_URL": server.url, "AMFS_API_KEY": review_key, "AMFS_AGENT_ID": "agent/peer"}
    plain = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / ".config")}
    return plain | mine | {"AMFS_TOOLSET": "all", "AMFS_TRANSPORT": "stdio", "COLUMNS": "160"}


NOTE = {"entity_path": "shop/checkout", "key": "retry"}
TOOLS: dict[str, dict[str, Any]] = {
    "amfs_set_identity": {"name": "peer", "description": "tries everything"},
    "amfs_whoami": {},
    "amfs_write": {**NOTE, "value": '{"max": 3}', "confidence": 0.7},
    "amfs_read": NOTE,
    "amfs_search": {"query": "retry"},
    "amfs_retrieve": {"query": "retry"},
    "amfs_list": {"entity_path": "shop/checkout"},
    "amfs_history": NOTE,
    "amfs_stats": {},
    "amfs_timeline": {},
    "amfs_briefing": {"entity_path": "shop/checkout"},
    "amfs_explain": {},
    "amfs_recall": NOTE,
    "amfs_my_entries": {},
    "amfs_read_from": {"agent_id": "agent/peer", **NOTE},
    "amfs_cross_agent_reads": {},
    "amfs_record_context": {"label": "ticket", "summary": "fails at noon"},
    "amfs_record_attempt": {"summary": "too fast"},
    "amfs_record_action": {"tool_name": "deploy"},
    "amfs_commit_outcome": {"outcome_ref": "t-1", "outcome_type": "success"},
    "amfs_list_traces": {},
    "amfs_get_trace": {"trace_id": "00000000-0000-0000-0000-000000000000"},
    "amfs_verify": {},
    "amfs_diff": NOTE,
    "amfs_commit_batch": {"writes": [{**NOTE, "key": "b1", "value": 1}], "message": "batch"},
    "amfs_commit_log": {},
    "amfs_merge_base": {"commit_a": "a", "commit_b": "b"},
    "amfs_set_profile": {"description": "ships"},
    "amfs_declare_capability": {"name": "deploys"},
    "amfs_discover_agents": {},
    "amfs_set_contract": {"entity_path": "shop/checkout"},
    "amfs_aggregate": {"entity_path": "shop/checkout", "op": "count"},
    "amfs_export": {"entity_path": "shop/checkout"},
    "amfs_export_training_data": {},
    "amfs_graph_neighbors": {"entity": "shop/checkout/retry"},
    "amfs_consolidation_status": {},
    "amfs_consolidation_proposals": {},
    "amfs_consolidation_candidates": {},
    "amfs_consolidate": {"dry_run": True},
    "amfs_reset_identity": {},
}
# What the tool says of itself, whatever the server is.
OWN_WORDS = {"amfs_get_trace"}


def arguments_for(schema: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as a tool names them: lists and objects as text where it wants text."""
    shaped = {}
    for name, value in wanted.items():
        kind = schema.get("properties", {}).get(name, {}).get("type")
        shaped[name] = json.dumps(value) if kind == "string" and not isinstance(value, str) else value
    return shaped


def test_every_tool_of_the_published_mcp_server_works(peer: Path, peer_environment: dict[str, str]):
    async def all_of_them() -> dict[str, tuple[bool, str]]:
        command = StdioServerParameters(command=str(peer / "amfs-mcp-server"), env=peer_environment)
        async with stdio_client(command) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            there = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert set(there) == set(TOOLS)
            said = {}
            for name, wanted in TOOLS.items():
                answer = await session.call_tool(name, arguments_for(there[name].input_schema, wanted))
                said[name] = answer.is_error, " ".join(getattr(part, "text", "") for part in answer.content)
            return said

    said = awaited(all_of_them())
    failed = {}
    for name, (is_error, text) in said.items():
        fault = is_error or (name not in OWN_WORDS and '"error"' in text[:200])
        note("amfs-mcp-server over stdio", name, "fails" if fault else "works")
        if fault:
            failed[name] = text[:300]
    assert failed == {}


COMMANDS: dict[str, list[str]] = {
    "login": ["login", "--url", "URL", "--key", "KEY"],
    "whoami": ["whoami"],
    "status": ["status"],
    "write": ["write", "shop/cli", "note", '{"n": 1}'],
    "search": ["search", "note"],
    "recall": ["recall", "shop/cli", "note"],
    "stats": ["stats"],
}


def test_every_command_of_the_published_command_line_that_speaks_http_works(
    peer: Path, peer_environment: dict[str, str], tmp_path: Path
):
    url, key = peer_environment["AMFS_HTTP_URL"], peer_environment["AMFS_API_KEY"]
    failed = {}
    for name, command in COMMANDS.items():
        words = [{"URL": url, "KEY": key}.get(word, word) for word in command]
        done = subprocess.run(
            [peer / "amfs", *words],
            env=peer_environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        note("amfs (amfs-cli)", name, "works" if done.returncode == 0 else "fails")
        if done.returncode:
            failed[name] = done.stdout[-500:] + done.stderr[-500:]
    assert failed == {}


@contextmanager
def interruptible() -> Iterator[None]:
    """Let what is started meanwhile hear Ctrl-C, also where this run does not: a program inherits what is ignored."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def test_the_published_command_line_watches_the_stream(
    peer: Path, peer_environment: dict[str, str], tmp_path: Path, server: Server, review_key: str
):
    watch = [peer / "amfs", "watch", "shop/watched"]
    options = {"env": peer_environment | {"PYTHONUNBUFFERED": "1"}, "cwd": tmp_path, "text": True}
    with interruptible():
        watching = subprocess.Popen(watch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    try:
        assert watching.stdout is not None
        seen = ""
        writer = AgentMemory("writer", adapter=HttpAdapter(server.url, review_key))
        for line in watching.stdout:
            seen += line
            if "Ctrl-C" in line:
                break
        # It said so before it was connected: writes go on for a while.
        for n in range(200):
            writer.write("shop/watched", f"k{n}", n)
        watching.send_signal(signal.SIGINT)
        seen += watching.communicate(timeout=30)[0]
    finally:
        watching.kill()
    works = bool(re.search(r"Received [1-9]\d* events", seen))
    note("amfs (amfs-cli)", "watch", "works" if works else "fails")
    assert works, seen[-2000:]


def test_the_fetch_example_for_node_runs_as_printed(server: Server, api_key: str):
    node = program("node", of="nodejs")
    (example,) = re.findall(r"```js\n(.*?)```", DOCS.read_text(), re.S)
    environment = {"PATH": os.environ["PATH"], "SENSELAB_URL": server.url, "SENSELAB_KEY": api_key}
    done = subprocess.run(
        [node, "--input-type=module"],
        input=example,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["confidence"] > 0.7

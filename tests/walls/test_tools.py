"""What agents reach by /mcp tells no more than the API does: every tool, asked with another's names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from mcp.server.mcpserver.exceptions import ToolError

from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from senselab.mcp import tools
from senselab.mcp.door import InProcess
from tests.walls import asking, world
from tests.walls.asking import SCOPES, Call, Table
from tests.walls.comparing import compared
from tests.walls.telling import guess, kept_private, told_of
from tests.walls.world import World
from tests.wire.awaiting import awaited

NOBODY = "sl_none"


def use(**said: Any) -> Call:
    return Call("use", body=said)


TOOLS: Table = {
    "remember": lambda w: [
        use(**w.named, value="mine"),
        use(**w.named, value="mine", shared=False, pattern_refs=[w.entry]),
        use(**w.named, value="mine", expected_version=3),
        use(entity_path=w.path, key="mine", value={"kanari-field": 1}),
    ],
    "recall": lambda w: [
        use(),
        use(query="kanari-value retries help with jitter"),
        use(entity_path=w.top, limit=1),
        use(**w.named),
        use(entity_path=w.path, key=w.other),
    ],
    "briefing": lambda w: [use(), use(entity_path=w.path), use(entity_path=w.top, limit=1)],
    "report_outcome": lambda w: [
        use(outcome_ref="mine", outcome_type="failure", entries=[w.entry, "mine/rule"]),
        use(outcome_ref=w.ref, outcome_type="success", entries=[w.entry], task_input="kanari-task"),
    ],
    "feedback": lambda w: [
        use(**w.named, verdict="rejected"),
        use(entity_path="mine", key="rule", verdict="superseded", superseded_by=w.entry),
    ],
    "history": lambda w: [use(**w.named), use(entity_path=w.path, key=w.other)],
    "diff": lambda w: [use(**w.named), use(**w.named, from_version=1, to_version=2)],
    "why": lambda w: [use(**w.named)],
    "review_list": lambda w: [use(), use(entity_path=w.path), use(cursor=w.cursors["review"])],
}


@contextmanager
def connection_stays() -> Iterator[None]:
    """The end of a call would close the connection, and with it the transaction of this test."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


class User:
    """Somebody with a key who uses tools; what that does is undone."""

    def __init__(self, key: str, agent: str = "") -> None:
        headers = {"x-amfs-api-key": key, "host": "localhost"} | ({"x-amfs-agent-id": agent} if agent else {})
        ask = InProcess(get_wsgi_application(), headers)
        self.tools = tools.Tools(lambda context: ask)

    def __call__(self, tool: str, call: Call) -> str:
        with connection_stays(), transaction.atomic():
            try:
                told: str = getattr(self.tools, tool)(None, **call.body)
            except ToolError as refusal:
                told = f"refused: {refusal}"
            transaction.set_rollback(True)
        return asking.alike(told)


def keyed(account: Account, agent: str = "", **more: Any) -> tuple[User, Table]:
    said = {"scopes": SCOPES, "rate_per_minute": 1_000_000, **more}
    return User(accounts.create_key(account, name="user", **said), agent), TOOLS


def test_every_tool_there_is_is_used():
    made = awaited(tools.server(lambda context: None, "1").list_tools())
    assert {tool.name for tool in made} == set(TOOLS), "list it here: how is it used with another's names?"


def test_the_tools_of_another_account_tell_nothing(account, rival):
    users = {
        "of the same name": keyed(rival, world.NAMES["agent"]),
        "with globs": keyed(rival, globs=[{"pattern": "mine/**"}], scopes=("read", "write", "review")),
        "without a key": (User(NOBODY), TOOLS),
    }
    assert compared(users, lambda: told_of(account, rival)) == {}


@pytest.mark.parametrize("then", [lambda w: None, guess], ids=["asked", "guessed"])
def test_the_tools_of_another_agent_tell_nothing_of_private_entries(account, shared, then: Callable[[World], None]):
    may = {"scopes": ("read", "write", "review")}
    users = {"another agent": keyed(account, agent_id="agent/snoop", **may), "nobody": keyed(account, **may)}
    assert compared(users, lambda: kept_private(shared, account, told=False), then) == {}


def test_what_the_tools_ask_for_is_there_for_whoever_may_see_it(account, rival):
    w = told_of(account, rival)
    own, _ = keyed(account, world.NAMES["agent"])
    told = {tool: [own(tool, call) for call in calls(w)] for tool, calls in TOOLS.items()}
    # What was said already, or is of an older version, is there as well.
    assert [
        tool for tool, texts in told.items() if all(text.startswith("refused: There is no") for text in texts)
    ] == []
    assert [
        tool for tool in ("recall", "briefing", "history", "diff", "why") if "kanari" not in "".join(told[tool])
    ] == []

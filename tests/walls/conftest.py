"""What every walk along the walls needs."""

import pytest

from memories.api import stream
from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.api.conftest import Caller, counted
from tests.walls import world
from tests.walls.asking import SCOPES

__all__ = ["counted"]


@pytest.fixture(autouse=True)
def streams_in_this_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that asks for streams would not see what a test did not commit."""
    monkeypatch.setattr(stream, "asked", lambda question: question())
    monkeypatch.setattr(stream, "PAUSE", 0)


@pytest.fixture
def rival(other_account: Account) -> Account:
    """Another account with a little of its own."""
    caller = Caller(accounts.create_key(other_account, name="first"), "agent/mine")
    caller.write("mine", "rule", "mine", confidence=0.2)
    caller.report("my task", "success", "mine/rule", task_input="my task")
    return other_account


@pytest.fixture
def shared(account: Account) -> Caller:
    """The keeper of private entries, whom others know by what it shares; and somebody else who wrote as well."""
    key = accounts.create_key(account, name="keeper", scopes=SCOPES, rate_per_minute=1_000_000)
    keeper = Caller(key, world.NAMES["agent"])
    keeper.write("open", "rule", "for all", session_id="open")
    keeper.report("open task", "success", "open/rule", task_input="for all")
    Caller(key, "agent/snoop").write("mine", "rule", "mine", confidence=0.2)
    return keeper

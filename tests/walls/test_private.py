"""Another agent of the account learns nothing of private entries, whatever it asks and whatever it tells."""

from senselab.accounts.models import Account
from tests.walls import asking
from tests.walls.api_calls import API
from tests.walls.asking import Asker, keyed
from tests.walls.comparing import compared, walked
from tests.walls.telling import guess, kept_private


def outsiders(account: Account) -> dict[str, Asker]:
    """Return who may do everything but look after the account, whose admins count all there is."""
    may = {"scopes": ("read", "write", "review")}
    return {"another agent": keyed(account, agent_id="agent/snoop", **may), "nobody": keyed(account, **may)}


def test_another_agent_learns_nothing_of_private_entries(account, shared):
    askers = {name: (asker, API) for name, asker in outsiders(account).items()}
    assert compared(askers, lambda: kept_private(shared, account, told=False)) == {}


def test_another_agent_learns_no_word_of_tasks_that_relied_on_private_entries(account, shared):
    w = kept_private(shared, account, told=True)
    # That a task ended is known to all, by its name and its tools' number; what it was about is not.
    known = {"kanari-ref", "kanari-traced", "kanari-agent", "kanari-session"}
    for name, asker in outsiders(account).items():
        for (route, place), (call, told) in walked(asker, API, w).items():
            assert asking.learned(call, route, told) <= known, (name, route, place, call)


def test_what_another_agent_says_of_private_entries_comes_back_as_it_would_if_there_were_none(account, shared):
    askers = {name: (asker, API) for name, asker in outsiders(account).items()}
    assert compared(askers, lambda: kept_private(shared, account, told=False), guess) == {}

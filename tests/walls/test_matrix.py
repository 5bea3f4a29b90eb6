"""Nobody learns anything of what is not theirs: every route, asked with another's names, answers as if it were not.

Each call is made twice, word for word the same: in a world where somebody else has what is asked for, and in one where
nobody has. The answers must be alike, status, headers and counts, and hold no word of the other's.
"""

from typing import Any

import pytest
from django.test import Client
from django.utils.http import urlsafe_base64_encode

from memories import streaming
from memories.api import stream
from memories.models import ChangeSet, Entry
from outcomes.models import Outcome
from senselab import cursors
from senselab.accounts import services as accounts
from senselab.accounts.models import Account, Role
from tests.api.conftest import Caller, counted
from tests.conftest import joined
from tests.walls import asking, world
from tests.walls.api_calls import API, OUTSIDE
from tests.walls.asking import Asker, Call, Table
from tests.walls.page_calls import DOORS, PAGES
from tests.walls.world import SCOPES, World

__all__ = ["counted"]
ROUTES = dict(asking.routes())
LISTED = API | OUTSIDE | PAGES


def test_every_route_there_is_is_walked():
    assert set(ROUTES) - set(LISTED) - set(DOORS) == set(), (
        "list it in tests/walls: how is it called with another's names?"
    )
    assert (set(LISTED) | set(DOORS)) - set(ROUTES) == set(), "these routes are there no more"


def test_every_method_of_a_call_is_walked():
    nobody = World(
        **world.NAMES,
        **dict.fromkeys(("change_set", "decision", "commit", "bulk", "key_id", "trace", "mine_version"), 1),
    )
    nobody.cursors, nobody.place = dict.fromkeys(("traces", "timeline", "audit", "review", "changes"), ""), ""
    for route, calls in (API | OUTSIDE).items():
        assert asking.methods(ROUTES[route]) <= {call.method for call in calls(nobody)}, route


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


def walked(asker: Asker, table: Table, w: World) -> dict[tuple[str, int], tuple[Call, str]]:
    """Return what somebody is told on every way of calling every route."""
    told = {}
    for route, calls in table.items():
        for place, call in enumerate(calls(w)):
            if not (w.is_private and asking.impersonates(call, route)):
                told[route, place] = call, asker(route, call)
    return told


def first_of(table: Table) -> Table:
    """Return one way to call each route, for those who get no further, or the same again."""
    return {route: lambda w, calls=calls: calls(w)[:1] for route, calls in table.items()}


def differences(with_it: dict, without: dict, known: set[str]) -> dict[str, Any]:
    found = {}
    for (route, place), (call, told) in with_it.items():
        alone = without[route, place][1]
        if told != alone:
            found[f"{call.method} {route} {call.query} {call.body}"] = first_difference(told, alone)
        if words := asking.learned(call, route, told) - known:
            found[f"{call.method} {route} {place} tells"] = words
    return found


def first_difference(told: str, alone: str) -> tuple[str, str]:
    at = next((n for n, pair in enumerate(zip(told, alone, strict=False)) if pair[0] != pair[1]), 0)
    return told[max(0, at - 60) : at + 120], alone[max(0, at - 60) : at + 120]


def compared(askers: dict[str, tuple[Asker, Table]], tell: Any) -> dict[str, Any]:
    """Return where the answers differ between a world in which something was told and one in which nothing was."""
    with asking.rolled_back():
        w = tell()
        with_it = {name: walked(asker, table, w) for name, (asker, table) in askers.items()}
    found: dict[str, Any] = {}
    for name, (asker, table) in askers.items():
        wrong = differences(with_it[name], walked(asker, table, w), w.known)
        found |= {f"{name}: {call}": what for call, what in wrong.items()}
    # What differs is long, and pytest would cut it.
    print(*(f"{call}\n    {what}" for call, what in found.items()), sep="\n")
    return found


def told_of(account: Account, rival: Account) -> World:
    """Fill the account, and name what of it a call can ask for."""
    place = str(streaming.here())
    w = world.found(account)
    w.place, w.is_private, w.known, w.mine_version = place, False, {"kanari-agent"}, 2
    w.id = Entry.objects.get(account=account, entity_path=w.path, key=w.key).pk
    w.mine = Entry.objects.get(account=rival, entity_path="mine", key="rule").pk
    w.outcome = Outcome.objects.get(account=account, outcome_ref=w.ref).pk
    made = ChangeSet.objects.filter(account=account).latest("id")
    w.cursors["changes"] = cursors.make(made.at.isoformat(), made.pk)
    w.uid = urlsafe_base64_encode(str(w.person.pk).encode())
    return w


def keyed(account: Account, agent: str = "", **more: Any) -> Asker:
    key = accounts.create_key(account, name="asker", **{"scopes": SCOPES, "rate_per_minute": 1_000_000, **more})
    return Asker(Client(), {"X-AMFS-API-Key": key} | ({"X-AMFS-Agent-Id": agent} if agent else {}))


def test_a_key_of_another_account_learns_nothing(account, rival):
    askers = {
        "of the same name": (keyed(rival, world.NAMES["agent"]), API | OUTSIDE),
        "with globs": (keyed(rival, globs=[{"pattern": "mine/**"}], scopes=("read", "write", "review")), API),
        "without a key": (Asker(Client()), first_of(API)),
    }
    assert compared(askers, lambda: told_of(account, rival)) == {}


def test_a_person_of_another_account_learns_nothing(account, rival, client_of):
    admin, viewer = (joined(rival, role, role) for role in (Role.ADMIN, Role.VIEWER))
    askers = {
        "admin": (Asker(client_of(admin)), PAGES),
        "htmx": (Asker(client_of(admin), {"HX-Request": "true"}), first_of(PAGES)),
        "viewer": (Asker(client_of(viewer)), first_of(PAGES)),
        "nobody": (Asker(Client()), first_of(PAGES)),
    }
    assert compared(askers, lambda: told_of(account, rival)) == {}


@pytest.fixture
def shared(account: Account) -> Caller:
    """The keeper of private entries, whom others know by what it shares; and somebody else who wrote as well."""
    key = accounts.create_key(account, name="keeper", scopes=SCOPES, rate_per_minute=1_000_000)
    keeper = Caller(key, world.NAMES["agent"])
    keeper.write("open", "rule", "for all", session_id="open")
    keeper.report("open task", "success", "open/rule", task_input="for all")
    Caller(key, "agent/snoop").write("mine", "rule", "mine", confidence=0.2)
    return keeper


def kept_private(keeper: Caller, account: Account, *, told: bool) -> World:
    """Let the keeper write and judge private entries; with `told`, report how tasks ended that relied on them."""
    place = str(streaming.here())
    w = world.learn(keeper, shared=False)
    nothing = {"key_id": 0, "trace": "00000000-0000-0000-0000-000000000000", "bulk": 0, "mine_version": 1}
    none = dict.fromkeys(("traces", "timeline", "audit"), "")
    # That there is such an agent is known by what it shares.
    vars(w).update(nothing, place=place, account=account, cursors=none, is_private=True, known={"kanari-agent"})
    if told:
        world.end(keeper, w)
    w.cursors |= {name: world.cursors(keeper, w)[name] for name in ("review", "changes")}
    return w


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


def test_what_the_tables_ask_for_is_there_for_whoever_may_see_it(account, rival, client_of):
    """The walk would prove nothing if its calls found nothing where there is something."""
    w = told_of(account, rival)
    w.mine = w.id
    own = keyed(account, world.NAMES["agent"])
    person = Asker(client_of(joined(account, "own", Role.ADMIN)))
    # What cannot be done now is there as well; 404 is the answer of what is not.
    there = {"200", "202", "204", "302", "409", "412"}
    missing: dict[str, str] = {}
    for asker, table in ((own, API), (person, PAGES)):
        for route, calls in table.items():
            told = [asker(route, call) for call in calls(w)]
            if not any(text[:3] in there for text in told):
                missing[route] = told[0][:300]
    # Where somebody is signed in is theirs alone, whatever account they belong to.
    assert set(missing) == {"settings/you/sign-ins/<int:sign_in_id>/end/"}, missing

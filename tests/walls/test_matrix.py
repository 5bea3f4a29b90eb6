"""Nobody learns anything of what is not theirs: every route, asked with another's names, answers as if it were not.

Each call is made twice, word for word the same: in a world where somebody else has what is asked for, and in one where
nobody has. The answers must be alike, status, headers and counts, and hold no word of the other's.
"""

from django.test import Client

from senselab.accounts.models import Role
from tests.conftest import joined
from tests.walls import asking, world
from tests.walls.api_calls import API, OUTSIDE
from tests.walls.asking import Asker, keyed
from tests.walls.comparing import compared, first_of
from tests.walls.page_calls import DOORS, PAGES
from tests.walls.telling import told_of
from tests.walls.world import World

ROUTES = dict(asking.routes())
LISTED = API | OUTSIDE | PAGES | DOORS


def test_every_route_there_is_is_walked():
    assert set(ROUTES) - set(LISTED) == set(), "list it in tests/walls: how is it called with another's names?"
    assert set(LISTED) - set(ROUTES) == set(), "these routes are there no more"


def test_every_method_of_a_call_is_walked():
    nobody = World(
        **world.NAMES,
        **dict.fromkeys(("change_set", "decision", "commit", "bulk", "key_id", "trace", "mine_version"), 1),
    )
    nobody.cursors, nobody.place = dict.fromkeys(("traces", "timeline", "audit", "review", "changes"), ""), ""
    for route, calls in (API | OUTSIDE).items():
        assert asking.methods(ROUTES[route]) <= {call.method for call in calls(nobody)}, route


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
        "admin": (Asker(client_of(admin)), PAGES | DOORS),
        "htmx": (Asker(client_of(admin), {"HX-Request": "true"}), first_of(PAGES)),
        "viewer": (Asker(client_of(viewer)), first_of(PAGES)),
        "nobody": (Asker(Client()), first_of(PAGES) | DOORS),
    }
    assert compared(askers, lambda: told_of(account, rival)) == {}


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
    # Where somebody is signed in, and by what, is theirs alone, whatever account they belong to.
    own_alone = ("sign-ins/<int:sign_in_id>/end/", "security/codes/", "security/<int:factor_id>/remove/")
    assert set(missing) == {f"settings/you/{route}" for route in own_alone}, missing

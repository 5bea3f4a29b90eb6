"""Every page, with markup in every word that an agent or a person can choose: nothing runs, nothing breaks out."""

import re
from typing import Any
from urllib.parse import quote, urlencode

from memories.models import Entry
from outcomes.models import Outcome
from tests.walls import world
from tests.walls.asking import CANARY, Call
from tests.walls.page_calls import PAGES
from tests.walls.world import World

HOSTILE = "=1\"'><img src=x onerror=hurt()>\u202e"
# What a file is, or leads elsewhere, is no page.
FILES = {"entry/value/", "settings/data/export/", "settings/data/<slug:name>.csv", "password/<uidb64>/<token>/"}
SEEN = """() => ({
    ran: window.hurt !== undefined,
    injected: document.querySelectorAll("img[src=x], [onerror]").length,
})"""


def spoilt(account) -> World:
    """Fill an account with hostile words, and name what of it pages can be asked for."""
    w = world.found(account, HOSTILE)
    vars(w).update(world.said_with(HOSTILE, {name: vars(w)[name] for name in world.NAMES}))
    w.id = Entry.objects.get(account=account, entity_path=w.path, key=w.key).pk
    w.mine = Entry.objects.get(account=account, entity_path=w.path, key=w.other).pk
    w.outcome = Outcome.objects.get(account=account, outcome_ref=w.ref).pk
    w.uid, w.mine_version = "none", 1
    return w


def address(route: str, call: Call) -> str:
    path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: quote(str(call.path[found[1]])), route)
    query = {name: str(value).replace(CANARY, HOSTILE) for name, value in call.query.items()}
    return f"/{path}" + (f"?{urlencode(query)}" if query else "")


def addresses(w: World) -> list[str]:
    calls = {route: calls(w) for route, calls in PAGES.items() if route not in FILES}
    found = [address(route, call) for route, made in calls.items() for call in made if call.method == "get"]
    # What leads on, is a file, or names what is another's is no page of this account.
    aside = ("cursor=", "format=csv", "owner=", "path=mine")
    return [one for one in dict.fromkeys(found) if not any(word in one for word in aside)]


PINNED = """async ([entry, version]) => {
    const csrfmiddlewaretoken = document.querySelector("[name=csrfmiddlewaretoken]").value;
    const body = new URLSearchParams({ csrfmiddlewaretoken, entry, version, decision: "pin" });
    await fetch("/review/decide/", { method: "POST", body, redirect: "manual" });
}"""


def test_no_word_runs_or_breaks_out_on_any_page_or_in_a_toast(visit, ada, account):
    w = spoilt(account)
    page: Any = visit(ada, "/")
    wrong: dict[str, Any] = {}
    for one in addresses(w):
        answer = page.goto(one, wait_until="load")
        seen = page.evaluate(SEEN)
        if answer.status != 200 or seen["ran"] or seen["injected"]:
            wrong[one] = answer.status, seen
    assert wrong == {}
    page.goto("/review/", wait_until="load")
    page.evaluate(PINNED, [w.id, Entry.objects.get(account=account, pk=w.id).version])
    page.goto("/", wait_until="load")
    assert "Pinned" in page.locator("#toasts").inner_text()
    seen = page.evaluate(SEEN)
    assert (seen["ran"], seen["injected"]) == (False, 0)

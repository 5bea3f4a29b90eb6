"""Every page, chart and toast, with markup and characters that mislead in every word that an agent or a person can
choose: nothing runs, nothing breaks out, nothing looks like something else."""

import re
from typing import Any
from urllib.parse import quote, urlencode

from memories.models import Entry
from tests.browser import seen
from tests.walls.asking import CANARY, Call
from tests.walls.hostile import ALIKE, HOSTILE, NAMED, spoilt
from tests.walls.page_calls import PAGES
from tests.walls.world import World

# What a file is, or leads elsewhere, is no page.
# Nobody here has a second factor to remove.
FACTOR = "settings/you/security/<int:factor_id>/remove/"
FILES = {
    FACTOR,
    "settings/you/security/codes/",
    "entry/value/",
    "settings/data/export/",
    "settings/data/<slug:name>.csv",
    "password/<uidb64>/<token>/",
}


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


def more(w: World) -> list[str]:
    """Return pages that are not walked for what others learn there."""
    named = urlencode({"path": w.path, "key": w.key})
    return [
        "/settings/you/security/",
        "/settings/you/security/app/",
        "/settings/you/security/passkey/",
        f"/entry/erase/?{named}",
        f"/agents/{quote(w.agent)}/erase/",
        f"/review/?item={w.mine}&how=comment",
    ]


def test_no_word_runs_breaks_out_or_misleads_on_any_page_chart_or_toast(visit, ada, account):
    w = spoilt(account)
    ada.first_name = f"{HOSTILE}-first"
    ada.save()
    page: Any = visit(ada, "/")
    wrong: dict[str, Any] = {}
    for one in [*addresses(w), *more(w)]:
        answer = page.goto(one, wait_until="load")
        found = seen.wrong_with(page, ALIKE, NAMED)
        if answer.status != 200 or found:
            wrong[one] = answer.status, found
    assert wrong == {}
    page.goto("/review/", wait_until="load")
    page.evaluate(PINNED, [w.id, Entry.objects.get(account=account, pk=w.id).version])
    page.goto("/", wait_until="load")
    assert "Pinned" in page.locator("#toasts").inner_text()
    assert seen.wrong_with(page, ALIKE, NAMED) == []

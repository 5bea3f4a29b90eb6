"""/agents and what hangs together with an entry: figures, windows, pictures with their lists."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.api.conftest import Caller, bot, counted, helper, nobody

__all__ = ["bot", "counted", "helper", "nobody"]
BOT, HELPER = "agent/deploy-bot", "agent/oncall-helper"
ENTRY = {"path": "shop", "key": "retry"}


@pytest.fixture
def busy(bot: Caller, helper: Caller, counted: Any) -> None:
    """deploy-bot wrote two entries, one refers to the other; oncall-helper read and relied on them."""
    bot.write("shop", "retry", 1, confidence=0.9)
    bot.write("shop", "uses-retry", 1, pattern_refs=["shop/retry"])
    bot.write("shop", "uses-that", 1, pattern_refs=["shop/uses-retry"])
    helper.read("shop", "retry")
    counted()
    helper.report("T-1", "success", "shop/retry", "shop/uses-that")
    helper.report("T-2", "failure", "shop/retry")


def text(page: Any) -> str:
    return page.content.decode()


@pytest.mark.usefixtures("busy")
def test_agents_are_listed_with_their_figures(client_of: Any, vera: Any) -> None:
    shown = text(client_of(vera).get("/agents/"))

    assert f'href="/agents/{BOT}/"' in shown
    assert f'href="/agents/{HELPER}/"' in shown
    assert "50 %" in shown
    assert "those of 30 days" in shown
    assert "fallen silent" not in shown


@pytest.mark.usefixtures("busy")
def test_agents_that_fell_silent_are_named_in_words(client_of: Any, vera: Any, account: Any, monkeypatch: Any) -> None:
    later = timezone.now() + timedelta(days=9)
    monkeypatch.setattr(timezone, "now", lambda: later)

    shown = text(client_of(vera).get("/agents/"))

    assert "2 agents have fallen silent" in " ".join(shown.split())
    assert "for 9 days" in shown
    assert "Silent for 9 days" in text(client_of(vera).get(f"/agents/{BOT}/"))


@pytest.mark.usefixtures("busy")
def test_an_agent_shows_how_its_word_holds_and_whom_it_relies_on(client_of: Any, vera: Any) -> None:
    page = client_of(vera)
    author, reader = text(page.get(f"/agents/{BOT}/")), text(page.get(f"/agents/{HELPER}/"))

    assert "<circle" in author
    assert "0.95" in author
    assert "0.67" in author
    assert f"/agents/{BOT}/" in reader
    assert "T-1" in reader
    assert "uses-retry" in author
    assert page.get("/agents/agent/nobody-knows/").status_code == 404


@pytest.mark.usefixtures("busy")
def test_an_agents_timeline_is_paged_and_filtered(client_of: Any, vera: Any, bot: Caller) -> None:
    for number in range(40):
        bot.write("shop", f"k{number}", 1)
    page = client_of(vera)

    part = page.get(f"/agents/{BOT}/?kind=write", headers={"HX-Request": "true"})

    assert text(part).lstrip().startswith("<section")
    assert "cursor=" in text(part)
    assert "k39" in text(part)
    assert "Nothing of that kind" in text(page.get(f"/agents/{BOT}/?kind=read"))
    assert page.get(f"/agents/{BOT}/?kind=shrug&cursor=zzz").status_code == 200


@pytest.mark.usefixtures("busy")
def test_what_hangs_together_with_an_entry_is_drawn_and_listed(client_of: Any, vera: Any) -> None:
    page = client_of(vera)
    shown = text(page.get("/entry/connections/", ENTRY))
    part = text(page.get("/entry/connections/", ENTRY, headers={"HX-Request": "true"}))

    assert '<svg class="web"' in shown
    assert "uses-retry" in shown
    assert "and 1 more through" in shown
    assert "2, 1 of them failed" in " ".join(shown.split())
    assert "uses-that" in shown
    assert f"/agents/{HELPER}/" in shown
    assert part.lstrip().startswith("<section")
    assert "style=" not in part
    assert 'hx-get="/entry/connections/?path=shop' in text(page.get("/entry/", ENTRY))
    assert page.get("/entry/connections/", {"path": "shop", "key": "never"}).status_code == 404


def test_nobody_and_nothing_is_said_in_words(client_of: Any, vera: Any, bot: Caller) -> None:
    page = client_of(vera)
    assert "No agent yet" in text(page.get("/agents/"))
    bot.write("shop", "retry", 1)
    assert "Nothing refers to it" in text(page.get("/entry/connections/", ENTRY))


@pytest.mark.usefixtures("busy")
def test_agents_of_another_account_are_not_there(client_of: Any, other_account: Any) -> None:
    from senselab.accounts.models import Role
    from tests.conftest import joined

    page = client_of(joined(other_account, "otto", Role.ADMIN))
    assert BOT not in text(page.get("/agents/"))
    assert page.get(f"/agents/{BOT}/").status_code == 404
    assert page.get("/entry/connections/", ENTRY).status_code == 404


@pytest.mark.usefixtures("busy")
def test_pages_of_agents_ask_as_much_for_many_as_for_few(client_of: Any, vera: Any, nobody: Caller) -> None:
    page = client_of(vera)
    counts = []
    for many in (2, 30):
        for number in range(many):
            agent = f"agent/{many}-{number}"
            nobody.write("shop", f"{many}-{number}", 1, agent_id=agent, pattern_refs=["shop/retry"])
            nobody.report(f"R-{many}-{number}", "success", "shop/retry", agent_id=agent)
        with CaptureQueriesContext(connection) as asked:
            page.get("/agents/")
            page.get(f"/agents/{BOT}/")
            page.get("/entry/connections/", ENTRY)
        counts.append(len(asked))
    assert counts[0] == counts[1]

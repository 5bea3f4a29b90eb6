"""From a list of traces to an agent and an entry's connections: by mouse, by keyboard and without script."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from outcomes.services import tracing
from tests.db import acts

BODY = """{"causal_entries": [{"entity_path": "shop", "key": "retry", "version": 1, "value": 1,
    "read_at": "2026-01-01T10:00:10Z", "evidence_status": "untested"}],
  "tool_calls": [{"tool_name": "deploy", "started_at": "2026-01-01T10:00:50Z", "duration_ms": 25000, "success": false}],
  "session_started_at": "2026-01-01T10:00:00Z", "session_ended_at": "2026-01-01T10:01:40Z"}"""


@pytest.fixture
def told(account) -> str:
    """agent/bob relied on what agent/ada wrote, twice, once with a trace of its own; returns that one's address."""
    now = timezone.now()
    acts.put(account, confidence=0.7, now=now)
    acts.put(account, key="uses-retry", pattern_refs=("shop/retry",), now=now)
    acts.told(account, "T-1", by=acts.BOB, now=now)
    acts.told(account, "T-2", "failure", by=acts.BOB, now=now, told={"trace_follows": True})
    trace = tracing.Told(
        acts.BOB, "", "T-2", "failure", "main", BODY, ["shop"], [("shop/retry", acts.ADA)], 1, 0, 1e5, now
    )
    return f"/traces/{tracing.keep(account.pk, trace)}/"


def test_from_the_list_to_what_an_entry_moved(visit, ada, told):
    page = visit(ada, "/traces/")
    page.get_by_role("link", name="T-2").click()
    expect(page).to_have_url(f"{page.url.split('/traces')[0]}{told}")
    expect(page.locator(".line > li")).to_have_count(2)
    page.get_by_text("What it said then").click()
    expect(page.locator("pre.code").first).to_be_visible()

    page.get_by_role("link", name="agent/bob").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("agent/bob")
    page.get_by_role("link", name="Outcomes", exact=True).last.click()
    expect(page.locator("#agent-timeline .line > li")).to_have_count(2)

    page.goto("/entry/?path=shop&key=retry")
    expect(page.locator("#connections svg.web")).to_be_visible()
    page.get_by_text("The same as lists").click()
    expect(page.locator("#connections")).to_contain_text("uses-retry")


def test_the_picture_is_walked_by_keyboard(visit, ada, told):
    page = visit(ada, "/entry/connections/?path=shop&key=retry")
    page.locator("svg.web a").first.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('svg.web') !== null")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/entry/connections/" not in url)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_serious_is_wrong_and_nothing_is_wider_than_the_window(visit, ada, told, axe, theme, width):
    connections = "/entry/connections/?path=shop&key=retry"
    for path in ("/traces/", told, "/agents/", f"/agents/{acts.BOB}/", connections):
        page = visit(ada, path, theme=theme, width=width)
        assert axe(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_everything_is_there_without_script(visit, ada, told):
    page = visit(ada, told, script=False)
    expect(page.locator(".line > li")).to_have_count(2)
    page = visit(ada, "/entry/?path=shop&key=retry", script=False)
    page.get_by_role("link", name="What it stands on, and what relied on it").click()
    expect(page.locator("svg.web")).to_be_visible()

"""The playground at a browser: asked with and without script, narrow and wide, light and dark."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from tests.db import acts


@pytest.fixture
def shop(account):
    """Two entries about payments, one of which failed."""
    now = timezone.now()
    acts.put(account, "Payments time out: warm the pool", path="shop", key="pool", now=now)
    acts.put(account, "Payments time out: restart the gateway", path="shop", key="restart", now=now)
    acts.told(account, "t1", "failure", "shop/restart", now=now)
    return account


@pytest.mark.parametrize("script", [True, False])
def test_a_task_is_asked_and_a_supposition_made(visit, vera, shop, script):
    page = visit(vera, "/recall/", script=script)
    page.get_by_role("searchbox", name="Task").fill("payments time out")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("heading", name="1 hit")).to_be_visible()
    page.get_by_role("combobox", name="Entry").select_option("shop/restart")
    page.get_by_label("were").select_option("validated")
    page.get_by_role("button", name="Suppose").click()
    expect(page.get_by_role("heading", name="2 hits")).to_be_visible()
    assert "entry=shop%2Frestart" in page.url


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (390, "dark")])
def test_the_page_is_accessible_and_fits(visit, vera, shop, axe, width, theme):
    page = visit(vera, "/recall/?q=payments+time+out", width=width, theme=theme)
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

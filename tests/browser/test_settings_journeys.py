"""Settings at a browser: keys, people, the trail and oneself, by keyboard and without script."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from senselab.accounts import audit, people, services
from senselab.accounts.audit import SYSTEM, Who
from tests.api.conftest import Caller

PAGES = ("/settings/keys/", "/settings/people/", "/settings/audit/", "/settings/you/")
HOSTILE = '<img src=x onerror="window.hurt=1">\u202egpj.exe'


@pytest.fixture
def settled(account, rex, vera):
    """Keys in every state, an open invitation, and records of all kinds, some of them hostile."""
    now, globs = timezone.now(), [{"pattern": "shop/**"}, {"pattern": f"{HOSTILE}/*", "permission": "read"}]
    services.make_key(account, name=HOSTILE, agent_id=HOSTILE, globs=globs, now=now)
    turning = services.make_key(account, name="turning").key
    services.rotate_key(account.pk, turning.pk, now=now)
    ended = services.make_key(account, name="ended").key
    services.revoke_key(account.pk, ended.pk, now=now)
    people.invite(account, "reviewer", note=HOSTILE, by=SYSTEM, now=now)
    by = Who("key", HOSTILE, "2001:db8::7", "r-1")
    for action in audit.ACTIONS:
        audit.record(
            account.pk, action, by=by, at=now, target=HOSTILE, before={"a": HOSTILE}, after={HOSTILE: 1}, count=40
        )
    return account


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_no_page_of_settings_keeps_anybody_out(visit, axe, ada, settled, theme, width):
    for address in PAGES:
        page = visit(ada, address, width=width, theme=theme)
        assert axe(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        assert page.evaluate("window.hurt") is None, address


def test_a_key_is_made_by_keyboard_alone_and_its_text_works(visit, ada, account):
    page = visit(ada, "/settings/keys/")
    page.get_by_label("Name").focus()
    page.keyboard.type("deploy bot")
    page.get_by_label("Entity paths it reaches").focus()
    page.keyboard.type("shop/**")
    page.get_by_role("button", name="Make the key").focus()
    page.keyboard.press("Enter")
    text = page.get_by_label("The key’s text").input_value()
    assert re.fullmatch(r"sl_[0-9a-f]{16}_[\w-]{43}", text)
    bot = Caller(text)
    assert [bot.get(f"entries/{path}/k").status_code for path in ("shop/a", "vault")] == [200, 403]


def test_without_script_a_role_is_given_and_the_trail_filtered(visit, ada, rex, account):
    page = visit(ada, "/settings/people/", script=False)
    name = rex.display_name
    page.get_by_label(f"Role of {name}", exact=True).select_option("viewer")
    page.get_by_role("button", name=f"Set the role of {name}").click()
    expect(page.get_by_label(f"Role of {name}", exact=True)).to_have_value("viewer")
    page.get_by_role("link", name="Audit").click()
    page.locator('select[name="action"]').select_option("role_given")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("tr[data-item]")).to_have_count(1)
    expect(page.locator("tr[data-item]")).to_contain_text("role reviewer")

"""Passkeys and second factors in a browser: Chromium with a device of its own that keeps them (CDP WebAuthn)."""

import re

import pytest
from playwright.sync_api import expect

from tests.ui.device import code_of

PASSWORD = "correct horse battery"
DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def at_localhost(browser, server):
    """Return a page at localhost, where passkeys work without https, with a device; it fails on console errors."""
    contexts, problems = [], []

    def opened(*, width=1440, theme="light"):
        context = browser.new_context(
            base_url=server.url.replace("127.0.0.1", "localhost"),
            viewport={"width": width, "height": 900},
            color_scheme=theme,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        device = context.new_cdp_session(page)
        device.send("WebAuthn.enable")
        device.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def log_in(page, person):
    page.goto("/login/")
    page.get_by_label("User name").fill(person.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"^http://localhost:\d+/(login/second-factor/)?$"))


def is_inside(page):
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()


def test_a_passkey_is_added_by_keyboard_and_lets_its_owner_in_with_the_password_and_without(at_localhost, axe, rex):
    page = at_localhost()
    log_in(page, rex)
    page.get_by_role("button", name="You: ").click()
    page.get_by_role("link", name="Your security").click()
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_label("Your password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your recovery codes.")).to_be_visible()
    expect(page.get_by_role("rowheader", name="Laptop")).to_be_visible()
    assert axe(page) == []
    page.get_by_role("button", name="You: ").click()
    page.get_by_role("button", name="Log out").click()

    log_in(page, rex)
    expect(page.get_by_role("heading", name="One more proof")).to_be_visible()
    assert axe(page) == []
    page.get_by_role("button", name="Use a passkey").focus()
    page.keyboard.press("Enter")
    is_inside(page)
    page.get_by_role("button", name="You: ").click()
    page.get_by_role("button", name="Log out").click()

    page.get_by_role("button", name="Use a passkey").click()
    is_inside(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_pages_of_security_keep_nobody_out(at_localhost, axe, rex, width, theme):
    page = at_localhost(width=width, theme=theme)
    log_in(page, rex)
    for address in ("/settings/you/security/", "/settings/you/security/app/", "/settings/you/security/passkey/"):
        page.goto(address)
        assert axe(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_without_script_an_app_is_added_and_asked_for(visit, rex):
    page = visit(rex, "/settings/you/security/app/", script=False)
    secret = page.get_by_label("Or type the secret").input_value().replace(" ", "")
    page.get_by_label("Code from the app").fill(code_of(secret))
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Add the app").click()
    expect(page.get_by_text("Your recovery codes.")).to_be_visible()
    page.get_by_text("Remove", exact=True).click()
    page.get_by_label("Your password").first.fill(PASSWORD)
    page.get_by_role("button", name="Remove the app").click()
    expect(page.get_by_text("It is removed")).to_be_visible()

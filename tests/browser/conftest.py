"""People at a browser: Chromium, logged in, against the live server."""

import os
import re
import shutil
from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.ui import story

# Playwright keeps a loop running in this thread, which makes Django suspect an async caller.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

NAMES = ("chromium", "chromium-browser", "google-chrome")
MAC = "/Applications/Chromium.app/Contents/MacOS/Chromium"
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Sums up what moved without anybody having asked for it.
SHIFTS = """
    window.shifts = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, NAMES)), MAC)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Browser, server, client_of) -> Iterator[Callable[..., Page]]:
    """Return `visit(person, path, width=1440, theme="light", script=True)`: the page they see there.

    A test fails when a page it visited wrote an error to the console: broken script, or one the CSP refused.
    """
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def visited(person, path: str, *, width: int = 1440, theme: str = "light", script: bool = True) -> Page:
        context = browser.new_context(
            base_url=server.url,
            viewport={"width": width, "height": 900},
            color_scheme=theme,
            java_script_enabled=script,
        )
        contexts.append(context)
        cookie = client_of(person).cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": cookie, "url": server.url}])
        context.add_init_script(SHIFTS)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.goto(path)
        page.wait_for_load_state("networkidle")
        return page

    yield visited
    for context in contexts:
        context.close()
    # Chromium writes every answer of 400 and above there, those we show included.
    shown = re.compile(r"status of (409|412|422)")
    assert [problem for problem in problems if not shown.search(problem)] == []


@pytest.fixture
def axe() -> Callable[[Page], list[str]]:
    """Return what axe finds serious or critical on a page."""

    def found(page: Page) -> list[str]:
        violations = Axe().run(page).response["violations"]
        return [
            f"{one['id']}: {one['nodes'][0]['html']}" for one in violations if one["impact"] in {"serious", "critical"}
        ]

    return found


@pytest.fixture
def spoiled(account) -> int:
    """The story of retry: v5 rewrote what v4 had validated, and v7 is discredited. The entry's id."""
    return story.tell(account)

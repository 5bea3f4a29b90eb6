"""Pages about time at a browser: sliders that draw, a count before saving, lists swapped in place, runs that end."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from memories import jobs
from memories.models import JobRun, PolicyVersion
from senselab.accounts.models import Account
from tests.db import acts

PAGES = ("/tiers/", "/forecast/", "/jobs/", "/policy/")
CHANGED = {
    "base_half_life": "30", "type_factor_belief": "0.8", "mass_decay": "0.6", "prior_strength": "5",
    "severity_failure": "3", "first_strike_wins": "7", "age_rate": "0.25", "recency_weight": "2",
}  # fmt: skip
# Every number of a table beside the column in force, which the page's script computes anew.
CELLS = """
    (name) => [...document.querySelector(`[data-curve="${name}"]`).tBodies[0].rows].map(
        (row) => [...row.cells].slice(2).map((cell) => cell.textContent))
"""


@pytest.fixture
def busy(account):
    """Sixty entries, ranked, some of them doubtful soon, and runs of jobs that did something."""
    now = timezone.now()
    acts.fill(account, 55, now=now)
    acts.fill(account, 5, path="hunches", confidence=0.31, memory_type="belief", now=now)
    jobs.retier(account, now)
    JobRun.objects.create(account=account, job="decay", state="failed", failures=3, error="DataError: odd",
                          created_at=now, started_at=now, finished_at=now)  # fmt: skip
    return account


@pytest.mark.parametrize("more", [{}, {"decay": "daily_rate"}, {"model": "multiplicative"}], ids=str)
def test_sliders_draw_what_the_server_computes(visit, ada, busy, more):
    live, plain = visit(ada, "/policy/"), visit(ada, "/policy/", script=False)
    for page in (live, plain):
        for name, value in CHANGED.items():
            page.locator(f'[name="{name}"]').fill(value)
        for name, value in more.items():
            page.locator(f'[name="{name}"]').select_option(value)
    plain.get_by_role("button", name="Count what would change").click()
    expect(plain.locator("#foreseen")).to_contain_text("Entries looked at")
    live.wait_for_function(f"(last) => ({CELLS})('priority')[1][0] === last", arg=cells(plain, "priority")[1][0])
    for curve in ("silence", "outcomes", "priority"):
        drawn, computed = live.evaluate(f"({CELLS})('{curve}')"), cells(plain, curve)
        # Both are shown with three decimals, and may round another way where they lie in the middle.
        for one, other in zip(drawn, computed, strict=True):
            assert [float(cell) for cell in one] == pytest.approx([float(cell) for cell in other], abs=0.00101), curve


def cells(page: Page, curve: str) -> list[list[str]]:
    """Return the same of a page without script."""
    rows = page.locator(f'[data-curve="{curve}"] tbody tr').all()
    return [[text.strip() for text in row.locator("td").all_text_contents()[1:]] for row in rows]


def test_a_slider_moves_its_number_and_its_curve_by_keyboard(visit, ada, busy):
    page = visit(ada, "/policy/")
    before = page.evaluate(f"({CELLS})('silence')")
    page.get_by_role("slider", name="Half-life of a fact, days").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator('[name="base_half_life"]')).to_have_value("70")
    page.wait_for_function(f"(before) => JSON.stringify(({CELLS})('silence')) !== JSON.stringify(before)", arg=before)


def test_by_keyboard_a_change_is_counted_reasoned_and_saved(visit, ada, busy):
    page = visit(ada, "/policy/")
    page.locator('[name="review_below"]').fill("0.4")
    page.locator("h1").click()
    page.keyboard.press("d")
    expect(page.locator("#foreseen")).to_contain_text("5 from active to under review")
    page.get_by_label("Reason").fill("doubtful ones sooner")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".toast")).to_contain_text("Version 2 of the policy holds from now on")
    saved = PolicyVersion.objects.get(account_id=busy.pk, number=2)
    assert (saved.values, saved.actor, saved.reason) == ({"review_below": 0.4}, ada.username, "doubtful ones sooner")


def test_without_script_a_policy_is_saved_and_nonsense_refused(visit, ada, busy):
    page = visit(ada, "/policy/", script=False)
    page.locator('[name="hot_capacity"]').fill("-1")
    page.get_by_role("button", name="Count what would change").click()
    expect(page.get_by_role("alert")).to_contain_text("It must lie between 0 and")
    expect(page.locator('[name="hot_capacity"]')).to_have_value("-1")
    page.locator('[name="hot_capacity"]').fill("10")
    page.get_by_label("Reason").fill("fewer")
    page.get_by_role("button", name="Save and apply").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("version 2")
    assert Account.objects.get(pk=busy.pk).policy_values == {"hot_capacity": 10}


def test_lists_of_tiers_and_of_what_is_to_come_are_swapped_in_place(visit, vera, busy):
    page = visit(vera, "/tiers/")
    page.locator("#tier-entries").get_by_role("link", name="Warm").click()
    expect(page.locator("#in-h")).to_contain_text("In warm")
    assert "tier=warm" in page.url
    page = visit(vera, "/forecast/")
    page.locator("#coming").get_by_role("link", name="Are archived").click()
    expect(page.locator("#coming-h")).to_contain_text("Are archived")
    page.go_back()
    expect(page.locator("#coming-h")).to_contain_text("Go under review")


def test_a_run_that_was_asked_for_shows_and_ends_without_a_reload(visit, ada, busy):
    page = visit(ada, "/jobs/")
    page.get_by_role("button", name="Dry run of Tiers").click()
    expect(page.locator("#job-retier")).to_contain_text("waiting")
    jobs.asked()
    expect(page.locator("#job-retier")).to_contain_text("would change 0 of 250", timeout=10_000)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_no_page_about_time_keeps_anybody_out(visit, axe, ada, busy, theme, width):
    for address in PAGES:
        page = visit(ada, address, width=width, theme=theme)
        assert axe(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        assert page.evaluate("window.shifts") < 0.1, address


def test_charts_are_drawn_where_there_is_something_to_draw(visit, ada, busy):
    page = visit(ada, "/policy/")
    drawn = "[...document.querySelectorAll('canvas[data-chart]')].map((one) => one.clientHeight > 50)"
    assert page.evaluate(drawn) == [True, True, True]

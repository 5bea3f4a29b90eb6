"""A reviewer's hour by keyboard alone: decide, undo, many at once, a colleague at the same item, an agent's bad day;
and once more without script."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from memories.models.review import BulkRun
from memories.services import bulk_run
from tests.db import acts
from tests.ui import story

PAGES = {
    "queue": "/review/",
    "snooze": "/review/?how=snooze",
    "contested": "/contested/",
    "wrong": f"/wrong/?agent=agent/bob&since={story.days_ago(30):%Y-%m-%d}",
}


@pytest.fixture
def waiting(account, spoiled):
    """Three that wait, the most doubtful first: shop/a at 0.12, shop/b at 0.14, and shop/retry, discredited."""
    acts.put(account, "first", key="a", confidence=0.12, now=story.days_ago(0.9))
    acts.put(account, "second", key="b", confidence=0.14, by=acts.BOB, now=story.days_ago(0.8))
    acts.put(account, "mixed", key="mixed", confidence=0.7, now=story.days_ago(9))
    for number, kind in enumerate(("success", "failure", "success", "success")):
        acts.told(account, f"mix-{number}", kind, "shop/mixed", now=story.days_ago(8 - number))
    return {key: acts.entry(account, key=key).entry_id for key in ("a", "b", "retry", "mixed")}


def opened(page: Page, key: str) -> None:
    expect(page.locator("#item-h")).to_have_text(f"shop/{key}")


def toast(page: Page, words: str) -> None:
    expect(page.locator(".toast").last).to_contain_text(words)


def state(account, key):
    return acts.entry(account, key=key, now=timezone.now()).state


def test_by_keyboard_a_reviewer_decides_and_takes_it_back(visit, rex, waiting, account):
    page = visit(rex, "/review/")
    opened(page, "a")
    page.keyboard.press("w")
    page.keyboard.type("seen it work, arrr")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    toast(page, "Accepted shop/a.")
    opened(page, "b")
    expect(page).to_have_url(re.compile(f"item={waiting['b']}$"))
    assert state(account, "a").status == "active"
    page.keyboard.press("d")
    toast(page, "Archived shop/b.")
    opened(page, "retry")
    page.keyboard.press("u")
    toast(page, "Undone: 1 entry is as before.")
    opened(page, "b")
    page.keyboard.press("u")
    opened(page, "a")
    assert (state(account, "a").status, state(account, "b").status) == ("under_review", "under_review")


def test_by_keyboard_an_entry_goes_back_to_what_was_validated(visit, rex, waiting, account):
    page = visit(rex, f"/review/?item={waiting['retry']}")
    page.keyboard.press("b")
    expect(page.get_by_role("heading", name="Roll back to v4")).to_be_visible()
    page.keyboard.type("it charged twice")
    page.keyboard.press("Control+Enter")
    toast(page, "Rolled back shop/retry to v4.")
    assert state(account, "retry").evidence_status == "validated"


def test_by_keyboard_everything_else_can_be_decided(visit, rex, waiting, account):
    page = visit(rex, "/review/")
    page.keyboard.press("c")
    expect(page.get_by_label("What you want to say")).to_be_focused()
    page.keyboard.type("who wrote this?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#comments")).to_contain_text("who wrote this?")
    page.keyboard.press("n")
    opened(page, "b")
    page.keyboard.press("k")
    opened(page, "a")
    page.keyboard.press("s")
    expect(page.get_by_label("Until")).to_be_focused()
    page.keyboard.press("Control+Enter")
    toast(page, "Put off shop/a.")
    opened(page, "b")
    page.keyboard.press("e")
    expect(page.get_by_label("Words")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("what it should say")
    page.keyboard.press("Control+Enter")
    toast(page, "Edited shop/b.")
    assert acts.entry(account, key="b").value == '"what it should say"'
    opened(page, "retry")
    page.keyboard.press("m")
    expect(page.get_by_label("Another entry")).to_be_focused()
    page.keyboard.type("shop/b")
    page.keyboard.press("Control+Enter")
    toast(page, "Superseded shop/retry.")
    assert state(account, "retry").superseded_by == "shop/b"


def test_escape_leaves_the_field_then_the_form(visit, rex, waiting):
    page = visit(rex, "/review/")
    page.keyboard.press("m")
    expect(page.get_by_label("Another entry")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Another entry")).not_to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Accept")).to_be_visible()


def test_the_list_of_keys_is_read_from_the_buttons(visit, rex, waiting):
    page = visit(rex, "/review/")
    page.keyboard.press("?")
    keys = page.locator("#shortcuts li")
    words = ("AcceptA", "RejectR", "EditE", "SupersedeM", "ArchiveD", "SnoozeS", "PinP", "SkipN", "CommentC", "SelectX")
    expect(keys.filter(has_text=re.compile(rf"^({'|'.join(words)})\s*$"))).to_have_count(len(words))
    page.keyboard.press("a")
    opened(page, "a")
    expect(page.locator(".toast")).to_have_count(0)


def test_two_reviewers_at_one_item_the_second_is_told_and_led_on(visit, rex, ada, waiting, account):
    first, second = visit(rex, "/review/"), visit(ada, "/review/")
    expect(second.locator("#item")).to_contain_text(re.compile(r"rex-\w+ has this open"))
    first.keyboard.press("a")
    toast(first, "Accepted shop/a.")
    second.keyboard.press("r")
    alert = second.get_by_role("alert")
    expect(alert).to_contain_text(re.compile(r"shop/a: rex-\w+ accepted it at"))
    opened(second, "b")
    assert state(account, "a").negative_reinforcement == 0


def test_what_moved_meanwhile_comes_as_a_new_difference_and_the_words_stay(visit, rex, waiting, account):
    page = visit(rex, f"/review/?item={waiting['b']}&how=edit")
    page.get_by_label("Words").fill("half a thought")
    acts.put(account, "second, said anew", key="b", confidence=0.14, by=acts.BOB, now=timezone.now())
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("It moved to v2 while you looked at v1.")
    expect(page.get_by_label("Words")).to_have_value("half a thought")
    page.keyboard.press("Control+Enter")
    toast(page, "Edited shop/b.")


def test_by_keyboard_rows_and_ranges_are_selected_and_decided_about(visit, rex, waiting, account):
    page = visit(rex, "/review/")
    page.keyboard.press("x")
    page.keyboard.press("j")
    opened(page, "b")
    page.keyboard.press("j")
    opened(page, "retry")
    page.keyboard.press("Shift+X")
    expect(page.locator("[data-selected]")).to_have_text("3")
    page.keyboard.press("v")
    expect(page.get_by_role("heading", level=1)).to_have_text("Decide about 3 entries")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+Enter")
    toast(page, "Archived 3 entries.")
    page.keyboard.press("u")
    toast(page, "Undone: 3 entries are as before.")
    assert state(account, "a").status == "under_review"


def test_a_range_is_selected_with_shift(visit, rex, waiting):
    page = visit(rex, "/review/")
    boxes = page.locator("[data-pick]")
    boxes.nth(0).click()
    boxes.nth(2).click(modifiers=["Shift"])
    expect(page.locator("[data-pick]:checked")).to_have_count(3)


def test_all_that_match_are_archived_across_pages_as_a_run(visit, rex, account):
    acts.fill(account, 230, confidence=0.2, now=story.days_ago(2))
    page = visit(rex, "/review/?path=shop")
    page.keyboard.press("Shift+A")
    page.keyboard.press("v")
    expect(page.get_by_role("heading", level=1)).to_have_text("Decide about 230 entries")
    page.get_by_label("Archive").check()
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/review/runs/**")
    expect(page.locator("#run")).to_contain_text("Left")
    bulk_run.work(account.pk, BulkRun.objects.get(account_id=account.pk).pk)
    expect(page.locator("#progress-h")).to_have_text("Finished")
    expect(page.locator("#run")).to_contain_text("One change set holds all of it.")
    assert state(account, "k229").status == "archived"


def test_by_keyboard_an_agents_day_is_rolled_back(visit, rex, waiting, account):
    acts.put(account, "nonsense", key="mixed", by=acts.BOB, now=story.days_ago(0.1))
    page = visit(rex, f"/wrong/?agent=agent/bob&since={story.days_ago(1):%Y-%m-%dT%H:%M}")
    expect(page.get_by_text("Roll back all 2")).to_be_visible()
    page.keyboard.press("b")
    toast(page, "Rolled back: 2 entries of agent/bob")
    assert acts.entry(account, key="mixed").value == '"mixed"'
    assert state(account, "b").status == "archived"
    page.keyboard.press("u")
    page.wait_for_load_state("networkidle")
    assert acts.entry(account, key="mixed").value == '"nonsense"'


def test_without_script_the_whole_journey_goes(visit, rex, waiting, account):
    page = visit(rex, "/review/", script=False)
    page.get_by_label("Reason").fill("seen it work")
    page.get_by_role("button", name="Accept").click()
    toast(page, "Accepted shop/a.")
    opened(page, "b")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    opened(page, "a")
    assert state(account, "a").status == "under_review"
    page.get_by_role("link", name="Snooze").click()
    page.get_by_role("button", name="Put off").click()
    toast(page, "Put off shop/a.")
    page.get_by_label("Select shop/b").check()
    page.get_by_label("Select shop/retry").check()
    page.get_by_role("button", name="Decide about them").click()
    page.get_by_label("Archive").check()
    page.get_by_role("button", name="Decide about 2").click()
    toast(page, "Archived 2 entries.")
    assert state(account, "b").status == "archived"
    page.goto(f"/wrong/?agent=agent/ada&since={story.days_ago(1):%Y-%m-%dT%H:%M}")
    page.get_by_role("button", name="Roll back all 1").click()
    toast(page, "Rolled back: 1 entry of agent/ada")


def test_without_script_filters_work(visit, rex, waiting):
    page = visit(rex, "/review/", script=False)
    page.locator("summary", has_text="Filter").click()
    page.get_by_role("checkbox", name="Contested").check()
    page.get_by_role("button", name="Apply").click()
    opened(page, "mixed")
    expect(page).to_have_url(re.compile("reason=contested"))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_and_nothing_overflows(visit, rex, waiting, axe, name, width, theme):
    page = visit(rex, PAGES[name], width=width, theme=theme)
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width

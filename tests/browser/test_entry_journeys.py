"""From doubt to the way back: an entry's page, comparing, rolling back, as people do it."""

import os
import re
import subprocess
import sys
from urllib.parse import urlencode

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.db import acts
from tests.ui import story

ENTRY = "/entry/?path=shop&key=retry"
COMPARE = "/entry/compare/?path=shop&key=retry&from=4&to=7"
ROLLBACK = "/entry/rollback/?path=shop&key=retry&to=4"
PAGES = {"entry": ENTRY, "compare": COMPARE, "rollback": ROLLBACK}


def heading(page: Page, words: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text(words)


def test_by_keyboard_alone_from_the_doubt_to_the_rollback_and_back(visit, rex, spoiled, account):
    page = visit(rex, ENTRY)
    page.keyboard.press("b")
    page.wait_for_url("**/entry/rollback/**")
    heading(page, "Roll back to v4")
    page.get_by_label("Reason").focus()
    page.keyboard.type("It charged people twice.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/entry/?**")
    expect(page.locator(".toast")).to_contain_text("v8 is current: rolled back to v4.")
    expect(page.locator(".head")).to_contain_text("Validated")
    assert acts.entry(account).version == 8
    with page.expect_navigation():
        page.keyboard.press("u")
    row = acts.entry(account)
    assert (row.version, row.state.evidence_status) == (9, "discredited")


def test_without_script_a_version_is_chosen_and_rolled_back_to(visit, rex, spoiled, account):
    page = visit(rex, ENTRY, script=False)
    page.get_by_role("link", name="Roll back", exact=True).click()
    page.get_by_label("Reason").fill("Kept while I look around.")
    page.get_by_role("radio", name="v1").check()
    page.get_by_role("button", name="Show what it would change").click()
    heading(page, "Roll back to v1")
    expect(page.get_by_label("Reason")).to_have_value("Kept while I look around.")
    assert acts.entry(account).version == 7
    page.get_by_role("button", name="Roll back to v1").click()
    expect(page.locator(".toast")).to_contain_text("v8 is current: rolled back to v1.")
    expect(page.get_by_text("Kept while I look around.").first).to_be_visible()
    with page.expect_navigation():
        page.locator(".toast").get_by_role("button", name="Undo").click()
    assert acts.entry(account).version == 9


def test_without_script_all_of_an_entry_is_there(visit, rex, spoiled):
    page = visit(rex, ENTRY, script=False)
    expect(page.get_by_text("Confidence was 0.70 on")).to_be_visible()
    page.get_by_text("The same as a table, 7 steps").click()
    expect(page.locator("#timeline-data")).to_contain_text("INC-2291")
    page.get_by_role("radiogroup", name="Show the value as").get_by_text("Raw").click()
    expect(page.locator("#value-raw")).to_contain_text('"max": 6')
    page.get_by_role("radiogroup", name="Language").get_by_text("Python").click()
    expect(page.locator("#get-python")).to_be_visible()
    page.get_by_role("button", name="Compare").click()
    heading(page, "What changed from v4 to v7")


def test_choosing_another_version_shows_it_at_once_and_keeps_the_reason(visit, rex, spoiled):
    page = visit(rex, ROLLBACK)
    page.get_by_label("Reason").fill("Half a thought")
    page.get_by_role("radio", name="v2").check()
    heading(page, "Roll back to v2")
    expect(page.get_by_label("Reason")).to_have_value("Half a thought")
    expect(page.get_by_role("radio", name="v2")).to_be_focused()
    page.keyboard.press("ArrowUp")
    heading(page, "Roll back to v3")


def test_when_somebody_writes_meanwhile_the_new_difference_comes_and_nothing_is_lost(visit, rex, spoiled, account):
    page = visit(rex, ROLLBACK)
    page.get_by_label("Reason").fill("It charged people twice.")
    acts.put(account, {"max": 9}, by=acts.BOB, now=timezone.now())
    page.get_by_role("button", name="Roll back to v4").click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody wrote v8 while you looked at v7.")
    expect(page.get_by_role("table", name=re.compile("v8 now"))).to_contain_text("9")
    expect(page.get_by_label("Reason")).to_have_value("It charged people twice.")
    assert acts.entry(account).version == 8
    page.get_by_role("button", name="Roll back to v4").click()
    expect(page.locator(".toast")).to_contain_text("v9 is current")


def test_two_versions_are_compared_by_keyboard_and_swapped(visit, vera, spoiled):
    page = visit(vera, ENTRY)
    page.keyboard.press("c")
    page.wait_for_url("**/entry/compare/**")
    heading(page, "What changed from v4 to v7")
    page.get_by_label("From").select_option("1")
    heading(page, "What changed from v1 to v7")
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("s")
    heading(page, "What changed from v7 to v1")


def test_any_two_versions_are_chosen_in_the_list(visit, vera, spoiled):
    page = visit(vera, ENTRY)
    page.get_by_role("radio", name="Compare from v1").check()
    page.get_by_role("radio", name="Compare to v5").check()
    page.get_by_role("button", name="Compare").click()
    heading(page, "What changed from v1 to v5")


def test_older_versions_come_into_the_page(visit, vera, account):
    for number in range(70):
        acts.put(account, number)
    page = visit(vera, ENTRY)
    page.get_by_role("link", name="20 older versions").click()
    expect(page.locator("#versions")).to_contain_text("v20")
    expect(page.locator("#versions")).not_to_contain_text("v70")
    expect(page).to_have_url(re.compile("before=21"))
    page.get_by_role("link", name="Newer versions").click()
    expect(page.locator("#versions")).to_contain_text("v70")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_timeline_is_drawn_with_steps_outcomes_claims_and_forecast(visit, vera, spoiled, theme):
    page = visit(vera, ENTRY, theme=theme)
    drawn = page.evaluate("""() => {
        const chart = Chart.getChart(document.querySelector("canvas[data-chart=timeline]"));
        const named = Object.fromEntries(chart.data.datasets.map((set) => [set.label, set.data.length]));
        const lines = chart.options.plugins.annotation.annotations;
        return { ...named, claims: Object.keys(lines).filter((name) => /^claim\\d+$/.test(name)).length };
    }""")
    assert (drawn["confidence"], drawn["success"], drawn["failure"], drawn["claims"]) == (8, 3, 2, 2)
    assert drawn["forecast"] > 10


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_and_nothing_moves_or_overflows(visit, rex, spoiled, axe, name, width, theme):
    page = visit(rex, PAGES[name], width=width, theme=theme)
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.shifts") < 0.02


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("page_name", ["", "compare/", "rollback/"])
def test_long_foreign_and_hostile_names_fit(visit, rex, account, axe, width, page_name):
    path, key, agent = "服務/" + "long-" * 60, "naïve <b>\u202eهل " + "k" * 200, "agent/" + "x" * 200
    for word in ("一", "二"):
        acts.put(
            account, {"k" * 300: word * 400, "text": "a " * 500 + word}, path=path, key=key, by=agent, reason="r" * 300
        )
    acts.told(account, "t" * 200, "failure", f"{path}/{key}", by=agent, verified_by="v" * 100)
    page = visit(rex, f"/entry/{page_name}?{urlencode({'path': path, 'key': key})}", width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe(page) == []


def test_on_a_phone_the_lines_stand_below_each_other(visit, vera, spoiled):
    def tops(width: int) -> list[float]:
        row = visit(vera, COMPARE, width=width).locator("#lines-h").locator("xpath=../..").locator("tr.d").first
        return [row.locator(f"td.{side}").last.bounding_box()["y"] for side in ("old", "new")]

    (wide_old, wide_new), (old, new) = tops(1440), tops(390)
    assert wide_old == wide_new
    assert old < new


def test_what_stands_in_the_boxes_to_copy_runs(visit, vera, account, api_key, server, tmp_path):
    acts.put(account, "what was learned", path="it's ours", key='a "b" $c', now=story.days_ago(1))
    page = visit(vera, "/entry/?" + urlencode({"path": "it's ours", "key": 'a "b" $c'}))
    environment = {**os.environ, "SENSELAB_KEY": api_key}
    curl = page.locator("#get-curl").text_content()
    answer = subprocess.run(["bash", "-c", curl], env=environment, capture_output=True, text=True, check=True)
    assert '"value":"what was learned"' in answer.stdout
    page.get_by_role("radiogroup", name="Language").get_by_text("Python").click()
    script = page.locator("#get-python").text_content()
    answer = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert answer.stdout == "what was learned 1.0\n"
    assert server.url in curl

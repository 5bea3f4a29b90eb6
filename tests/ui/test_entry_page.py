"""The page of one entry: what it shows, who may see it, and what it costs."""

import json
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories import recalls
from memories.entry import timeline, why
from memories.recalls import Read
from memories.rules.kinds import OutcomeType
from memories.rules.policy import DEFAULT
from outcomes.rules import Attempt
from tests.db import acts
from tests.ui import story


def test_nothing_is_visible_without_login(client, spoiled):
    for page in ("", "value/", "compare/", "rollback/"):
        response = client.get(f"/entry/{page}?path=shop&key=retry")
        assert response.status_code == 302
        assert response["Location"].startswith("/login/?next=/entry/")


@pytest.mark.parametrize("page", ["", "value/", "compare/", "rollback/"])
def test_what_is_in_another_account_does_not_exist(look, spoiled, other_account, rex, page):
    acts.put(other_account, "secret of a rival", path="rival", key="plan")
    acts.put(other_account, "again", path="rival", key="plan")
    there = look(page, by=rex, path="rival", key="plan")
    nowhere = look(page, by=rex, path="nobody", key="plan")
    assert (there.status, nowhere.status) == (404, 404)
    assert there.text == nowhere.text
    assert "secret" not in there.html


@pytest.mark.parametrize("query", [{"path": ""}, {"key": ""}, {"path": "a\0b"}, {"key": "k" * 600}, {"before": "-1"}])
def test_an_address_that_names_nothing_is_not_found(look, spoiled, query):
    assert look(**query).status == 404


def test_the_head_says_what_kind_of_thing_it_is_and_how_it_stands(look, spoiled):
    page = look()
    head = re.search(r'<div class="head">.*?</div>', page.html, re.S)[0]
    for words in ("shop", "retry", "Discredited", "Active", "Belief", "Archive", "v7"):
        assert words in head, words


def test_pinned_private_expiring_and_labelled_entries_say_so(look, account):
    ends = timezone.now() + timedelta(days=4, hours=2)
    acts.put(account, 1, key="risk-order", shared=False, pinned=True, ttl_at=ends, now=timezone.now())
    text = look(key="risk-order").text
    for words in ("Pinned", "Private", "of agent/ada", "expires in 4 d", " risk "):
        assert words in text, words


def test_a_doubtful_entry_says_in_a_sentence_what_is_wrong_and_where_to_go(look, spoiled, rex):
    page = look(by=rex)
    note = re.search(r'<p class="note bad">.*?</p>', page.html, re.S)[0]
    day = story.days_ago(12)
    assert f"2 failures in 3 days after the claim was rewritten on {day.day} {day:%B}; 0.80 to 0." in note
    assert "Agents get it only as a warning." in note
    assert "/entry/compare/?path=shop&amp;key=retry&amp;from=4&amp;to=7" in note
    assert "/entry/rollback/?path=shop&amp;key=retry&amp;to=4" in note


def test_an_entry_nobody_doubts_has_no_warning(look, account):
    acts.put(account, "fine", now=timezone.now())
    acts.told(account, "t", now=timezone.now())
    assert 'class="note' not in look().html


def test_viewers_see_no_button_that_changes_anything(look, spoiled, vera, rex):
    assert "rollback" not in look(by=vera).html
    assert "rollback" in look(by=rex).html


def test_the_value_is_shown_as_text_tree_json_raw_and_a_procedure_as_steps(look, account):
    acts.put(
        account, {"goal": "ship", "steps": ["Tag it", {"action": "Deploy", "wait": "1 h"}]}, memory_type="procedure"
    )
    said = look().said("value-h")
    assert [word for word in ("Steps", "Text", "Tree", "JSON", "Raw") if word in said] == [
        "Steps",
        "Text",
        "Tree",
        "JSON",
        "Raw",
    ]
    assert re.search(r"<ol[^>]*>\s*<li><span class=\"text\">Tag it</span></li>", look().html)


def test_a_whole_value_is_sent_as_it_came(look, account):
    acts.put(account, {"b": 1.0, "a": "é"})
    acts.put(account, 2)
    response = look("value/", version=1).response
    assert response["Content-Type"] == "application/json"
    assert response.content.decode() == json.dumps({"b": 1.0, "a": "é"})
    assert look("value/").html == "2"
    assert look("value/", version=9).status == 404


def test_confidence_comes_with_its_arithmetic(look, spoiled, account):
    page = look()
    told = why.story(acts.viewer(account, sees_all=True), spoiled).steps[-1]
    rows = page.rows("why-h")
    assert rows[0] == "v7 p2 incident of INC-2291"
    numbers = [float(re.search(r"(\S+)$", row)[1].replace("\u2212", "-")) for row in rows[1:]]
    assert numbers[: len(told.lines) - 1] == pytest.approx([line.number for line in told.lines[:-1]], abs=0.0006)
    confidence, freshness, effective = numbers[-3:]
    assert confidence == pytest.approx(told.row.state.confidence, abs=0.0006)
    assert confidence * freshness == pytest.approx(effective, abs=0.002)
    assert "untouched for 4 days" in page.said("why-h")
    assert "evidence-v1@1" in page.said("why-h")


def test_what_another_policy_moved_is_told_with_the_factors_of_that_one(look, account):
    acts.put(account, 1, now=timezone.now())
    account.policy_version, account.policy_values = 2, {"verified_weight": 4.0}
    account.save()
    acts.told(account, "t", "failure", verified_by="CI", now=timezone.now())
    page = look()
    assert "failure of t" in page.said("why-h")
    assert re.search(r"verified from outside the agent 1\.5\b", page.text)
    assert "data-sum" not in page.html


def test_the_timeline_is_drawn_from_a_table_of_every_step(look, spoiled):
    page = look()
    steps = re.findall(r"<tr data-v=[^>]*>", page.section("timeline-h"))
    kinds = [re.search(r'data-kind="(\w+)"', step)[1] for step in steps]
    assert kinds == ["outcome", "outcome", "claim", "outcome", "outcome", "outcome", "claim"]
    assert 'data-what="p2 incident" data-ok="0"' in steps[0]
    assert 'data-verified="1" data-sum="weight ' in steps[0]
    assert "\u00f7 2" in steps[0]
    assert 'data-table="timeline-data" data-forecast="timeline-ahead"' in page.html
    assert "INC-2291" in page.said("timeline-h")
    assert "Confidence was 0.70 on" in page.html


def test_the_forecast_is_that_of_the_rules(look, spoiled, account):
    page = look()
    row = acts.entry(account)
    silence = why.silence_of(row)
    points = re.findall(r'<tr data-t="([^"]*)" data-c="([^"]*)"( data-mark="[^"]*")?>', page.section("timeline-h"))
    assert len(points) > 10
    for moment, effective, _ in points[1:-1]:
        expected = silence.effective(timezone.datetime.fromisoformat(moment) + timedelta(seconds=1), DEFAULT)
        assert float(effective) == pytest.approx(expected, abs=0.006)
    due = silence.forecast(DEFAULT).under_review_at
    assert [mark for _, _, mark in points if mark] == [' data-mark="review line"']
    assert f"goes under review on {due.day} {due:%b %Y}" in page.html


@pytest.mark.parametrize("status", ["pinned", "superseded"])
def test_what_silence_does_not_touch_has_no_forecast(look, account, status):
    acts.put(account, 1, pinned=status == "pinned", now=story.days_ago(3))
    if status == "superseded":
        change(account, "superseded")
    assert "timeline-ahead" not in re.sub("data-forecast[^ ]*", "", look().html)


def change(account, status):
    """Put an entry into a status the way a decision does."""
    acts.rows_of("UPDATE memories_entry SET status = %s WHERE account_id = %s RETURNING id", status, account.pk)


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("archived", "It is archived. Agents find it only by its exact key"),
        ("superseded", "It is superseded and nothing took its place."),
        ("under_review", "It is under review. It waits for a review"),
    ],
)
def test_every_status_is_shown_with_a_sentence(look, account, status, sentence):
    acts.put(account, "told", now=timezone.now())
    change(account, status)
    page = look()
    assert page.status == 200
    assert sentence in page.text
    assert "told" in page.said("value-h")


def test_an_expired_entry_is_shown_and_said_to_be_over(look, account):
    acts.put(account, "told", ttl_at=story.days_ago(1), now=story.days_ago(3))
    page = look()
    assert "Its time to live is over. Agents do not find it any more" in page.text
    assert "Expired" in page.text


def test_versions_say_who_when_and_why(look, spoiled):
    rows = look().rows("versions-h")
    assert len(rows) == 8
    day = story.days_ago(12)
    assert "v5" in rows[3]
    for words in ("Claim rewritten", "retry harder", "0.80", "agent/bob", f"{day.day} {day:%b}"):
        assert words in rows[3], words
    assert "last validated" in rows[4]
    assert "current" in rows[1]


def test_fifty_versions_are_shown_and_the_older_ones_a_link_away(look, account):
    for number in range(120):
        acts.put(account, number)
    page = look()
    assert len(page.rows("versions-h")) == 51
    older = next(link for link in page.links() if "before=71" in link)
    assert older == "/entry/?path=shop&key=retry&before=71#versions"
    part = look(before=71, htmx=True)
    assert part.html.lstrip().startswith('<section class="card" id="versions"')
    assert [row.split()[0] for row in part.rows("versions-h")[1:]] == [f"v{n}" for n in range(70, 20, -1)]
    assert "Newer versions" in part.text
    assert len(look(before=21).rows("versions-h")) == 21


def test_outcomes_say_what_they_did_even_when_nothing(look, spoiled, account):
    acts.told(account, "late", "success", versions={"shop/retry": 2}, now=timezone.now())
    rows = look().rows("outcomes-h")
    assert rows[0].startswith("success late")
    assert "moved nothing" in rows[0]
    assert "rewritten" in rows[0]
    assert re.search(r"INC-2291 · agent/ada 0\.\d\d → 0\.\d\d", rows[1])
    assert "Of all its claims: +3 \u22122" in look().said("outcomes-h")


def test_it_says_where_it_comes_from(look, account):
    acts.put(account, 1, path="payments", key="idempotency")
    acts.put(
        account,
        1,
        pattern_refs=("payments/idempotency", "nowhere/else"),
        artifact_refs=[{"uri": "git://x"}],
        reason="a dry run",
    )
    read = [Read(acts.entry(account).entry_id, 1, acts.BOB, "s", acts.NOON, 200)] * 3
    recalls.write(account.pk, DEFAULT, read)
    page = look()
    said = page.said("origin-h")
    for words in (
        "agent/ada",
        "a dry run",
        "Production, observed",
        "1 agent, 3 times since v1",
        "agent/bob 3",
        "git://x",
    ):
        assert words in said, words
    assert "sealed and chained" in said
    assert "/entry/?path=payments&key=idempotency" in page.links()
    assert not any("nowhere" in link for link in page.links())


def test_a_value_that_does_not_fit_its_hash_shows(look, account):
    acts.put(account, "what was said")
    acts.rows_of("UPDATE memories_claim SET value = '\"forged\"' WHERE account_id = %s RETURNING id", account.pk)
    assert "does not fit its history" in look().text


def test_private_entries_of_the_same_name_stand_beside_the_shared_one(look, account):
    acts.put(account, "for all")
    acts.put(account, "of ada", shared=False)
    acts.put(account, "of bob", shared=False, by=acts.BOB)
    assert "for all" in look().said("value-h")
    assert "/entry/?path=shop&key=retry&owner=agent%2Fbob" in look().links()
    assert "of bob" in look(owner=acts.BOB).said("value-h")
    assert look(owner="agent/nobody").status == 404


def test_a_name_that_only_a_private_entry_has_leads_to_that(look, account):
    acts.put(account, "of bob", shared=False, by=acts.BOB)
    page = look()
    assert "of bob" in page.said("value-h")
    assert "X-AMFS-Agent-Id: agent/bob" in page.text


def test_get_it_has_this_address_and_these_names_quoted(look, account):
    acts.put(account, 1, path="it's/ours", key="a\u202eb")
    page = look(path="it's/ours", key="a\u202eb")
    assert "curl -G http://testserver/api/v1/entry" in page.text
    assert "entity_path=it%27s%2Fours" in page.text
    assert "key=a%E2%80%AEb" in page.text
    assert """memory.read("it's/ours", 'a\\u202eb')""" in page.text


def test_hostile_names_and_values_are_shown_as_what_they_are(look, account):
    evil = '<script>alert(1)</script>"\u202e'
    acts.put(account, {evil: evil}, path=evil, key=evil, by=f"agent/{evil}", reason=evil, pattern_refs=(evil,))
    acts.told(account, evil, "success", f"{evil}/{evil}", by=f"agent/{evil}", verified_by=evil)
    page = look(path=evil, key=evil)
    assert page.status == 200
    assert "<script>alert" not in page.html
    assert "\u202e" not in page.text


def written(account, versions):
    """Make an entry with so many versions, most of them by outcomes."""
    acts.put(account, {"n": 0}, confidence=0.6, pattern_refs=("shop/other",), now=story.days_ago(300))
    made = 1
    while made < versions:
        more = min(100, versions - made) - 1
        tried = tuple(
            Attempt(n, OutcomeType("success" if n % 3 else "failure"), ("shop/retry",)) for n in range(1, more)
        )
        now = story.days_ago(300 - 290 * made / versions)
        acts.put(account, {"n": made}, confidence=0.6, pattern_refs=("shop/other",), now=now)
        if more > 0:
            acts.told(account, f"task-{made}", attempts=tried, now=now + timedelta(hours=5))
        made = acts.entry(account).version


def test_the_page_costs_the_same_with_ten_versions_and_with_a_thousand(look, account, rex):
    counts = []
    for versions in (10, 1_000):
        written(account, versions)
        assert acts.entry(account).version >= versions
        look(by=rex)
        with CaptureQueriesContext(connection) as queries:
            page = look(by=rex)
        counts.append(len(queries))
        assert len(page.html.encode()) < 150_000
    assert counts[0] == counts[1] <= 12


def test_a_long_history_keeps_its_peaks_and_lows_in_the_chart(look, account):
    written(account, 600)
    page = look()
    shown = {float(value) for value in re.findall(r'<tr data-v="\d+" data-t="[^"]*" data-c="([^"]*)"', page.html)}
    ((low, high),) = acts.rows_of(
        "SELECT min(confidence), max(confidence) FROM memories_entryversion WHERE account_id = %s", account.pk
    )
    assert {round(low, 3), round(high, 3)} <= shown
    assert len(shown) < timeline.WHOLE
    assert re.search(r"\d+ of 6\d\d steps", page.text)


def test_a_value_of_a_megabyte_is_cut_and_leads_to_the_whole(look, account):
    acts.put(account, "word " * 200_000)
    page = look()
    assert len(page.html.encode()) < 150_000
    assert "/entry/value/?path=shop&key=retry" in page.links()


def test_keys_stand_on_the_buttons_they_press(look, spoiled, rex):
    page = look(by=rex)
    assert re.search(r'<a class="btn primary" href="/entry/rollback/[^"]*" data-key="b"', page.html)
    assert re.search(r'<button class="btn sm" data-key="c"', page.html)

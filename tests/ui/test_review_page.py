"""The review queue: what waits, one item open, deciding about it, undo, and two reviewers at once."""

import html as entities
import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories import recalls
from memories.models.review import ReviewMark
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from tests.db import acts
from tests.ui import story
from tests.ui.conftest import Page

ALIKE = {"summary": "Retry idempotent calls, at most 3 times.", "max": 3}


@pytest.fixture
def queue(account, spoiled):
    """Four that wait: retry is discredited, low is under review, mixed is contested, ends expires soon."""
    acts.put(account, ALIKE, key="retry-2", confidence=0.9, now=story.days_ago(3))
    acts.put(account, "a guess", key="low", confidence=0.2, by=acts.BOB, now=story.days_ago(2))
    acts.put(account, "in doubt", path="shop/cart", key="mixed", confidence=0.7, now=story.days_ago(9))
    for number, kind in enumerate(("success", "failure", "success", "success")):
        acts.told(account, f"mix-{number}", kind, "shop/cart/mixed", now=story.days_ago(8 - number))
    acts.put(account, "soon gone", path="ops", key="ends", ttl_at=story.days_ago(-1), now=story.days_ago(0.1))
    return {key: acts.entry(account, path=path, key=key).entry_id for path, key in PLACES}


PLACES = [("shop", "retry"), ("shop", "low"), ("shop/cart", "mixed"), ("ops", "ends")]


class Desk:
    """A person at the queue."""

    def __init__(self, client):
        self.client = client

    def see(self, query="", *, htmx=False, **asked):
        headers = {"HX-Request": "true"} if htmx else {}
        return Page(self.client.get(f"/review/?{query or urlencode(asked, doseq=True)}", headers=headers))

    def evidence(self, item, *, htmx=False):
        headers = {"HX-Request": "true"} if htmx else {}
        return Page(self.client.get(f"/review/evidence/?item={item}", headers=headers))

    def decide(self, entry, version, decision, *, htmx=False, query="", follow=True, **form):
        headers = {"HX-Request": "true"} if htmx else {}
        form = {"entry": entry, "version": version, "decision": decision, **form}
        return Page(self.client.post(f"/review/decide/?{query}", form, headers=headers, follow=follow and not htmx))


@pytest.fixture
def rexes(client_of, rex):
    return Desk(client_of(rex))


@pytest.fixture
def veras(client_of, vera):
    return Desk(client_of(vera))


def keys(page):
    return re.findall(r'<li class="row" data-item.*?<b title="([^"]*)"', page.html)


def heading(page):
    return re.sub(r"<[^>]*>", "", re.search(r'<h2 id="item-h".*?</h2>', page.html)[0])


def state(account, path="shop", key="retry"):
    return acts.entry(account, path=path, key=key, now=timezone.now())


def toast(page):
    found = re.search(r'<div class="toast [^"]*"><bdi>(.*?)</bdi>', page.html)
    return entities.unescape(found[1]) if found else ""


def undo_of(page):
    return entities.unescape(re.search(r'<div class="toast.*?action="(/review/undo/[^"]*)"', page.html)[1])


def test_the_queue_says_what_waits_and_the_most_doubtful_is_open(veras, queue):
    page = veras.see()
    assert page.status == 200
    assert set(keys(page)) == {"shop/retry", "shop/low", "shop/cart/mixed", "ops/ends"}
    assert heading(page) == keys(page)[0]
    for words in ("4 wait", "under review 1", "discredited 1", "contested 1", "expiring soon 1"):
        assert words in page.text, words


def test_an_item_says_why_it_is_here_and_what_a_reviewer_decides_by(rexes, queue, account):
    now = timezone.now()
    recalls.write(account.pk, DEFAULT, [Read(queue["retry"], 6, "agent/reader", "s", now, 200)] * 3)
    page = rexes.see(item=queue["retry"])
    for words in ("2 failures in 3 days; 0.8", "Against v4, the last validated version", "the claim of v4, "):
        assert words in " ".join(page.text.split()).replace(" / ", "/"), words
    assert any("max 3 6" in row for row in page.rows("diff-h"))
    assert f'hx-get="/review/evidence/?item={queue["retry"]}" hx-trigger="load"' in page.html
    aside = rexes.evidence(queue["retry"])
    for words in (
        "INC-2291",
        "verified by pager",
        "1 agent, 3 times",
        "2 tasks, 2 failed",
        "shop/retry-2",
        "Nobody has said anything yet",
    ):
        assert words in " ".join(aside.text.split()).replace(" / ", "/"), words
    assert "<!doctype html>" in aside.html
    assert rexes.evidence(queue["retry"], htmx=True).html.startswith('<aside class="pane evidence')


@pytest.mark.parametrize("item", ["", 10**17, "x"])
def test_there_is_no_evidence_about_what_is_not_there(veras, queue, item):
    assert veras.evidence(item).status == 404


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("reason=discredited", {"shop/retry"}),
        ("reason=discredited&reason=expiring", {"shop/retry", "ops/ends"}),
        ("path=shop", {"shop/retry", "shop/low", "shop/cart/mixed"}),
        ("path=shop/cart", {"shop/cart/mixed"}),
        ("agent=agent/bob", {"shop/retry", "shop/low"}),
        ("age=day", {"ops/ends"}),
        ("age=over-month", set()),
        ("reason=rejected", set()),
    ],
)
def test_filters_leave_what_they_name(veras, queue, query, found):
    page = veras.see(query)
    assert set(keys(page)) == found
    assert page.status == 200
    assert ("Nothing like this waits" in page.text) is (not found)


@pytest.mark.parametrize("query", ["reason=bored", "age=old", "cursor=x", "sort=luck", "path=%00"])
def test_what_an_address_cannot_ask_is_said(veras, queue, query):
    page = veras.see(query)
    assert page.status == 400
    assert 'role="alert"' in page.html


@pytest.mark.parametrize("item", [10**17, 10**30, "x"])
def test_an_item_that_is_gone_is_not_found_and_nonsense_opens_the_first(veras, queue, item):
    assert veras.see(item=item).status == (404 if item == 10**17 else 200)


def test_another_accounts_entries_do_not_exist(veras, queue, other_account):
    stored = acts.put(other_account, "secret", path="rival", key="plan", confidence=0.1)
    assert veras.see(item=stored.entry_id).status == 404
    assert veras.evidence(stored.entry_id).status == 404
    assert "rival" not in veras.see().html


@pytest.mark.parametrize(
    ("word", "said", "made"),
    [
        ("accept", "Accepted shop/retry.", {"positive_reinforcement": 1, "status": "active"}),
        ("reject", "Rejected shop/retry.", {"negative_reinforcement": 1}),
        ("archive", "Archived shop/retry.", {"status": "archived"}),
        ("snooze", "Put off shop/retry.", {"status": "active"}),
        ("pin", "Pinned shop/retry.", {"pinned": True}),
        ("rollback", "Rolled back shop/retry to v4.", {"evidence_status": "validated"}),
    ],
)
def test_a_decision_is_made_undone_and_back_in_its_place(rexes, queue, account, word, said, made):
    before = keys(rexes.see())
    page = rexes.decide(queue["retry"], 7, word, reason="seen in the logs", to=4)
    row = state(account)
    assert (page.status, toast(page), row.version) == (200, said, 8)
    assert {name: getattr(row.state, name) for name in made} == made
    # A rejection drops it below the line, so that it waits for another reason.
    assert ("shop/retry" in keys(page)) is (word == "reject")
    ((reason, kind),) = acts.rows_of(
        "SELECT reason, kind FROM memories_changeset WHERE account_id = %s ORDER BY id DESC LIMIT 1", account.pk
    )
    assert (reason, kind) == ("seen in the logs", "decision")
    back = Page(rexes.client.post(undo_of(page), follow=True))
    assert toast(back) == "Undone: 1 entry is as before."
    assert (heading(back), keys(back)) == ("shop/retry", before)
    assert state(account).state.evidence_status == "discredited"


def test_what_is_just_decided_is_listed_until_it_is_taken_back(rexes, queue):
    page = rexes.decide(queue["retry"], 7, "accept")
    assert re.search(r"Just decided.*retry.*Accept", page.text)
    back = Page(rexes.client.post(undo_of(page), follow=True))
    assert "Just decided" not in back.text


def test_the_next_item_is_there_at_once_with_the_list_and_the_toast_out_of_band(rexes, queue, account):
    ids = [queue[key.rsplit("/", 1)[1]] for key in keys(rexes.see())]
    page = rexes.decide(
        ids[0], acts.head(account, ids[0]).version, "accept", htmx=True, query="sort=doubt", next=ids[1]
    )
    assert page.html.lstrip().startswith('<section class="item" id="item"')
    assert f'name="entry" value="{ids[1]}"' in page.html
    assert page.response["HX-Push-Url"] == f"/review/?sort=doubt&item={ids[1]}"
    for part in ('id="queue" class="stack" hx-swap-oob="true"', 'id="evidence"', 'hx-swap-oob="beforeend:#toasts"'):
        assert part in page.html, part
    assert toast(page).startswith("Accepted")


def test_after_the_last_item_the_queue_begins_again(rexes, queue):
    page = rexes.decide(queue["retry"], 7, "accept", next="")
    assert heading(page) == keys(page)[0]


def test_an_edit_writes_a_new_claim_by_the_person(rexes, queue, account):
    page = rexes.see(item=queue["retry"], how="edit")
    assert "What it should say" in page.text
    typed = '{"summary": "Ask first.", "max": 12345678901234567890}'
    rexes.decide(queue["retry"], 7, "edit", value=typed, value_as="json", confidence="0.8", memory_type="fact")
    row = state(account)
    assert ("12345678901234567890" in row.value, row.state.confidence, row.state.memory_type) == (True, 0.8, "fact")
    assert row.agent_id.startswith("rex-")


def test_a_text_is_edited_as_words(rexes, queue, account):
    page = rexes.see(item=queue["low"], how="edit")
    assert ">a guess</textarea>" in page.html
    rexes.decide(queue["low"], 1, "edit", value="two\r\nlines", value_as="text", confidence="0,9")
    assert (state(account, key="low").value, state(account, key="low").state.confidence) == ('"two\\nlines"', 0.9)


def test_another_entry_or_a_new_one_takes_the_place(rexes, queue, account):
    rexes.decide(queue["retry"], 7, "supersede", superseded_by="shop/retry-2")
    assert (state(account).state.status, state(account).state.superseded_by) == ("superseded", "shop/retry-2")
    rexes.decide(queue["low"], 1, "supersede", replacement="what is known")
    assert state(account, key="low").state.superseded_by == "shop/low-2"
    assert state(account, key="low-2").value == '"what is known"'


def test_a_comment_stays_on_the_item_and_can_be_taken_back(rexes, queue):
    page = rexes.decide(queue["retry"], 7, "comment", text="The 409 charged twice.", next=queue["low"])
    assert (heading(page), toast(page)) == ("shop/retry", "Commented on shop/retry.")
    assert "The 409 charged twice." in rexes.evidence(queue["retry"]).text
    rexes.client.post(undo_of(page), follow=True)
    assert "The 409 charged twice." not in rexes.evidence(queue["retry"]).text


def test_a_skip_writes_nothing_and_moves_on(rexes, queue, account):
    page = rexes.decide(queue["retry"], 7, "skip", next=queue["low"])
    assert (heading(page), state(account).version, toast(page)) == ("shop/low", 7, "")


def test_a_snooze_ends_on_its_day(rexes, queue):
    day = (timezone.now() + timedelta(days=9)).date()
    page = rexes.decide(queue["retry"], 7, "snooze", until=day.isoformat())
    assert "shop/retry" not in keys(page)
    mark = ReviewMark.objects.get(account_id=page.response.wsgi_request.person_account.pk, entry_id=queue["retry"])
    assert mark.snoozed_until.date() == day
    assert "It was put off" in rexes.see(item=queue["retry"]).text


def test_who_decides_about_what_somebody_just_decided_is_told_and_led_on(rexes, queue, client_of, ada, account):
    adas = Desk(client_of(ada))
    adas.decide(queue["retry"], 7, "reject", reason="it charged twice")
    page = rexes.decide(queue["retry"], 7, "accept", reason="looks fine", next=queue["low"])
    assert (page.status, heading(page), state(account).version) == (409, "shop/low", 8)
    for words in (
        "rejected it at",
        "So your decision was not made",
        "it charged twice",
        "looks fine",
        "now v8",
    ):
        assert words in page.text.replace(" / ", "/"), words
    assert re.search(r"ada-\w+ rejected it", page.text)


def test_when_the_version_moved_otherwise_the_new_difference_comes_and_nothing_is_lost(rexes, queue, account):
    acts.put(account, {"summary": "Retry every call, up to 9 times.", "max": 9}, by=acts.BOB, now=timezone.now())
    page = rexes.decide(queue["retry"], 7, "edit", value="half a thought", value_as="json", reason="because", htmx=True)
    assert page.status == 422
    page = rexes.decide(queue["retry"], 7, "edit", value='"half a thought"', value_as="json", reason="because")
    assert (page.status, heading(page), state(account).version) == (412, "shop/retry", 8)
    assert "It moved to v8 while you looked at v7" in page.text
    assert any("max 6 9" in row for row in page.rows("since-h"))
    assert 'name="version" value="8"' in page.html
    assert "&quot;half a thought&quot;</textarea>" in page.html
    assert ">because</textarea>" in page.html
    assert rexes.decide(queue["retry"], 8, "edit", value='"half a thought"', value_as="json").status == 200


@pytest.mark.parametrize(
    ("word", "form", "words"),
    [
        ("edit", {"value": "{", "value_as": "json"}, ""),
        ("edit", {"value": "x", "confidence": "2"}, "a number from 0 to 1"),
        ("supersede", {}, "Name the entry that supersedes"),
        ("supersede", {"superseded_by": "shop/retry"}, "cannot replace itself"),
        ("supersede", {"superseded_by": "shop/nowhere"}, ""),
        ("snooze", {"until": "2020-01-01"}, "ends in the future"),
        ("snooze", {"until": "tomorrow"}, "A day is meant"),
        ("comment", {"text": "  "}, "A comment has 1 to"),
        ("accept", {"reason": "r" * 2_001}, "at most 2,000"),
        ("sing", {}, "Choose a decision"),
    ],
)
def test_what_cannot_be_is_said_on_the_item_and_changes_nothing(rexes, queue, account, word, form, words):
    page = rexes.decide(queue["retry"], 7, word, **form)
    assert (page.status, state(account).version) == (422, 7)
    assert "Nothing was changed." in page.text
    assert words in page.text


@pytest.mark.parametrize(("entry", "version", "status"), [(10**17, 1, 404), ("", 7, 422), ("retry", "", 422)])
def test_a_decision_says_about_what(rexes, queue, entry, version, status):
    assert rexes.decide(queue.get(entry, entry), version, "accept").status == status


def test_a_version_that_never_was_is_not_found(rexes, queue):
    assert rexes.decide(queue["retry"], 99, "accept").status == 404


def test_an_undo_that_comes_too_late_says_so_and_leaves_what_is_there(rexes, queue, account):
    page = rexes.decide(queue["retry"], 7, "accept")
    acts.put(account, "new", by=acts.BOB, now=timezone.now())
    back = Page(rexes.client.post(undo_of(page), follow=True))
    assert toast(back).startswith("Not undone:")
    assert state(account).version == 9


def test_opening_an_item_claims_it_for_a_minute(rexes, queue, client_of, ada):
    rexes.see(item=queue["retry"])
    page = Desk(client_of(ada)).see(item=queue["retry"])
    assert re.search(r"rex-\w+ has this open", page.text)
    assert re.search(r"rex-\w+ has it open", page.text)
    assert "has this open" not in rexes.see(item=queue["retry"]).text


def test_viewers_see_everything_and_no_buttons_and_claim_nothing(veras, queue, account):
    page = veras.see(item=queue["retry"])
    assert "Against v4" in page.text
    for button in ('name="decision"', 'name="pick"', "Decide about them"):
        assert button not in page.html
    assert not ReviewMark.objects.filter(account_id=account.pk).exclude(claimed_by="").exists()


def test_viewers_are_refused(veras, queue, account):
    assert veras.decide(queue["retry"], 7, "accept").status == 403
    assert veras.client.post("/review/undo/1/").status_code == 403
    assert state(account).version == 7


def test_an_empty_queue_says_so(veras, account):
    page = veras.see()
    assert (page.status, "Nothing waits for a decision" in page.text) == (200, True)


def test_hostile_names_are_shown_as_what_they_are(rexes, account):
    acts.put(account, "<b>x</b>", path="a<i>b", key="k\u202e<script>", confidence=0.1, by="agent/<u>")
    page = rexes.see()
    assert "<script>" not in page.html.replace("<script ", "")
    assert "\\u202e" in page.html


def test_the_number_of_statements_is_the_same_for_any_queue(rexes, account):
    counts = []
    for size in (10, 300):
        acts.fill(account, size, path=f"shop/{size}", confidence=0.2, now=story.days_ago(2))
        for query in ("", "reason=under_review&path=shop"):
            rexes.see(query)
            with CaptureQueriesContext(connection) as ran:
                assert rexes.see(query).status == 200
            counts.append(len(ran))
    assert counts[:2] == counts[2:]
    assert max(counts) <= 12


def test_an_entry_is_sent_to_review_from_its_own_page(rexes, queue, account):
    page = Page(rexes.client.get("/entry/?path=shop&key=retry"))
    assert "Send to review" in page.text
    page = rexes.decide(queue["retry"], 7, "send", back="entry")
    assert toast(page) == "Sent to review: shop/retry."
    assert "Send to review" not in page.text.replace("Sent to review", "")
    assert state(account).state.status == "under_review"

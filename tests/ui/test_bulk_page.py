"""One decision about many: the preview, the act, what is left alone, and runs."""

import re

import pytest
from django.utils import timezone

from memories.models import ChangeSet
from memories.models.review import BulkRun
from memories.services import bulk_run
from tests.db import acts
from tests.ui import story
from tests.ui.conftest import Page


@pytest.fixture
def waiting(account):
    """Sixty under review, k0 to k59; their ids."""
    return acts.fill(account, 60, confidence=0.2, now=story.days_ago(2))


@pytest.fixture
def post(client_of, rex):
    client = client_of(rex)

    def posted(path="/review/bulk/", **form):
        return Page(client.post(path, form, follow=True))

    return posted


def picks(ids, version=1):
    return [f"{entry_id}:{version}" for entry_id in ids]


def statuses(account):
    return dict(
        acts.rows_of("SELECT status, count(*) FROM memories_entry WHERE account_id = %s GROUP BY 1", account.pk)
    )


def left(page):
    """Return the values of the boxes that are still ticked."""
    return re.findall(r'name="pick" value="([^"]*)" checked', page.html)


def test_a_selection_is_previewed_and_nothing_is_written(post, waiting, account):
    page = post(pick=picks(waiting[:3]))
    assert page.status == 200
    for words in ("Decide about 3 entries", "3 under review", "shop / k0", "nothing has been written"):
        assert words in page.text, words
    assert left(page) == picks(waiting[:3])
    assert statuses(account) == {"under_review": 60}


def test_a_selection_is_decided_about_in_one_change_set_with_one_undo(post, waiting, account):
    page = post(pick=picks(waiting[:3]), decision="archive", reason="old", confirm=1)
    assert "Archived 3 entries." in page.text
    assert statuses(account) == {"under_review": 57, "archived": 3}
    (change_set,) = ChangeSet.objects.filter(account_id=account.pk, kind="decision")
    assert (change_set.size, change_set.reason) == (3, "old")
    undo = re.search(r'<div class="toast.*?action="(/review/undo/[^"]*)"', page.html)[1]
    assert "Undone: 3 entries are as before." in post(undo).text
    assert statuses(account) == {"under_review": 60}


def test_all_that_match_are_meant_across_pages(post, waiting, account):
    acts.put(account, "elsewhere", path="ops", confidence=0.1, now=story.days_ago(2))
    page = post("/review/bulk/?path=shop&cursor=ignored", all=1)
    for words in ("Decide about 60 entries", "All that match: under shop", "60 under review", "The first 20 of 60"):
        assert words in page.text, words
    page = post("/review/bulk/?path=shop", all=1, decision="archive", confirm=1)
    assert "Archived 60 entries." in page.text
    assert statuses(account) == {"archived": 60, "under_review": 1}


def test_the_whole_queue_has_to_be_typed_out(post, waiting, account):
    assert "Type “everything”" in post(all=1).text
    page = post(all=1, decision="archive", confirm=1, everything="yes")
    assert (page.status, "type “everything” if that is meant" in page.text) == (422, True)
    assert statuses(account) == {"under_review": 60}
    assert "Archived 60" in post(all=1, decision="archive", confirm=1, everything="Everything").text


def test_what_failed_stays_selected_with_its_reason_and_asking_again_touches_only_it(post, waiting, account):
    acts.put(account, "said anew", key="k1", confidence=0.2, now=timezone.now())
    page = post(pick=picks(waiting[:3]), decision="archive", confirm=1)
    assert "Archived 2 entries." in page.text
    assert "1 could not be decided about" in page.text
    assert left(page) == picks([waiting[1]], version=2)
    assert re.search(r"k1.*(wrote|version|v2)", page.text)
    assert "Archived 1 entry." in post(pick=left(page), decision="archive", confirm=1).text
    assert statuses(account) == {"under_review": 57, "archived": 3}


def test_a_preview_says_what_moved_since_it_was_selected(post, waiting, account):
    acts.put(account, "said anew", key="k1", confidence=0.2, now=timezone.now())
    assert "moved to v2 since you saw v1" in post(pick=picks(waiting[:3])).text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({}, "Nothing is selected"),
        ({"pick": ["x"]}, "no selection of this queue"),
        ({"pick": ["1:x"]}, "no selection of this queue"),
        ({"all": 1, "path": "nowhere"}, "Nothing matches"),
        ({"pick": [], "confirm": 1, "decision": "archive"}, "Nothing is selected"),
    ],
)
def test_what_cannot_be_meant_is_refused(post, waiting, form, words):
    path = f"/review/bulk/?path={form.pop('path')}" if "path" in form else "/review/bulk/"
    page = post(path, **form)
    assert page.status == 422
    assert words in page.text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"decision": "edit"}, "Choose what to decide"),
        ({"decision": "snooze", "until": "2020-01-01"}, "ends in the future"),
        ({"decision": "supersede"}, "Name the entry that supersedes"),
        ({"decision": "accept", "reason": "r" * 2_001}, "at most 2,000"),
    ],
)
def test_a_decision_that_cannot_be_keeps_the_selection_and_what_was_typed(post, waiting, account, form, words):
    page = post(pick=picks(waiting[:2]), confirm=1, **form)
    assert (page.status, left(page)) == (422, picks(waiting[:2]))
    assert words in page.text
    assert statuses(account) == {"under_review": 60}


@pytest.fixture
def run(post, account):
    """A run that archives 230, one of which somebody changed meanwhile."""
    acts.fill(account, 230, path="bulk", confidence=0.2, now=story.days_ago(2))
    page = post("/review/bulk/?path=bulk", all=1, decision="archive", confirm=1)
    acts.put(account, "said anew", path="bulk", key="k7", confidence=0.2, now=timezone.now())
    found = BulkRun.objects.get(account_id=account.pk)
    assert page.response.redirect_chain[0][0] == f"/review/runs/{found.pk}/"
    return found


def test_above_200_it_is_a_run_that_is_watched_until_it_is_over(post, run, client_of, vera, account):
    look = client_of(vera)
    page = Page(look.get(f"/review/runs/{run.pk}/"))
    assert 'hx-trigger="every 1s"' in page.html
    assert '<noscript><meta http-equiv="refresh"' in page.html
    assert "Done 0 Failed 0 Left 230" in page.text
    bulk_run.work(account.pk, run.pk)
    page = Page(look.get(f"/review/runs/{run.pk}/", headers={"HX-Request": "true"}))
    assert page.html.lstrip().startswith('<div id="run"')
    assert "Done 229 Failed 1 Left 0" in page.text
    assert "hx-trigger" not in page.html
    assert "bulk / k7" in page.text
    assert "<form" not in page.html


def test_asking_again_touches_only_what_failed_and_one_undo_takes_all_back(post, run, account):
    bulk_run.work(account.pk, run.pk)
    page = post(f"/review/runs/{run.pk}/again/")
    assert "Left 1" in page.text
    bulk_run.work(account.pk, run.pk)
    run.refresh_from_db(from_queryset=BulkRun.objects.filter(account_id=account.pk))
    assert (run.done, run.failed, statuses(account)) == (230, 0, {"archived": 230})
    page = post(f"/review/undo/{run.change_set_id}/")
    assert "Undo 230 entries" in page.text
    undo = BulkRun.objects.get(account_id=account.pk, decision="undo")
    bulk_run.work(account.pk, undo.pk)
    assert statuses(account) == {"under_review": 230}


def test_a_run_can_be_stopped_once(post, run, account):
    assert "Cancelled" in post(f"/review/runs/{run.pk}/cancel/").text
    page = post(f"/review/runs/{run.pk}/cancel/")
    assert (page.status, "over already" in page.text) == (409, True)
    assert post(f"/review/runs/{run.pk}/again/").status == 409


def test_viewers_and_other_accounts_are_refused(client_of, vera, run, waiting, account):
    client = client_of(vera)
    assert client.post("/review/bulk/", {"pick": picks(waiting)}).status_code == 403
    for act in ("again", "cancel"):
        assert client.post(f"/review/runs/{run.pk}/{act}/").status_code == 403


@pytest.mark.parametrize("number", [10**9, 10**30])
def test_a_run_that_never_was_is_not_found(client_of, vera, number):
    assert client_of(vera).get(f"/review/runs/{number}/").status_code == 404

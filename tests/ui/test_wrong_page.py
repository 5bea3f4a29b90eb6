"""An agent went wrong: what it wrote since a moment, and the way back for all of it."""

import re
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.models import ChangeSet
from memories.models.review import BulkRun
from memories.rules.policy import DEFAULT
from memories.services import bulk_run, writing
from memories.services.ledger import Actor
from tests.db import acts
from tests.ui import story
from tests.ui.conftest import Page

SINCE = {"agent": acts.BOB, "since": f"{story.days_ago(1):%Y-%m-%dT%H:%M}"}


@pytest.fixture
def day(account):
    """Bob's bad day: he rewrote retry, created made, and wrote kept, which Ada wrote again since."""
    acts.put(account, {"max": 3}, now=story.days_ago(5))
    acts.put(account, "old", key="kept", now=story.days_ago(5))
    acts.put(account, "before", key="before", by=acts.BOB, now=story.days_ago(3))
    said, actor = acts.draft({"max": 9}, by=acts.BOB), Actor("agent", acts.BOB, session_id="s1")
    writing.write(account.pk, said, actor=actor, policy=DEFAULT, now=story.days_ago(0.5))
    acts.put(account, "fresh", key="made", by=acts.BOB, now=story.days_ago(0.4))
    acts.put(account, "bad", key="kept", by=acts.BOB, now=story.days_ago(0.3))
    acts.put(account, "good", key="kept", now=story.days_ago(0.2))


@pytest.fixture
def client(client_of, rex):
    return client_of(rex)


def see(client, **asked):
    return Page(client.get(f"/wrong/?{urlencode(asked)}"))


def send(client, decision, asked=SINCE, **form):
    return Page(client.post(f"/wrong/?{urlencode(asked)}", {"decision": decision, **form}, follow=True))


def state(account, key):
    return acts.entry(account, key=key, now=timezone.now())


def names(page):
    return re.findall(r'<section class="card" aria-label="([^"]*)"', page.html)


def test_everything_written_since_is_shown_with_what_it_changed(client, day):
    page = see(client, **SINCE)
    assert page.status == 200
    assert names(page) == ["shop/kept", "shop/made", "shop/retry"]
    for words in ("1 go back to the version before", "1 are archived", "1 changed by others", "max 3 9", "fresh"):
        assert words in page.text, words
    assert "agent/ada has written since" in page.text


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"session": "s1"}, ["shop/retry"]),
        ({"path": "shop"}, ["shop/kept", "shop/made", "shop/retry"]),
        ({"agent": acts.BOB, "session": "s2"}, []),
        ({"agent": "agent/nobody"}, []),
        ({"agent": acts.BOB, "since": f"{story.days_ago(4):%Y-%m-%d}"}, None),
    ],
)
def test_an_agent_a_session_or_an_entity_is_chosen(client, day, asked, found):
    page = see(client, **{"since": SINCE["since"], **asked})
    assert page.status == 200
    if found is None:
        assert "shop/before" in names(page)
    else:
        assert set(names(page)) == set(found)
    assert ("It wrote nothing since then" in page.text) is (found == [])


@pytest.mark.parametrize(
    "asked",
    [
        {"agent": acts.BOB, "since": "yesterday"},
        {"agent": acts.BOB},
        {"since": "2026-01-01T00:00"},
        {"agent": acts.BOB, "since": "8999-01-01T00:00"},
        {"agent": "a\0b", "since": "2026-01-01"},
        {**SINCE, "cursor": "x"},
    ],
)
def test_what_cannot_be_asked_is_said(client, day, asked):
    page = see(client, **asked)
    assert (page.status, 'role="alert"' in page.html) == (400, True)


def test_all_of_it_goes_back_in_one_change_set_and_comes_back_by_one_undo(client, day, account):
    page = send(client, "restore", reason="it invented things")
    assert (page.status, "Rolled back: 2 entries of agent/bob since" in page.text) == (200, True)
    assert (state(account, "retry").value, state(account, "made").state.status) == ('{"max": 3}', "archived")
    assert state(account, "kept").value == '"good"'
    (change_set,) = ChangeSet.objects.filter(account_id=account.pk, kind="rollback")
    assert (change_set.size, change_set.reason) == (2, "it invented things")
    assert page.response.redirect_chain[0][0] == f"/changes/{change_set.pk}/"
    client.post(f"/review/undo/{change_set.pk}/")
    assert (state(account, "retry").value, state(account, "made").state.status) == ('{"max": 9}', "active")


def test_all_of_it_can_be_sent_to_review(client, day, account):
    page = send(client, "send")
    assert "Sent to review: 2 entries" in page.text
    assert {state(account, key).state.status for key in ("retry", "made")} == {"under_review"}
    queue = Page(client.get("/review/"))
    assert re.search(r"Sent to review by rex-", queue.text)


def test_what_is_taken_back_already_is_said_not_done_twice(client, day):
    send(client, "restore")
    page = send(client, "restore")
    assert page.status == 422
    assert "There is nothing to take back" in page.text


@pytest.mark.parametrize(("form", "words"), [({}, "Say what to do"), ({"reason": "r" * 2_001}, "at most 2,000")])
def test_what_cannot_be_done_is_said_and_the_reason_stays(client, day, account, form, words):
    page = send(client, "restore" if form else "dance", **form)
    assert page.status == 422
    assert words in page.text
    assert state(account, "retry").version == 2


def test_above_200_it_is_a_run(client, account):
    acts.fill(account, 201, path="flood", by=acts.BOB, now=story.days_ago(0.5))
    page = send(client, "restore")
    run = BulkRun.objects.get(account_id=account.pk)
    assert page.response.redirect_chain[0][0] == f"/review/runs/{run.pk}/"
    assert bulk_run.work(account.pk, run.pk) == 201
    assert "It wrote nothing" not in see(client, **SINCE).text


def test_viewers_look_and_are_refused(client_of, vera, day, account):
    client = client_of(vera)
    page = see(client, **SINCE)
    assert len(names(page)) == 3
    assert 'name="decision"' not in page.html
    assert send(client, "restore").status == 403
    assert state(account, "retry").version == 2


def test_it_costs_the_same_for_many(client, day, account):
    counts = []
    for size in (1, 60):
        acts.fill(account, size, path=f"flood/{size}", by=acts.BOB, now=story.days_ago(0.5))
        see(client, **SINCE)
        with CaptureQueriesContext(connection) as ran:
            assert see(client, **SINCE).status == 200
        counts.append(len(ran))
    assert counts[0] == counts[1] <= 12


def test_other_accounts_do_not_exist(client, other_account):
    acts.put(other_account, "x", path="rival", by=acts.BOB, now=story.days_ago(0.1))
    assert names(see(client, **SINCE)) == []

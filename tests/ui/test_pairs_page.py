"""Entries that are alike, beside each other, and what a reviewer does with them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.jobs import likeness
from tests.db import acts
from tests.ui import story
from tests.ui.conftest import Page

ADDRESS = "/review/alike/"


@pytest.fixture
def pair(account):
    """Two entries that say the same; the ids of the surer and the other one."""
    acts.put(account, "Money is paid at night", key="one", now=story.days_ago(2))
    acts.put(account, "money is paid at night.", key="two", confidence=0.6, now=story.days_ago(1))
    likeness.compare_new(account, timezone.now())
    return [acts.entry(account, key=key, now=timezone.now()).entry_id for key in ("one", "two")]


def test_a_pair_stands_beside_each_other_with_what_can_be_done(client_of, rex, pair):
    page = Page(client_of(rex).get(ADDRESS))
    assert page.status == 200
    assert all(words in page.text for words in ("They say nearly the same", "Money is paid at night", "Both stay"))
    assert page.html.index("shop/one") < page.html.index("shop/two")
    assert f"/review/?item={pair[0]}&how=edit" in page.links()


def test_one_takes_the_place_of_the_other(client_of, rex, account, pair):
    client, (one, two) = client_of(rex), pair
    answer = client.post(f"{ADDRESS}decide/", {"keep": one, "other": two, "version": 1}, follow=True)
    assert "shop/one took its place." in Page(answer).text
    assert "Nothing is alike" in Page(answer).text
    state = acts.head(account, two).state
    assert (state.status, state.superseded_by) == ("superseded", "shop/one")


def test_who_looked_at_what_is_no_longer_so_changes_nothing(client_of, rex, account, pair):
    one, two = pair
    acts.put(account, "invoices are blue", key="two", now=timezone.now())
    answer = client_of(rex).post(f"{ADDRESS}decide/", {"keep": one, "other": two, "version": 1}, follow=True)
    assert "Nothing was changed." in Page(answer).text
    assert acts.head(account, two).state.status == "active"


def test_both_stay_when_somebody_says_so(client_of, rex, pair):
    one, two = pair
    answer = client_of(rex).post(f"{ADDRESS}decide/", {"keep": two, "other": one}, follow=True)
    assert "Both stay as they are." in Page(answer).text
    assert "Nothing is alike" in Page(answer).text


def test_a_viewer_looks_and_decides_nothing(client_of, vera, pair):
    client, (one, two) = client_of(vera), pair
    assert "Both stay" not in Page(client.get(ADDRESS)).text
    assert client.post(f"{ADDRESS}decide/", {"keep": one, "other": two}).status_code == 403


@pytest.mark.parametrize("form", [{}, {"keep": "x", "other": "1"}, {"keep": "1", "other": "2"}, {"keep": "9" * 30}])
def test_a_form_that_names_no_pair_finds_none(client_of, rex, account, form):
    assert client_of(rex).post(f"{ADDRESS}decide/", form).status_code == 404


def test_more_pairs_take_no_more_statements_and_are_paged(client_of, rex, account):
    counted = []
    for many in (2, 30):
        acts.put(account, f"Money number {many} is paid", key=f"n{many}", now=story.days_ago(1))
        for number in range(many):
            acts.put(account, f"Money is paid in town {many}-{number}", key=f"{many}-{number}", now=story.days_ago(1))
        likeness.compare_new(account, timezone.now())
        client = client_of(rex)
        client.get(ADDRESS)
        with CaptureQueriesContext(connection) as told:
            page = Page(client.get(ADDRESS))
        counted.append(len(told))
    assert counted[0] == counted[1]
    following = next(link for link in page.links() if "cursor=" in link)
    assert Page(client.get(ADDRESS + following)).status == 200
    assert client.get(f"{ADDRESS}?cursor=nonsense").status_code == 400

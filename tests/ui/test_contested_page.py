"""Contested entries, both sides face to face."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.db import acts
from tests.ui import story
from tests.ui.conftest import Page


def mix(account, key, *, path="shop"):
    acts.put(account, f"about {key}", path=path, key=key, confidence=0.7, now=story.days_ago(9))
    for number, kind in enumerate(("success", "failure", "success", "success")):
        told = {"by": acts.BOB, "verified_by": "pager"} if kind == "failure" else {}
        acts.told(account, f"{key}-{number}", kind, f"{path}/{key}", now=story.days_ago(8 - number), **told)


@pytest.fixture
def page(client_of, vera):
    client = client_of(vera)

    def get(query=""):
        return Page(client.get(f"/contested/?{query}"))

    return get


def names(page):
    return re.findall(r'<section class="card" data-item aria-label="([^"]*)"', page.html)


def test_both_sides_stand_face_to_face_with_who_reported_them(page, account):
    mix(account, "retry")
    acts.put(account, "calm", key="calm", now=story.days_ago(1))
    found = page()
    assert (found.status, names(found)) == (200, ["shop/retry"])
    good, bad = found.text.split("Against it")
    assert all(words in good for words in ("For it +3", "retry-0", "agent/ada", "retry-3"))
    assert all(words in bad for words in ("\u22121", "retry-1", "agent/bob", "verified by pager"))
    assert "retry-1" not in good
    assert re.search(r"/review/\?item=\d+", found.html)


def test_an_entity_narrows_it_and_nonsense_is_said(page, account):
    mix(account, "retry")
    mix(account, "retry", path="ops")
    assert names(page("path=ops")) == ["ops/retry"]
    assert "No entry here has a mixed record" in page("path=elsewhere").text
    assert page("cursor=x").status == 400
    assert page("path=%00").status == 400


def test_pages_follow_each_other_and_cost_the_same(page, account):
    counts = []
    for first, last in ((0, 3), (3, 28)):
        for number in range(first, last):
            mix(account, f"k{number:02}")
        page()
        with CaptureQueriesContext(connection) as ran:
            found = page()
        counts.append(len(ran))
    assert counts[0] == counts[1] <= 12
    assert len(names(found)) == 25
    following = re.search(r'href="\?(cursor=[^"]*)" rel="next"', found.html)[1]
    rest = page(following)
    assert len(names(rest)) == 3
    assert not set(names(rest)) & set(names(found))


def test_other_accounts_do_not_exist(page, other_account):
    mix(other_account, "rival")
    assert "rival" not in page().html

"""The playground: what an agent would get, why, what was left out, the text, and what if."""

import pytest
from django.utils import timezone

from memories import recalls
from memories.models import Entry, EntryVersion, Recall
from tests.db import acts
from tests.ui.conftest import Page


@pytest.fixture
def show(client_of, vera):
    client = client_of(vera)
    return lambda **query: Page(client.get("/recall/", query))


@pytest.fixture
def shop(account):
    """Two entries about payments, one of which failed, and a private one."""
    now = timezone.now()
    acts.put(account, "Payments time out: warm the pool", path="shop", key="pool", now=now)
    acts.put(account, "Payments time out: restart the gateway", path="shop", key="restart", now=now)
    acts.put(account, "Payments time out: the pin is 1234", path="shop", key="pin", shared=False, by=acts.BOB, now=now)
    acts.put(account, "Carts live a day", path="shop", key="cart", now=now)
    acts.told(account, "t1", "failure", "shop/restart", now=now)
    return account


def test_an_empty_playground_says_what_it_is_for(show):
    page = show()
    assert page.status == 200
    assert "Ask something" in page.text


def test_hits_come_with_the_parts_of_their_scores(show, shop):
    page = show(q="payments time out")
    assert "1 hit " in page.text
    said = page.html.split('id="hits-h"')[1].split("</ol>")[0]
    assert "shop" in said
    for part in ("semantic", "keyword", "confidence", "evidence", "trust", "recency", "relevance"):
        assert part in said
    assert said.count("split-bar") == 6


def test_what_was_left_out_is_named_with_its_reason(show, shop):
    page = show(q="payments time out")
    assert any("restart" in row and "discredited" in row for row in page.rows("out-h"))
    assert "restart" in page.said("avoid-h")


def test_an_agent_sees_its_own_private_entries_and_nobody_elses(show, shop):
    assert "1234" not in show(q="payments pin").html
    assert "1234" in show(q="payments pin", agent=acts.BOB).html


def test_the_text_is_the_one_the_api_gives(show, shop, api_key, client):
    text = show(q="payments time out", tokens="300").said("text-h")
    body = {"query": "payments time out", "format": "markdown", "max_tokens": 300, "include_avoid": True}
    answer = client.post("/api/v1/retrieve", body, content_type="application/json", headers={"X-AMFS-API-Key": api_key})
    assert " ".join(answer.content.decode().split()) in text


def test_a_supposition_is_computed_and_not_stored(account, show, shop):
    before = (
        Entry.objects.filter(account_id=account.pk).count(),
        EntryVersion.objects.filter(account_id=account.pk).count(),
    )
    page = show(q="payments time out", entry="shop/restart", were="validated")
    assert "2 hits" in page.text
    assert "was no hit" in page.text
    page = show(q="payments time out", entry="shop/pool", were="archived")
    assert "No hit any more" in page.text
    now = (
        Entry.objects.filter(account_id=account.pk).count(),
        EntryVersion.objects.filter(account_id=account.pk).count(),
    )
    assert now == before


def test_looking_counts_no_recall(account, show, shop):
    show(q="payments time out")
    recalls.buffer.flush()
    assert not Recall.objects.filter(account_id=account.pk).exists()


def test_filters_stand_in_the_address(show, shop):
    page = show(
        q="payments time out", path="shop", depth="hot", type="fact", limit="1", least="0.2", env_runtime="py3.12"
    )
    assert page.status == 200
    for value in ('value="shop"', 'value="0.2"', 'value="py3.12"'):
        assert value in page.html


@pytest.mark.parametrize(
    ("name", "value"), [("depth", "deep"), ("limit", "900"), ("least", "x"), ("tokens", "1"), ("were", "gone")]
)
def test_what_cannot_be_is_said(show, name, value):
    page = show(q="payments", **{name: value})
    assert page.status == 400
    assert "is meant" in page.text


def test_nobody_without_a_role_sees_it(client):
    assert client.get("/recall/").status_code == 302


def test_statements_do_not_grow_with_entries(account, show, django_assert_max_num_queries):
    acts.fill(account, 150, path="many")
    with django_assert_max_num_queries(22):
        assert show(q="value").status == 200

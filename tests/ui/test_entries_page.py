"""The list of entries as people see it: what it shows, what its address can ask, and what it costs."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlencode

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories import browsing
from memories.ui import filters
from tests.db import acts


@pytest.fixture
def page(client_of, vera):
    """Return what vera sees at the list's address with a query, and the status."""
    client = client_of(vera)

    def get(query="", **asked):
        response = client.get(f"/entries/?{query or urlencode(asked, doseq=True)}")
        return response.content.decode(), response.status_code

    return get


@pytest.fixture
def shop(account):
    """A handful of entries that differ in all that can be asked for."""
    now = timezone.now()
    acts.put(account, "Retry a 503 twice.", path="shop/checkout", key="pattern-retry", confidence=0.7, now=now)
    acts.put(account, 2400, path="shop/checkout/payments", key="timeout", confidence=0.9, memory_type="belief", now=now)
    acts.put(account, "Lock the cart first.", path="shop", key="risk-order", by=acts.BOB, confidence=0.25, now=now)
    acts.put(account, "mine", path="platform", key="note", shared=False, now=now)
    acts.put(account, "soon gone", path="platform", key="ends", ttl_at=now + timedelta(days=3), now=now)
    acts.told(account, "deploy-1", "failure", "shop/checkout/payments/timeout", now=now)
    return account


def keys(html: str) -> list[str]:
    return re.findall(r'class="key" href="[^"]*" title="([^"]*)"', html)


def link(html: str, words: str) -> str:
    """Return the query of the link whose tag or text holds these words."""
    found = next(tag for tag in re.findall(r"<a [^>]*>[^<]*", html) if words in tag)
    return re.search(r'href="[^"?]*\?([^"]*)"', found)[1].replace("&amp;", "&")


def test_nothing_is_visible_without_login(client, shop):
    response = client.get("/entries/?q=retry")
    assert (response.status_code, response["Location"]) == (302, "/login/?next=/entries/%3Fq%3Dretry")


def test_other_accounts_do_not_exist(page, shop, other_account):
    acts.put(other_account, "secret of a rival", path="rival", key="plan")
    html, _ = page(status="any")
    assert "rival" not in html
    assert len(keys(html)) == 5


def test_a_row_can_be_read_at_a_glance(page, shop):
    html, status = page(q="timeout")
    assert status == 200
    row = re.search(r"<tr data-item>.*?</tr>", html)[0]
    for told in ("Discredited", "Belief", "2400", "0.31", "+0", "\u22121", "Archive", acts.ADA, "now", 'class="conf"'):
        assert told in row, told
    assert "/entry/?path=shop%2Fcheckout%2Fpayments&amp;key=timeout" in row


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=cart+lock", {"shop/risk-order"}),
        ("path=shop", {"shop/checkout/pattern-retry", "shop/checkout/payments/timeout", "shop/risk-order"}),
        ("path=shop&exact=1", {"shop/risk-order"}),
        ("type=belief", {"shop/checkout/payments/timeout"}),
        ("type=belief&type=procedure", {"shop/checkout/payments/timeout"}),
        ("status=under_review", {"shop/risk-order"}),
        ("evidence=discredited", {"shop/checkout/payments/timeout"}),
        ("tier=hot&tier=warm", set()),
        ("agent=agent/bob", {"shop/risk-order"}),
        ("prefix=pattern-", {"shop/checkout/pattern-retry"}),
        ("min=0.3&max=0.7", {"shop/checkout/pattern-retry", "shop/checkout/payments/timeout"}),
        ("min=0,99", {"platform/note", "platform/ends"}),
        ("visibility=private", {"platform/note"}),
        ("visibility=shared&path=platform", {"platform/ends"}),
        ("expires=7", {"platform/ends"}),
        ("expires=2", set()),
        ("path=shop&type=fact&max=0.5", {"shop/risk-order"}),
    ],
)
def test_each_filter_leaves_what_it_names(page, shop, query, found):
    html, status = page(query)
    assert status == 200
    assert set(keys(html)) == found


def test_only_active_entries_and_those_under_review_show_unless_asked(page, account):
    stored = acts.put(account, "old", key="gone")
    acts.undone(account, stored.change_set_id)
    assert keys(page()[0]) == []
    assert keys(page(status="archived")[0]) == keys(page(status="any")[0]) == ["shop/gone"]


def test_a_chip_removes_its_own_filter_and_no_other(page, shop):
    html, _ = page("path=shop&exact=1&type=fact&type=belief&sort=name")
    asked = parse_qs(link(html, "Remove the filter type fact or belief"))
    assert asked == {"path": ["shop"], "exact": ["1"], "sort": ["name"]}
    assert parse_qs(link(html, "Remove the filter entity exactly shop")) == {
        "type": ["fact", "belief"],
        "sort": ["name"],
    }


def test_a_known_prefix_is_named_by_its_label(page, shop):
    html, _ = page(prefix="pattern-")
    assert re.search(r'class="chip line">key <b><bdi>pattern</bdi>', html)
    assert '<span class="tag">pattern</span>' in html


@pytest.mark.parametrize("sort", filters.SORTS)
def test_pages_show_every_entry_once_in_every_order(page, account, monkeypatch, sort):
    monkeypatch.setattr(filters, "PAGE", 3)
    moment = timezone.now()
    for n in range(8):
        # Two of each confidence and moment, so that pages end between equals.
        acts.put(account, n, key=f"k{n}", confidence=0.4 + n // 2 / 10, now=moment - timedelta(hours=n // 2))
    html, _ = page(sort=sort)
    seen, spans = keys(html), [re.search(r"\d+–\d+ of \d+", html)[0]]
    while 'rel="next"' in html:
        html, status = page(link(html, 'rel="next"'))
        assert status == 200
        seen += keys(html)
        spans.append(re.search(r"\d+–\d+ of \d+", html)[0])
    assert sorted(seen) == [f"shop/k{n}" for n in range(8)]
    assert spans == ["1–3 of 8", "4–6 of 8", "7–8 of 8"]


@pytest.mark.parametrize(
    ("sort", "first"),
    [("confidence", "k4"), ("doubt", "k0"), ("recency", "k0"), ("oldest", "k4"), ("name", "k0")],
)
def test_a_sort_says_what_comes_first(page, account, sort, first):
    for n in range(5):
        acts.put(account, n, key=f"k{n}", confidence=0.4 + n / 10, now=timezone.now() - timedelta(minutes=n))
    assert keys(page(sort=sort)[0])[0] == f"shop/{first}"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("min=2", "Confidence lies between 0 and 1."),
        ("min=nan", "Confidence lies between 0 and 1."),
        ("max=much", "A number from 0 to 1 is meant, not “much”."),
        ("min=0.8&max=0.2", "The lowest confidence is above the highest."),
        ("status=gone", "not “gone”"),
        ("type=<script>", "not “&lt;script&gt;”"),
        ("tier=4", "One of hot, warm, archive is meant"),
        ("evidence=maybe", "not “maybe”"),
        ("visibility=none", "not “none”"),
        ("sort=luck", "not “luck”"),
        ("expires=0", "A number of days from 1 to 3650"),
        ("expires=99999999999999999999", "A number of days from 1 to 3650"),
        ("q=a%00b", "no NUL"),
        ("q=" + "x" * 1001, "At most 1,000 characters"),
        ("path=a%00b", "control character"),
        ("agent=" + "x" * 257, "257 bytes long"),
        ("cursor=abc", "This cursor cannot be read."),
        ("cursor=%F0%9F%9A%80", "This cursor cannot be read."),
    ],
)
def test_what_cannot_be_is_said_under_400(page, shop, query, words):
    html, status = page(query)
    assert status == 400
    assert words in html
    assert keys(html) == []


@pytest.mark.parametrize(
    ("sort", "after"),
    [
        ("doubt", ("1e999", "1")),
        ("doubt", ("0_5", "x")),
        ("doubt", ("0.5", str(2**70))),
        ("recency", ("2026-01-01", "1")),
        ("recency", ("yesterday", "1")),
        ("name", ("a\0b", "k", "")),
        ("name", ("\ud800", "k", "")),
        ("name", ("a", "k")),
        ("name", ("a", ["k"], "")),
        ("oldest", ("0.5", "1")),
    ],
)
def test_a_forged_cursor_is_refused(page, shop, sort, after):
    html, status = page(sort=sort, cursor=filters.cursor_to(after, sort, 50))
    assert status == 400
    assert "Start again at the first page." in html


def test_a_cursor_belongs_to_its_order(page, shop):
    cursor = filters.cursor_to(("0.5", "1"), "doubt", 50)
    assert page(sort="doubt", cursor=cursor)[1] == 200
    html, status = page(sort="confidence", cursor=cursor)
    assert status == 400
    assert "This page belongs to another order." in html


HOSTILE = "</td><script>alert(1)</script>\"'&"


def test_hostile_names_and_values_are_shown_and_do_nothing(page, account):
    acts.put(account, HOSTILE, path="shop/" + HOSTILE, key="<img src=x onerror=alert(1)>", by="<b>bot</b>")
    acts.put(account, "pay\u202egnp.exe", key="مهلة-الدفع")
    for html in (page()[0], page(q="alert", path="shop/" + HOSTILE, agent="<b>bot</b>")[0]):
        assert "<script>alert" not in html
        assert "<img" not in html
        assert "<b>bot" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "\u202e" not in page()[0]
    assert "\\u202e" in page()[0]


def test_a_long_value_is_cut_before_it_is_fetched(page, account):
    acts.put(account, "x" * 100_000, key="long")
    with CaptureQueriesContext(connection) as ran:
        html, _ = page()
    assert len(html) < 30_000
    assert any("left(c.value" in query["sql"] for query in ran)


def test_a_miss_says_which_filter_to_drop(page, shop):
    html, status = page("q=nowhere&path=shop&evidence=discredited")
    assert status == 200
    assert "No entry fits all of that" in html
    assert re.search(r'path=shop&amp;evidence=discredited">Without words <b><bdi>nowhere</bdi></b> <span[^>]*>1<', html)
    assert "Without entity" not in html


def test_an_account_without_entries_shows_how_to_write_the_first(page, account):
    html, _ = page()
    assert "curl -X POST http://testserver/api/v1/entries" in html
    assert "createkey" in html


def test_beyond_ten_thousand_nobody_counts(page, account, monkeypatch):
    monkeypatch.setattr(filters, "PAGE", 1)
    monkeypatch.setattr(browsing.search, "count", lambda *_: browsing.COUNTED + 1)
    for n in range(2):
        acts.put(account, n, key=f"k{n}")
    assert "1–1 of 10,000+" in page()[0]


def test_the_tree_counts_what_lies_below_and_keeps_the_other_filters(page, shop):
    html, _ = page("path=shop/checkout&exact=1&type=fact")
    tree = re.search(r'<nav class="tree".*?</nav>', html, re.S)[0]
    places = dict(re.findall(r"<bdi>([\w-]+)</bdi><span class=\"n\">(\d+)</span>", tree))
    assert places == {"platform": "2", "shop": "3", "checkout": "2", "payments": "1"}
    assert [bool(re.search(rf'aria-current="true">[^>]*<bdi>{name}<', tree)) for name in places] == [
        False,
        False,
        True,
        False,
    ]
    asked = [parse_qs(query.replace("&amp;", "&")) for query in re.findall(r'href="\?([^"]*)"', tree)]
    assert asked[0] == {"type": ["fact"]}
    assert {"path": ["shop"], "type": ["fact"]} in asked
    # The way to the chosen place is open.
    assert tree.count("<details open>") == tree.count("<details") == 2


def test_htmx_gets_the_list_alone_and_an_address_without_empty_fields(client_of, vera, shop):
    client = client_of(vera)
    response = client.get("/entries/?q=&type=fact&min=&sort=name", headers={"HX-Request": "true"})
    html = response.content.decode()
    assert html.lstrip().startswith('<div class="browse" id="entries">')
    assert response["HX-Push-Url"] == "/entries/?type=fact&sort=name"
    assert "HX-Request" in response["Vary"]
    assert "<!doctype html>" in client.get("/entries/").content.decode()
    refused = client.get("/entries/?min=2", headers={"HX-Request": "true"})
    assert refused.status_code == 400
    assert refused.content.decode().lstrip().startswith('<div class="browse" id="entries">')


def test_the_list_takes_a_fixed_number_of_queries(client_of, vera, account):
    client, counts = client_of(vera), []
    for size in (10, 1_000):
        for n in range(len(counts) and 10, size):
            acts.put(account, n, path=f"shop/place-{n % 40}", key=f"k{n}")
        for query in ("", "q=place&sort=doubt&path=shop", "q=nothing&path=shop&type=fact&evidence=untested&min=0.1"):
            # Folded sums are read once.
            client.get(f"/entries/?{query}")
            with CaptureQueriesContext(connection) as ran:
                assert client.get(f"/entries/?{query}").status_code == 200
            counts.append(len(ran))
    assert max(counts) <= 12
    # A first page that is also the last needs no count of its own.
    assert [many - few for few, many in zip(counts[:3], counts[3:], strict=True)] == [1, 1, 0]


def test_a_search_that_finds_little_says_where_more_is_and_leads_there(page, shop):
    acts.put(shop, "Retry a 503 never.", path="platform", key="other", confidence=0.9, now=timezone.now())
    acts.put(shop, "Retry a 503 once.", path="shop", key="doubtful", confidence=0.4, now=timezone.now())
    html, _ = page(q="retry 503", path="shop", min="0.5")
    assert keys(html) == ["shop/checkout/pattern-retry"]
    assert "1 less sure entry" in html
    assert keys(page(link(html, "less sure"))[0]) == ["shop/doubtful", "shop/checkout/pattern-retry"]
    assert "platform/other" in keys(page(link(html, "1 elsewhere"))[0])
    assert "All of these words" not in page(q="retry 503")[0]
    assert "All of these words" not in page(path="shop", min="0.5")[0]


@pytest.mark.parametrize(
    ("given", "one"),
    [
        ("", ""),
        ("q=&path=&sort=recency&branch=main&cursor=abc", ""),
        ("sort=doubt&q= two++words ", "q=two+words&sort=doubt"),
        (
            "tier=hot&tier=warm&tier=hot&status=archived&status=active",
            "status=active&status=archived&tier=hot&tier=warm",
        ),
        ("exact=1&path=shop", "path=shop&exact=1"),
        ("exact=1", ""),
        ("agent=a&agent=b", "agent=b"),
    ],
)
def test_a_search_has_one_address(given, one):
    now = timezone.now()
    assert filters.canonical(QueryDict(given)) == one
    assert filters.canonical(QueryDict(one)) == one
    plain = given.replace("cursor=abc", "")
    asked, again = filters.read(QueryDict(plain), now).search, filters.read(QueryDict(one), now).search
    assert asked.words.split() == again.words.split()
    for name in ("entity_path", "descendants", "sort", "agent_id", "branch"):
        assert getattr(asked, name) == getattr(again, name)
    for name in ("tiers", "statuses"):
        assert set(getattr(asked, name)) == set(getattr(again, name))

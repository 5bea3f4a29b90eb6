"""Change sets as people see them, and the way back."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.changes import change_reads
from senselab import cursors
from tests.db import acts


@pytest.fixture
def page(client_of, vera):
    client = client_of(vera)

    def get(path="/changes/"):
        response = client.get(path)
        return response.content.decode(), response.status_code

    return get


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def rows(html: str) -> list[str]:
    return [text(row) for row in re.findall(r"<tr data-item>.*?</tr>", html, re.S)]


@pytest.fixture
def history(account):
    """Two writes, an outcome over both, and a rollback, a day apart."""
    day = timedelta(days=1)
    first = acts.put(account, 1, key="one", confidence=0.8)
    acts.put(account, 1, key="two", by=acts.BOB, now=acts.NOON + day)
    acts.told(account, "deploy-7", "failure", "shop/one", "shop/two", now=acts.NOON + 2 * day)
    acts.back(account, first.entry_id, to=1, expected=2, now=acts.NOON + 3 * day)
    return account


def test_each_act_is_a_line_newest_first(page, history):
    html, status = page()
    assert status == 200
    assert [re.sub(r" \d+ d$", "", row) for row in rows(html)] == [
        "Rollback shop / one it was better agent/ada 1 version",
        "Outcome shop / one and 1 more deploy-7 agent/ada 2 versions",
        "Write shop / two agent/bob 1 version",
        "Write shop / one agent/ada 1 version",
    ]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("kind=outcome", 1),
        ("kind=undo", 0),
        ("entity_path=shop", 4),
        ("entity_path=sho", 0),
        ("actor=agent/bob", 1),
        ("actor=agent/b", 0),
        ("since=2026-03-03", 2),
        ("until=2026-03-02", 2),
        ("since=2026-03-02&until=2026-03-03&kind=write", 1),
    ],
)
def test_filters_leave_what_they_name(page, history, query, count):
    html, status = page(f"/changes/?{query}")
    assert status == 200
    assert len(rows(html)) == count
    assert html.count("Remove the filter") == len(query.split("&"))
    assert ("No change fits" in html) is (count == 0)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("kind=magic", "not “magic”"),
        ("since=yesterday", "A day is meant"),
        ("until=9999-12-31", "A day between 1970 and 9000"),
        ("actor=a%00", "no NUL"),
        ("cursor=nonsense", "This cursor cannot be read."),
    ],
)
def test_what_cannot_be_is_said_under_400(page, history, query, words):
    html, status = page(f"/changes/?{query}")
    assert status == 400
    assert words in html
    assert rows(html) == []


def test_pages_go_on_where_the_last_one_ended(page, account, monkeypatch):
    monkeypatch.setattr(change_reads.page, "__kwdefaults__", {**change_reads.page.__kwdefaults__, "limit": 2})
    for n in range(5):
        acts.put(account, n, key=f"k{n}")
    html, _ = page()
    seen = rows(html)
    while 'rel="next"' in html:
        html, _ = page("/changes/" + re.search(r'href="(\?[^"]*)" rel="next"', html)[1])
        assert "First page" in html
        seen += rows(html)
    assert [re.search(r"k\d", row)[0] for row in seen] == ["k4", "k3", "k2", "k1", "k0"]


def test_the_page_of_a_set_tells_what_it_did(page, history):
    outcome = re.search(r'href="(/changes/\d+/)">Outcome', page()[0])[1]
    html, status = page(outcome)
    words = text(html)
    assert status == 200
    assert "Outcome of 2 entries" in words
    assert "shop / one v2 outcome now v3 0.800 0.421 Discredited" in words
    assert "shop / two v2 outcome 1.000 0.500 Contested" in words
    assert "/entry/compare/?path=shop&amp;key=one&amp;from=1&amp;to=2" in html
    assert "/entry/compare/?path=shop&amp;key=one&amp;from=2&amp;to=3" in html
    assert "/outcomes/?ref=deploy-7" in html


@pytest.mark.parametrize("number", [0, 2**63, 10**30])
def test_there_is_no_such_set(page, history, client_of, rex, number):
    assert page(f"/changes/{number}/")[1] == 404
    assert client_of(rex).post(f"/changes/{number}/undo/").status_code == 404


def test_sets_of_other_accounts_do_not_exist(page, account, other_account, client_of, rex):
    theirs = acts.put(other_account, 1)
    assert page(f"/changes/{theirs.change_set_id}/")[1] == 404
    assert client_of(rex).post(f"/changes/{theirs.change_set_id}/undo/").status_code == 404
    assert acts.entry(other_account).version == 1


def test_a_viewer_sees_no_button_and_is_refused(client_of, vera, rex, account):
    stored = acts.put(account, 1)
    address = f"/changes/{stored.change_set_id}/"
    assert "Undo this change" in client_of(rex).get(address).content.decode()
    assert "Undo this change" not in client_of(vera).get(address).content.decode()
    response = client_of(vera).post(f"{address}undo/")
    assert response.status_code == 403
    assert "Your role in this account is viewer" in response.content.decode()
    assert acts.entry(account).version == 1


def test_a_reviewer_takes_a_change_back_and_that_again(client_of, rex, account):
    acts.put(account, "right", now=acts.NOON)
    stored = acts.put(account, "wrong", now=acts.NOON + timedelta(hours=1))
    client = client_of(rex)
    response = client.post(f"/changes/{stored.change_set_id}/undo/", {"reason": "it was  right"}, follow=True)
    html = response.content.decode()
    assert response.redirect_chain[0][1] == 302
    assert "Undone: 1 entry is as before." in html
    assert f"takes back change {stored.change_set_id}" in html
    assert "it was  right" in html
    assert rex.username in html
    back = re.search(r'<div class="toast.*?action="(/changes/\d+/undo/)"', html, re.S)[1]
    assert acts.entry(account).value == '"right"'
    client.post(back)
    assert acts.entry(account).value == '"wrong"'


def test_what_was_changed_since_is_said_and_stays(client_of, rex, account):
    acts.put(account, 1, key="one")
    acts.put(account, 1, key="two")
    acts.told(account, "deploy-7", "failure", "shop/one", "shop/two")
    acts.put(account, 2, key="two", now=acts.NOON + timedelta(hours=1))
    client = client_of(rex)
    outcome = re.search(r'href="(/changes/\d+/)">Outcome', client.get("/changes/").content.decode())[1]
    assert "One entry goes back" in text(client.get(outcome).content.decode())
    assert "1 changed since and stays as it is." in text(client.get(outcome).content.decode())
    html = client.post(f"{outcome}undo/", follow=True).content.decode()
    assert "Undone: 1 entry is as before. 1 changed since and stayed as they are." in html
    assert acts.entry(account, key="two").value == "2"


def test_a_set_of_one_that_was_changed_since_is_412_on_its_own_page(client_of, rex, account):
    stored = acts.put(account, 1)
    acts.put(account, 2)
    response = client_of(rex).post(f"/changes/{stored.change_set_id}/undo/", {"reason": "my words"})
    html = response.content.decode()
    assert response.status_code == 412
    assert "You looked at version 1; the current one is 2." in html
    assert "from=1&amp;to=2" in html
    assert acts.entry(account).version == 2


def test_a_set_of_which_nothing_is_left_is_409(client_of, rex, account):
    acts.put(account, 1, key="one")
    acts.put(account, 1, key="two")
    acts.told(account, "deploy-7", "failure", "shop/one", "shop/two")
    client = client_of(rex)
    outcome = re.search(r'href="(/changes/\d+/)">Outcome', client.get("/changes/").content.decode())[1]
    acts.told(account, "deploy-8", "failure", "shop/one", "shop/two")
    response = client.post(f"{outcome}undo/")
    assert response.status_code == 409
    assert "nothing is left to undo" in response.content.decode()


def test_a_reason_beyond_measure_is_refused_and_kept_in_the_form(client_of, rex, account):
    stored = acts.put(account, 1)
    response = client_of(rex).post(f"/changes/{stored.change_set_id}/undo/", {"reason": "x" * 2_001})
    assert response.status_code == 422
    assert "x" * 2_001 in response.content.decode()
    assert acts.entry(account).version == 1


def test_undo_takes_a_post(client_of, rex, account):
    stored = acts.put(account, 1)
    assert client_of(rex).get(f"/changes/{stored.change_set_id}/undo/").status_code == 405


def test_hostile_reasons_and_names_do_nothing(page, account):
    stored = acts.put(account, 1, key="<b>k</b>", by="<i>bot</i>", reason="<script>alert(1)</script>")
    for html in (page()[0], page(f"/changes/{stored.change_set_id}/")[0]):
        assert "<script>alert" not in html
        assert "<b>k</b>" not in html
        assert "<i>bot" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_the_pages_take_a_fixed_number_of_queries(client_of, rex, account):
    client, counts = client_of(rex), []
    for size in (2, 300):
        for n in range(size):
            acts.put(account, n, key=f"k{n}", now=datetime(2026, 4, 1, tzinfo=UTC))
        acts.told(account, f"deploy-{size}", "success", *(f"shop/k{n}" for n in range(size)))
        big = re.search(r'href="(/changes/\d+/)">Outcome', client.get("/changes/?kind=outcome").content.decode())[1]
        for address in ("/changes/", big):
            with CaptureQueriesContext(connection) as ran:
                assert client.get(address).status_code == 200
            counts.append(len(ran))
    assert counts[:2] == counts[2:]
    assert max(counts) <= 12


def test_a_long_set_is_paged(page, account):
    for n in range(101):
        acts.put(account, n, key=f"k{n:03}")
    acts.told(account, "deploy-1", "success", *(f"shop/k{n:03}" for n in range(101)))
    outcome = re.search(r'href="(/changes/\d+/)">Outcome', page("/changes/?kind=outcome")[0])[1]
    html, _ = page(outcome)
    assert html.count(">with before<") == 100
    rest, _ = page(outcome + re.search(r'href="(\?[^"]*)" rel="next"', html)[1])
    assert rest.count(">with before<") == 1
    assert page(f"{outcome}?cursor={cursors.make('a')}")[1] == 400

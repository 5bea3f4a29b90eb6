"""Outcomes as people see them: the list, and what one did to each entry."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.rules.kinds import OutcomeType
from outcomes import reads
from outcomes.rules import Attempt
from tests.db import acts


@pytest.fixture
def page(client_of, vera):
    client = client_of(vera)

    def get(path="/outcomes/"):
        response = client.get(path)
        return response.content.decode(), response.status_code

    return get


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def rows(html: str) -> list[str]:
    return [re.sub(r" \d+ d$", "", text(row)) for row in re.findall(r"<tr data-item>.*?</tr>", html, re.S)]


@pytest.fixture
def told(account):
    """Four outcomes over two entries; one verified, one after a failed attempt, one replayed."""
    for n, (path, key) in enumerate((("shop", "one"), ("shop/cart", "two"))):
        acts.put(account, n, path=path, key=key, confidence=0.8)
    hour = timedelta(hours=1)
    acts.told(account, "deploy-1", "success", "shop/one", verified_by="ci", now=acts.NOON)
    tried = Attempt(1, OutcomeType.FAILURE, ("shop/cart/two",), summary="The <b>first</b> try")
    acts.told(account, "deploy-2", "clean_deploy", "shop/one", by=acts.BOB, attempts=(tried,), now=acts.NOON + hour)
    acts.told(account, "INC-9", "p1_incident", "shop/cart/two", "no/such", now=acts.NOON + 2 * hour)
    acts.told(account, "again-1", "success", "shop/one", replayed=True, now=acts.NOON + 3 * hour)
    return account


def test_the_list_tells_how_tasks_ended_and_what_moved(page, told):
    html, status = page()
    assert status == 200
    assert rows(html) == [
        "again-1 success replay agent/ada none moved",
        "INC-9 p1 incident agent/ada 1 moved",
        "deploy-2 clean deploy after 1 failed attempt agent/bob 2 moved",
        "deploy-1 success verified agent/ada 1 moved",
    ]


@pytest.mark.parametrize(
    ("query", "refs"),
    [
        ("type=successes", ["again-1", "deploy-2", "deploy-1"]),
        ("type=failures", ["INC-9"]),
        ("type=clean_deploy", ["deploy-2"]),
        ("agent=agent/bob", ["deploy-2"]),
        ("ref=deploy-", ["deploy-2", "deploy-1"]),
        ("ref=deploy_", []),
        ("path=shop/cart", ["INC-9", "deploy-2"]),
        ("path=shop", ["INC-9", "deploy-2", "deploy-1"]),
        ("path=shop&type=failures", ["INC-9"]),
    ],
)
def test_filters_leave_what_they_name(page, told, query, refs):
    html, status = page(f"/outcomes/?{query}")
    assert status == 200
    assert [row.split()[0] for row in rows(html)] == refs
    assert html.count("Remove the filter") == len(query.split("&"))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("type=luck", "not “luck”"),
        ("ref=a%00", "no NUL"),
        ("agent=a%07b", "control character"),
        ("path=" + "x" * 1_025, "1025 bytes long"),
        ("cursor=x", "This cursor cannot be read."),
    ],
)
def test_what_cannot_be_is_said_under_400(page, told, query, words):
    html, status = page(f"/outcomes/?{query}")
    assert status == 400
    assert words in html
    assert rows(html) == []


def test_pages_go_on_where_the_last_one_ended(page, account, monkeypatch):
    monkeypatch.setattr(reads.page, "__kwdefaults__", {**reads.page.__kwdefaults__, "limit": 2})
    acts.put(account, 1)
    for n in range(5):
        acts.told(account, f"same-moment-{n}")
    html, _ = page()
    seen = rows(html)
    while 'rel="next"' in html:
        html, _ = page("/outcomes/" + re.search(r'href="(\?[^"]*)" rel="next"', html)[1])
        seen += rows(html)
    assert [row.split()[0] for row in seen] == [f"same-moment-{n}" for n in (4, 3, 2, 1, 0)]


def address(html: str, ref: str) -> str:
    return re.search(rf'href="(/outcomes/\d+/)"><bdi>{ref}<', html)[1]


def test_an_outcome_tells_each_step_before_and_after(page, told):
    html, status = page(address(page()[0], "deploy-2"))
    words = text(html)
    assert status == 200
    assert "Entries moved 2" in words
    assert words.index("Attempt 1") < words.index("How it ended")
    assert "The &lt;b&gt;first&lt;/b&gt; try" in words
    assert "shop/cart / two made v2 0.800 0.286 weight 3.600" in words
    assert "/entry/?path=shop%2Fcart&amp;key=two" in html


def test_what_was_left_alone_is_told_with_its_reason(page, account):
    hour = timedelta(hours=1)
    acts.put(account, "old claim", key="one")
    acts.put(account, "new claim", key="one", now=acts.NOON + hour)
    acts.put(account, "short", key="two", ttl_at=acts.NOON + hour)
    more = {"versions": {"shop/one": 1}, "now": acts.NOON + 2 * hour}
    acts.told(account, "late", "failure", "shop/one", "shop/two", "no/such", **more)
    words = text(page(address(page()[0], "late"))[0])
    assert "Entries moved 0" in words
    assert "shop / one read v1 not moved: the claim was rewritten since it was read" in words
    assert "shop / two not moved: its time to live was over" in words
    assert "Named, but there was no such entry when it was told: no/such" in words


def test_a_replay_says_that_it_taught_nothing(page, told):
    words = text(page(address(page()[0], "again-1"))[0])
    assert "A replay: it was stored and taught nothing" in words
    assert "Named by the replay: shop/one" in words


def test_an_outcome_over_nothing_says_so(page, account):
    acts.outcomes.commit(
        account.pk,
        acts.Report("idle", OutcomeType.SUCCESS, acts.ADA),
        actor=acts.agent(),
        policy=acts.DEFAULT,
        now=acts.NOON,
    )
    assert "It names no entry, so it moved none." in text(page(address(page()[0], "idle"))[0])


def test_people_see_outcomes_of_private_entries(page, account):
    acts.put(account, "mine", key="note", shared=False)
    acts.told(account, "deploy-1", "success", "shop/note")
    html, _ = page(address(page()[0], "deploy-1"))
    assert "owner=agent%2Fada" in html
    assert "private" in html


@pytest.mark.parametrize("number", [0, 2**63, 10**30])
def test_there_is_no_such_outcome(page, told, number):
    assert page(f"/outcomes/{number}/")[1] == 404


def test_outcomes_of_other_accounts_do_not_exist(page, account, other_account):
    acts.put(other_account, 1)
    theirs = acts.told(other_account, "their-deploy")
    assert "their-deploy" not in page()[0]
    assert page(f"/outcomes/{theirs.outcome_id}/")[1] == 404


def test_an_account_without_outcomes_says_where_they_come_from(page):
    html, status = page()
    assert status == 200
    assert "commit_outcome" in html


def test_what_agents_told_is_shown_and_does_nothing(page, account):
    told = {"task_input": "<script>alert(1)</script>", "tool_calls": [{"name": "</pre><b>x"}]}
    acts.put(account, 1)
    acts.told(account, "<img src=x>", "success", "shop/retry", told=told)
    html, _ = page(re.search(r'href="(/outcomes/\d+/)"><bdi>&lt;img', page()[0])[1])
    assert "<script>alert" not in html
    assert "<b>x" not in html
    assert "<img" not in html
    assert "Task input" in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_the_pages_take_a_fixed_number_of_queries(client_of, vera, account):
    client, counts = client_of(vera), []
    for size in (2, 150):
        for n in range(size):
            acts.put(account, n, key=f"k{n}")
            acts.told(account, f"deploy-{size}-{n}", "success", f"shop/k{n}")
        big = acts.told(account, f"big-{size}", "success", *(f"shop/k{n}" for n in range(size)))
        for path in ("/outcomes/", "/outcomes/?path=shop", f"/outcomes/{big.outcome_id}/"):
            with CaptureQueriesContext(connection) as ran:
                assert client.get(path).status_code == 200
            counts.append(len(ran))
    assert counts[:3] == counts[3:]
    assert max(counts) <= 12

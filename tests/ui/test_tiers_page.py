"""The page of tiers: how full, how they stood, what moved and why, who is near a border, who is in one."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from memories import jobs, recalls
from memories.models import TierDay
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from tests.db import acts
from tests.ui.conftest import Page

DAY = timedelta(days=1)


@pytest.fixture
def show(client_of, vera):
    client = client_of(vera)

    def shown(htmx=False, **query):
        headers = {"HX-Request": "true"} if htmx else {}
        return Page(client.get("/tiers/", query, headers=headers))

    return shown


@pytest.fixture
def ranked(account):
    """Fifty-five entries: two of them new and often recalled, one private."""
    now = timezone.now()
    acts.fill(account, 52, now=now - 5 * DAY)
    ids = acts.fill(account, 2, path="new", now=now, memory_type="belief")
    recalls.write(account.pk, DEFAULT, [Read(ids[0], 1, acts.BOB, "", now, 200)] * 9)
    acts.put(account, 1, path="own", key="mine", shared=False, by=acts.BOB, now=now)
    jobs.retier(account, now)
    return ids


def test_it_tells_how_many_stand_where_of_how_many(show, ranked):
    page = show()
    assert "50 hot, 5 warm, 0 in the archive" in page.text
    assert "50 of 50 places" in page.said("fill-hot")
    assert "full" in page.said("fill-hot")
    assert "5 of 200 places" in page.said("fill-warm")
    assert "full" not in page.said("fill-warm")


def test_what_moved_today_is_told_with_the_parts_of_its_priority(show, ranked):
    page = show()
    assert "55 up, 0 down" in page.said("moves-h")
    first = page.rows("moves-h")[1]
    assert first.startswith("new / k0 Archive → Hot rank 1 1.00 1.00 2.30 1.00")
    assert len(page.rows("moves-h")) == 51
    assert "The newest 50 of 55." in page.said("moves-h")


def test_an_entry_that_fell_is_marked_in_words(show, ranked, account):
    now = timezone.now()
    acts.fill(account, 1, path="late", now=now, importance_score=1.0)
    recalls.write(account.pk, DEFAULT, [Read(acts.fill(account, 1, path="x", now=now)[0], 1, acts.BOB, "", now, 200)])
    jobs.retier(account, now)
    page = show()
    fell = [row for row in page.rows("moves-h") if "Hot → Warm rank" in row]
    assert len(fell) == page.section("moves-h").count('aria-label="fell"') == 2
    assert page.section("moves-h").count('aria-label="rose"') == 48


def test_who_stands_near_a_border_is_loaded_later_and_shown_on_both_sides(show, ranked, client_of, vera):
    assert 'hx-get="/tiers/borders/" hx-trigger="load"' in show().html
    page = Page(client_of(vera).get("/tiers/borders/"))
    rows = page.rows("border-1")
    ranks = [row.split()[0] for row in rows[1:]]
    assert ranks == ["46", "47", "48", "49", "50", "beyond", "51", "52", "53", "54", "55"]
    assert "there is room for all" in page.said("border-2")
    part = Page(client_of(vera).get("/tiers/borders/", headers={"HX-Request": "true"}))
    assert part.html.startswith('<div class="grid g2" id="borders">')


def test_ninety_days_are_a_table_that_the_chart_reads_and_days_without_a_count_are_no_zeros(show, ranked, account):
    today = timezone.now().date()
    TierDay.objects.create(account=account, branch="main", day=today - 3 * DAY, hot=7, warm=8, cold=9)
    TierDay.objects.create(account=account, branch="draft", day=today - 2 * DAY, hot=1, warm=1, cold=1)
    TierDay.objects.create(account=account, branch="main", day=today - 95 * DAY, hot=1, warm=1, cold=1)
    page = show()
    rows = page.rows("days-h")
    assert len(rows) == 91
    assert rows[-4].endswith(" 7 8 9")
    assert rows[-3].endswith(" — — —")
    assert 'data-chart="stack" data-table="tier-days"' in page.html
    assert "2 days" in page.said("days-h")


def test_each_tier_is_listed_by_priority_with_filters(show, ranked):
    rows = show().rows("in-h")
    assert rows[1].startswith("new / k0 1.00 1.00 2.30 1.00 priority 4.605")
    assert len(rows) == 51
    warm = show(tier="warm").rows("in-h")
    assert len(warm) == 6
    found = show(tier="hot", type="belief").rows("in-h")
    assert [row.split()[2] for row in found[1:]] == ["k0", "k1"]
    assert len(show(tier="hot", agent=acts.BOB).rows("in-h")) == 2
    assert "No entry fits" in show(tier="warm", path="new").text


def test_a_long_tier_goes_on_without_repeating_anybody(show, account, monkeypatch):
    monkeypatch.setattr("memories.ageing.tier_reads.PAGE", 7)
    acts.fill(account, 20, now=timezone.now())
    jobs.retier(account, timezone.now())
    seen, query = [], {}
    for _ in range(3):
        page = show(**query)
        seen += re.findall(r'<tr data-item>.*?key=(k\d+)"', page.html, re.S)
        following = re.search(r'href="\?[^"]*cursor=([\w-]+)" rel="next"', page.html)
        query = {"cursor": following[1]} if following else {}
    assert sorted(seen) == sorted(f"k{n}" for n in range(20))


def test_htmx_gets_the_list_alone(show, ranked):
    part = show(htmx=True, tier="warm")
    assert part.html.lstrip().startswith('<section class="card" id="tier-entries"')
    assert "<html" not in part.html


@pytest.mark.parametrize("query", [{"tier": "lukewarm"}, {"type": "rumour"}, {"cursor": "x"}, {"agent": "a\u0000"}])
def test_what_cannot_be_asked_is_said_under_400(show, ranked, query):
    page = show(**query)
    assert page.status == 400
    assert "Hot" in page.text


def test_an_empty_account_says_so_everywhere(show, account):
    page = show()
    assert page.status == 200
    for words in ("0 hot, 0 warm, 0 in the archive", "Nothing was counted yet", "Nothing moved today", "Nobody is in"):
        assert words in page.text


def test_another_branch_has_tiers_of_its_own(show, account):
    acts.fill(account, 3, branch="draft", now=timezone.now())
    jobs.retier(account, timezone.now())
    assert "3 hot, 0 warm" in show(branch="draft").text
    assert "0 hot, 0 warm" in show().text
    assert "branch=draft" in show(branch="draft").html

"""The page of what is to come: how many meet what within 7, 30 and 90 days, and which."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.db import acts
from tests.ui.conftest import Page

DAY = timedelta(days=1)


@pytest.fixture
def show(client_of, vera):
    client = client_of(vera)

    def shown(htmx=False, **query):
        headers = {"HX-Request": "true"} if htmx else {}
        return Page(client.get("/forecast/", query, headers=headers))

    return shown


@pytest.fixture
def silent(account):
    """A hunch that goes under review in 5 days, one that is archived in 20, one that expires in 3, one that stays."""
    now = timezone.now()
    acts.put(account, 1, key="soon", confidence=0.7, memory_type="belief", now=now - 38 * DAY - DAY / 2)
    acts.put(account, 1, key="low", confidence=0.2, now=now - 49 * DAY - DAY / 2)
    acts.put(account, 1, key="ends", ttl_at=now + 3 * DAY, now=now)
    acts.put(account, 1, key="stays", now=now, memory_type="procedure")
    acts.put(account, 1, key="pinned", confidence=0.7, pinned=True, now=now - 80 * DAY)
    return now


def test_it_counts_what_silence_does_within_7_30_and_90_days(show, silent):
    rows = show().rows("within-h")
    assert rows == [
        "Entries that within 7 days within 30 days within 90 days",
        "go under review 1 1 1",
        "are archived 0 1 2",
        "expire 1 1 1",
        "leave their tier 0 0 0",
    ]


def test_each_count_leads_to_the_entries_behind_it(show, silent):
    page = show()
    assert "?kind=archive&amp;days=90#coming" in page.html
    assert [row.split()[2] for row in show(kind="archive", days="90").rows("coming-h")[1:]] == ["low", "soon"]


def test_an_entry_is_listed_with_where_it_stands_and_when(show, silent):
    (row,) = show(kind="expire", days="7").rows("coming-h")[1:]
    day = silent + 3 * DAY
    assert row.startswith("shop / ends Active Archive 1.00")
    assert f"{day.day} {day:%b}" in row


def test_what_a_missed_run_left_behind_is_due_now(show, account):
    acts.put(account, 1, key="late", confidence=0.7, now=timezone.now() - 100 * DAY)
    (row,) = show().rows("coming-h")[1:]
    assert row.endswith("now, at the next run")


def test_nobody_is_said_in_words(show, account):
    page = show(kind="fall")
    assert "Nobody" in page.said("coming-h")
    assert page.rows("within-h")[1] == "go under review 0 0 0"


def test_htmx_gets_the_list_alone_and_counts_nothing(show, silent):
    part = show(htmx=True, kind="review")
    assert part.html.lstrip().startswith('<section class="card" id="coming"')
    assert "within-h" not in part.html


@pytest.mark.parametrize("query", [{"kind": "dance"}, {"days": "0"}, {"days": "366"}, {"days": "x"}, {"cursor": "x"}])
def test_what_cannot_be_asked_is_said_under_400(show, silent, query):
    assert show(**query).status == 400

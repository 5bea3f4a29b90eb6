"""The home page: what needs somebody, how the account does, and how an empty one begins."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_q.models import Schedule

from memories import activity, browsing, search, tallies
from memories.changes import moves
from memories.models import JobRun
from memories.viewers import person
from outcomes import reads
from senselab import overview
from senselab.accounts import services as accounts
from senselab.accounts.models import Role
from tests.db import acts


@pytest.fixture
def home(client_of, vera):
    client = client_of(vera)
    return lambda **headers: client.get("/", headers=headers)


@pytest.fixture
def course(client_of, vera):
    """Return what the home page loads a moment later."""
    client = client_of(vera)
    return lambda: client.get("/course/", headers={"HX-Request": "true"})


@pytest.fixture
def busy(account):
    """An account with something of everything."""
    now = timezone.now()
    acts.put(account, 1, key="low", confidence=0.2, now=now)
    acts.put(account, 1, key="ends", ttl_at=now + timedelta(days=2), now=now)
    acts.put(account, 1, key="later", ttl_at=now + timedelta(days=20), now=now)
    acts.put(account, 1, key="wrong", confidence=0.7, now=now - timedelta(days=2))
    acts.told(account, "deploy-1", "failure", "shop/wrong", by=acts.BOB, now=now)
    acts.told(account, "deploy-2", "success", "shop/ends", now=now)
    acts.told(account, "deploy-3", "success", "shop/ends", now=now - timedelta(days=10))
    return account


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_it_says_what_needs_somebody(home, busy):
    words = text(home().content.decode())
    for told in ("2 entries are under review", "2 under review", "0 contested", "1 discredited", "1 expire soon"):
        assert told in words, told


def test_tiles_and_tables_tell_the_figures(home, busy):
    words = text(home().content.decode())
    for told in ("Entries 4", "0 hot", "0 warm · 4 archive", "Validated 1 25 %", "Untested 2 50 %", "Archive 4 100 %"):
        assert told in words, told


def test_how_the_last_days_went_comes_a_moment_later(home, course, busy, client_of, vera):
    assert re.search(r'hx-get="/course/" hx-trigger="load"', home().content.decode())
    html = course().content.decode()
    told = ("4 written this week", "Success rate, 7 days 50.0 %", "50.0 points", "2 outcomes", "Writes, 24 hours 3")
    for words in (*told, "agent/bob 0 0 % now", "agent/ada 4 100 % now"):
        assert words in text(html), words
    for place in ("rate", "writes", "week"):
        assert f'id="{place}" hx-swap-oob="true"' in html
    page = client_of(vera).get("/course/").content.decode()
    assert "<!doctype html>" in page
    assert "hx-swap-oob" not in page
    assert all(words in text(page) for words in told)


def test_it_lists_changes_and_doubtful_entries(home, busy):
    html = home().content.decode()
    changes = text(re.search(r'<ol class="line">.*?</ol>', html, re.S)[0])
    assert changes.startswith(
        "ends shop Outcome 1.000 → 1.000 · now · agent/ada wrong shop Outcome 0.700 → 0.259 · now · agent/bob"
    )
    assert "low shop Write · now · agent/ada" in changes
    assert "/entry/?path=shop&amp;key=wrong" in html


def test_each_need_leads_to_its_entries(client_of, vera, busy):
    client = client_of(vera)
    html = client.get("/").content.decode()
    urls = [url.replace("&amp;", "&") for url in re.findall(r'class="card need[^"]*" href="([^"]+)"', html)]
    assert urls == [
        "/review/?reason=under_review",
        "/contested/",
        "/review/?reason=discredited",
        "/entries/?expires=7&sort=oldest",
    ]
    pages = [client.get(url) for url in urls]
    assert [page.status_code for page in pages] == [200] * 4
    assert "wrong" in pages[2].content.decode()


FIGURES = [
    (tallies, "of", 5),
    (search, "count", 2),
    (reads, "days", 2),
    (activity, "writes_by_day", 1),
    (moves, "listed", 1),
    (browsing, "listed", 1),
    (activity, "agents", 1),
]


@pytest.mark.parametrize(("module", "name", "places"), FIGURES, ids=[name for _, name, _ in FIGURES])
def test_a_figure_that_fails_is_never_a_zero(home, course, busy, monkeypatch, module, name, places):
    def fail(*_args, **_more):
        raise OperationalError("canceling statement due to statement timeout")

    whole = text((home().content + course().content).decode())
    monkeypatch.setattr(module, name, fail)
    responses = [home(), course()]
    words = text(b" ".join(response.content for response in responses).decode())
    assert [response.status_code for response in responses] == [200, 200]
    assert "not loaded" not in whole
    assert words.count("not loaded") == places
    assert "Nothing learned yet" not in words


def test_a_fault_in_our_own_code_is_not_passed_over(account):
    with pytest.raises(ZeroDivisionError):
        overview.figure(lambda: 1 // 0)


def test_an_empty_account_shows_how_to_begin(home, account):
    html = home().content.decode()
    assert "Waiting for the first write" in html
    assert "curl -X POST http://testserver/api/v1/entries" in html
    assert 'HttpAdapter(\n    "http://testserver", os.environ["SENSELAB_KEY"])' in html
    assert "claude mcp add --transport http senselab \\\n  http://testserver/mcp" in html
    assert "make demo" in html


def test_the_box_for_cursor_is_json_that_names_the_address_and_the_key(home, account):
    text = unescape(re.search(r"in .cursor/mcp.json.>(.*?)</pre>", home().content.decode(), re.S)[1])
    server = json.loads(text)["mcpServers"]["senselab"]
    assert server["url"] == "http://testserver/mcp"
    assert server["headers"] == {"Authorization": "Bearer ${env:SENSELAB_KEY}"}


def test_the_boxes_name_the_address_people_came_by(client_of, vera, settings):
    settings.ALLOWED_HOSTS = ["lab.example"]
    html = client_of(vera).get("/", secure=True, headers={"host": "lab.example:8443"}).content.decode()
    assert "curl -X POST https://lab.example:8443/api/v1/entries" in html


def test_the_page_waits_and_the_first_write_brings_the_overview(home, account):
    assert 'hx-trigger="every 3s"' in home().content.decode()
    assert home(**{"HX-Request": "true"}).status_code == 204
    acts.put(account, "first", now=timezone.now())
    response = home(**{"HX-Request": "true"})
    html = response.content.decode()
    assert response.status_code == 200
    assert '<div id="overview">' in html
    assert "every 3s" not in html
    assert "<!doctype" not in html


def test_an_empty_account_offers_the_demo_to_who_may_see_it(home, account, vera):
    demo = accounts.create_account("demo", name="Demo")
    accounts.give_role(vera, demo, Role.VIEWER)
    html = home().content.decode()
    assert re.search(r'<button class="btn primary" name="account" value="demo">', html)
    assert "make demo" not in html


def test_other_accounts_are_not_counted(home, busy, other_account):
    acts.put(other_account, 1, key="theirs", confidence=0.2, now=timezone.now())
    acts.told(other_account, "their-deploy", now=timezone.now())
    words = text(home().content.decode())
    assert "their" not in words
    assert "Entries 4" in words


def test_a_worker_that_is_down_is_said_in_plain_words(home, busy, empty_queue):
    call_command("sync_schedules")
    Schedule.objects.update(next_run=timezone.now() - timedelta(minutes=11))
    assert "The worker is down: it has not run anything yet" in text(home().content.decode())


def test_a_worker_at_work_is_not_mentioned(home, busy, empty_queue):
    call_command("sync_schedules")
    Schedule.objects.update(next_run=timezone.now() + timedelta(minutes=1))
    assert "worker" not in text(home().content.decode())


def test_a_job_that_failed_three_times_is_said_with_its_error(home, busy):
    now = timezone.now()
    JobRun.objects.create(
        account=busy, job="decay", state="failed", failures=3, error="odd", created_at=now, finished_at=now
    )
    assert "Decay failed 3 times in a row (odd)." in text(home().content.decode())


def test_it_takes_a_fixed_number_of_queries(home, course, busy):
    # Folded sums are read once.
    home()
    with CaptureQueriesContext(connection) as few:
        home()
        course()
    for n in range(120):
        acts.put(busy, n, path=f"place-{n}", key=f"k{n}", by=f"agent/{n}", now=timezone.now())
        acts.told(busy, f"more-{n}", "failure", f"place-{n}/k{n}", by=f"agent/{n}", now=timezone.now())
    with CaptureQueriesContext(connection) as many:
        home()
        course()
    assert len(few) == len(many)


def test_days_without_outcomes_are_days_all_the_same(account):
    now = timezone.now()
    acts.told(account, "deploy-1", now=now - timedelta(days=29))
    acts.told(account, "too-old", now=now - timedelta(days=30))
    days = reads.days(person(account), now, 30)
    assert len(days) == 30
    assert [(day.successes, day.failures, day.rate) for day in days[:2]] == [(1, 0, 1.0), (0, 0, None)]
    assert days[-1].day == now.date()

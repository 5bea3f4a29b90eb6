"""The shell around every page: whole page or part, navigation, refusals."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.test import RequestFactory
from django.urls import path
from django_htmx.middleware import HtmxDetails

from senselab import ui
from senselab.accounts.models import Account, Membership, Person
from senselab.errors import StaleVersion

ACME, DEMO = Account(pk=1, slug="acme", name="Acme"), Account(pk=2, slug="demo", name="Demo")
MIRA = Person(pk=1, username="mira", first_name="Mira", last_name="Kovač")


def nothing(request: HttpRequest) -> None:
    """Stand for a view that these tests never call."""


urlpatterns = [
    path("", nothing, name="overview"),
    path("entries/", nothing, name="entries"),
    path("login/", nothing, name="login"),
    path("logout/", nothing, name="logout"),
    path("account/", nothing, name="switch_account"),
    path("docs/", nothing, name="api_docs"),
]


@pytest.fixture(autouse=True)
def _few_pages_and_no_manifest(settings):
    settings.ROOT_URLCONF = __name__
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


def visit(path: str = "/", *, memberships: list[Membership] | None = None, **headers: str) -> HttpRequest:
    request = RequestFactory().get(path, headers=headers)
    request.htmx = HtmxDetails(request)
    request.user = MIRA if memberships else AnonymousUser()
    request.memberships = memberships or []
    request.person_account = memberships[0].account if memberships else None
    request.role = memberships[0].role if memberships else ""
    request.resolver_match = SimpleNamespace(url_name="entries")
    return request


def mira_in(*accounts: Account) -> list[Membership]:
    return [Membership(account=account, person=MIRA, role="reviewer") for account in accounts]


def page(request: HttpRequest) -> str:
    return ui.render_page(request, "base.html").content.decode()


def test_a_browser_gets_the_whole_page():
    response = ui.render_page(visit(), "plain.html", part="_empty.html", context={"title": "Nothing"})
    assert response.content.startswith(b"\n<!doctype html>")


def test_htmx_gets_only_the_part():
    request = visit(HX_Request="true")
    response = ui.render_page(request, "plain.html", part="_empty.html", context={"title": "Nothing"})
    assert response.content.startswith(b'\n<div class="empty">')


def test_htmx_gets_the_whole_page_when_it_restores_history():
    request = visit(HX_Request="true", HX_History_Restore_Request="true")
    response = ui.render_page(request, "plain.html", part="_empty.html", context={"title": "Nothing"})
    assert b"<!doctype html>" in response.content


def test_no_cache_may_mistake_a_part_for_the_page():
    assert "HX-Request" in ui.render_page(visit(), "plain.html", part="_empty.html")["Vary"]


def test_the_navigation_shows_what_exists_and_where_one_is():
    html = page(visit(memberships=mira_in(ACME)))
    assert 'href="/entries/" data-go="e" aria-keyshortcuts="g e" aria-current="page"' in html
    assert "Agents" not in html


def test_a_count_stands_at_its_place_only_when_somebody_counted():
    request = visit(memberships=mira_in(ACME))
    assert 'class="count"' not in page(request)
    request.nav_counts = {"entries": lambda: 1284}
    html = page(request)
    assert 'aria-label="1,284 waiting">99+<' in html


def test_the_account_switch_is_a_form_that_posts_the_slug():
    html = page(visit(memberships=mira_in(ACME, DEMO)))
    assert '<form class="menu start" id="accounts" popover method="post" action="/account/">' in html
    assert '<button name="account" value="demo">' in html


def test_one_account_needs_no_switch():
    assert 'id="accounts"' not in page(visit(memberships=mira_in(ACME)))


def test_a_visitor_sees_neither_navigation_nor_search():
    html = page(visit())
    assert "data-go" not in html
    assert "Log out" not in html
    assert 'type="search"' not in html


def test_a_branch_other_than_main_is_named():
    assert "staging-eu" in page(visit("/entries/?branch=staging-eu", memberships=mira_in(ACME)))


def test_a_refusal_is_a_page_with_its_own_status_and_words():
    response = ui.refused(visit(memberships=mira_in(ACME)), StaleVersion("Version 19 came in between."))
    assert response.status_code == 412
    assert b"Version 19 came in between." in response.content
    assert b"<!doctype html>" in response.content


def test_a_refusal_reaches_htmx_as_a_toast():
    response = ui.refused(visit(HX_Request="true", memberships=mira_in(ACME)), StaleVersion("<b>19</b>"))
    assert response["HX-Retarget"] == "#toasts"
    assert response.content.startswith(b'<div class="toast error">')
    assert b"&lt;b&gt;19&lt;/b&gt;" in response.content

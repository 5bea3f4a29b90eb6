"""The door for people: logging in and out, and which account they look at."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from senselab.accounts import services as accounts
from senselab.accounts.models import Role
from tests.db import acts

PASSWORD = "correct horse battery"
PAGES = ["overview", "entries", "outcomes", "change_sets"]


def log_in(client, person, password=PASSWORD, **more):
    return client.post("/login/", {"username": person.username, "password": password, **more})


@pytest.mark.parametrize("name", PAGES)
def test_every_page_leads_to_the_login_and_back(client, name):
    address = reverse(name)
    response = client.get(address)
    assert (response.status_code, response["Location"]) == (302, f"/login/?next={address}")


def test_a_right_password_opens_the_page_that_was_asked_for(client, vera):
    response = log_in(client, vera, next="/entries/?q=retry")
    assert (response.status_code, response["Location"]) == (302, "/entries/?q=retry")
    assert client.get("/entries/").status_code == 200


def test_nobody_is_led_to_another_site(client, vera):
    assert log_in(client, vera, next="https://evil.example/")["Location"] == "/"


def test_a_wrong_password_says_so_and_keeps_the_name(client, vera):
    response = log_in(client, vera, "wrong horse")
    html = response.content.decode()
    assert response.status_code == 200
    assert 'role="alert"' in html
    assert f'value="{vera.username}"' in html
    assert "wrong horse" not in html
    assert client.get("/").status_code == 302


def test_somebody_logged_in_needs_no_login_page(client_of, vera):
    assert client_of(vera).get("/login/")["Location"] == "/"


def test_logging_out_takes_a_post_and_ends_it(client_of, vera):
    client = client_of(vera)
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/").status_code == 302


@pytest.mark.parametrize("name", PAGES)
def test_somebody_without_an_account_is_told_what_to_do(client_of, db, name):
    response = client_of(accounts.create_person("nemo", password=PASSWORD)).get(reverse(name))
    html = response.content.decode()
    assert response.status_code == 403
    assert "nemo" in html
    assert "admin" in html
    assert 'action="/logout/"' in html


def test_pages_are_kept_by_no_cache(client_of, vera):
    assert "no-store" in client_of(vera).get("/entries/")["Cache-Control"]


def test_a_switch_shows_the_other_account_and_is_remembered(client_of, vera, account, other_account):
    accounts.give_role(vera, other_account, Role.REVIEWER)
    acts.put(account, "ours", key="ours")
    acts.put(other_account, "theirs", key="theirs")
    client = client_of(vera)
    for chosen, shown, hidden in ((other_account, "theirs", "ours"), (account, "ours", "theirs")):
        assert client.post("/account/", {"account": chosen.slug})["Location"] == "/"
        for _ in range(2):
            html = client.get("/entries/").content.decode()
            assert f'title="shop/{shown}"' in html
            assert f'title="shop/{hidden}"' not in html


@pytest.mark.parametrize("slug", ["other", "no-such-account", ""])
def test_nobody_switches_to_an_account_they_have_no_role_in(client_of, vera, account, other_account, slug):
    acts.put(account, "ours", key="ours")
    client = client_of(vera)
    response = client.post("/account/", {"account": other_account.slug if slug == "other" else slug})
    assert response.status_code == 404
    assert "There is no such account, or you have no role in it." in response.content.decode()
    assert 'title="shop/ours"' in client.get("/entries/").content.decode()


@pytest.mark.parametrize(
    "address", ["/", "/entries/", "/outcomes/", "/outcomes/{outcome}/", "/changes/", "/changes/{set}/"]
)
def test_a_viewer_finds_no_form_that_changes_anything(client_of, vera, account, address):
    stored = acts.put(account, 1)
    told = acts.told(account, "deploy-1")
    page = client_of(vera).get(address.format(outcome=told.outcome_id, set=stored.change_set_id)).content.decode()
    forms = re.findall(r'<form[^>]*method="post"[^>]*action="([^"]*)"', page)
    assert set(forms) == {"/logout/"}
    assert page.count('method="post"') == len(forms)


def test_a_switch_takes_a_post(client_of, vera):
    assert client_of(vera).get("/account/").status_code == 405


def test_the_role_is_that_of_the_account_looked_at(client_of, vera, account, other_account):
    accounts.give_role(vera, other_account, Role.REVIEWER)
    theirs = acts.put(other_account, 1)
    client = client_of(vera)
    assert client.post(f"/changes/{theirs.change_set_id}/undo/").status_code == 403
    client.post("/account/", {"account": other_account.slug})
    assert client.post(f"/changes/{theirs.change_set_id}/undo/").status_code == 302


def test_a_forged_form_is_refused(vera):
    client = Client(enforce_csrf_checks=True)
    client.force_login(vera, backend="django.contrib.auth.backends.ModelBackend")
    assert client.post("/account/", {"account": "any"}).status_code == 403

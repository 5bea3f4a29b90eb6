"""Linking and unlinking one's own identity of OpenID Connect, against a provider."""

import dataclasses
from datetime import timedelta

from django.test import Client

from senselab.accounts import openid
from senselab.accounts.models import AuditRecord, Identity, Membership, Person
from tests.ui.test_openid_connect import (
    agree,
    come_back,
    inside,
    log_in,
    provider,
    provider_url,
    said,
    somebody,
)

__all__ = ["provider", "provider_url", "somebody"]
PASSWORD = {"password": "correct horse battery"}
HERE, PAGE = "/settings/you/security/identity/", "/settings/you/security/"


def go(client, sub):
    """Prove the password, go to the provider as somebody and come back."""
    assert client.post(HERE, PASSWORD)["Location"] == PAGE
    return come_back(client, agree(client.get(HERE)["Location"], sub))


def test_a_person_links_their_identity_and_logs_in_with_it_from_then_on(provider, client_of, rex, account, somebody):
    client, sub = client_of(rex), somebody("whoever@example.com", verified=False)
    assert "Link it" in said(client.get(PAGE))
    answer = go(client, sub)
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    page = said(client.get(PAGE))
    assert "You are linked: Corp lets you in from now on." in page
    assert "Unlink" in page
    other = Client()
    assert log_in(other, sub).status_code == 302
    assert inside(other)
    linked = AuditRecord.objects.get(account=account, action="identity_linked")
    assert (linked.actor, linked.after["by"]) == (rex.username, "the person")


def test_the_password_is_asked_for_before(provider, client_of, rex, account, somebody):
    client = client_of(rex)
    assert client.get(HERE)["Location"] == PAGE
    answer = client.post(HERE, {"password": "wrong horse battery"})
    assert (answer.status_code, "That is not your password" in said(answer)) == (422, True)
    assert client.get(HERE)["Location"] == PAGE
    client.post(f"{HERE}unlink/", {"password": "wrong horse battery"})
    failed = AuditRecord.objects.filter(account=account, action="sign_in_failed")
    assert failed.count() == 2


def test_whoever_comes_back_too_late_or_as_somebody_else_of_here_is_not_linked(
    provider, client_of, rex, vera, somebody, monkeypatch
):
    sub = somebody()
    go(client_of(vera), sub)
    client = client_of(rex)
    assert go(client, sub)["Location"] == PAGE
    assert "somebody else here already" in said(client.get(PAGE))
    client.post(HERE, PASSWORD)
    back = agree(client.get(HERE)["Location"], somebody())
    monkeypatch.setattr(openid, "LASTS", timedelta(0))
    come_back(client, back)
    assert "It took too long" in said(client.get(PAGE))
    assert not Identity.objects.filter(person=rex).exists()


def test_a_link_that_was_begun_in_another_session_links_nobody(provider, client_of, rex, vera, somebody):
    client, other = client_of(rex), client_of(vera)
    client.post(HERE, PASSWORD)
    other.post(HERE, PASSWORD)
    come_back(other, agree(client.get(HERE)["Location"], somebody()))
    assert not Identity.objects.filter(person__in=[rex, vera]).exists()


def test_one_identity_at_a_time_and_the_same_one_again_changes_nothing(provider, client_of, rex, account, somebody):
    client, sub = client_of(rex), somebody()
    go(client, sub)
    go(client, sub)
    go(client, somebody())
    assert "Unlink that one first" in said(client.get(PAGE))
    assert Identity.objects.get(person=rex).subject == sub
    assert AuditRecord.objects.filter(account=account, action="identity_linked").count() == 1


def test_unlinked_it_lets_nobody_in_and_no_email_links_it_again(provider, client_of, rex, account, somebody):
    Person.objects.filter(pk=rex.pk).update(known_email=f"{rex.username}@example.com")
    client, sub = client_of(rex), somebody(f"{rex.username}@example.com")
    log_in(Client(), sub)
    assert client.post(f"{HERE}unlink/", PASSWORD)["Location"] == PAGE
    assert log_in(Client(), sub).status_code == 403
    assert AuditRecord.objects.filter(account=account, action="identity_unlinked").count() == 1
    assert "You are not linked there" in said(client.post(f"{HERE}unlink/", PASSWORD))


def test_nobody_takes_away_their_only_way_in(provider, settings, account, somebody):
    settings.OIDC = dataclasses.replace(provider, account=account.slug)
    client = Client()
    log_in(client, somebody(f"{account.slug}@example.com"))
    answer = client.post(f"{HERE}unlink/")
    assert (answer.status_code, "Nothing else lets you in" in said(answer)) == (409, True)
    assert inside(client)


def test_without_a_provider_there_is_nothing_to_link(client_of, rex, settings):
    settings.OIDC = None
    client = client_of(rex)
    assert "Link it" not in said(client.get(PAGE))
    assert [client.post(one, PASSWORD).status_code for one in (HERE, f"{HERE}unlink/")] == [404, 404]


def test_an_admin_who_resets_the_factors_or_writes_another_email_ends_the_link(
    provider, client_of, rex, ada, account, somebody
):
    rex_there = Membership.objects.get(account=account, person=rex).pk
    ways = (
        lambda: client_of(ada).post(f"/settings/people/{rex_there}/factors/"),
        lambda: client_of(ada).post(f"/settings/people/{rex_there}/email/", {"email": "other@example.com"}),
    )
    for number, end in enumerate(ways):
        sub = somebody(f"intruder-{number}@example.com")
        rex.refresh_from_db()
        go(client_of(rex), sub)
        assert log_in(Client(), sub).status_code == 302
        end()
        assert log_in(Client(), sub).status_code == 403

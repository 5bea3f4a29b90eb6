"""Logging in by OpenID Connect: the whole way to a provider and back, and who is let in by it."""

import dataclasses
import os
import secrets
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import oidc_provider_mock
import pytest
import requests
from django.test import Client

from senselab.accounts import identities, people, services
from senselab.accounts.audit import SYSTEM
from senselab.accounts.identities import Said
from senselab.accounts.models import AuditRecord, Identity, Membership, Person, Role
from senselab.sign_on import Provider
from tests.ops.conftest import ROOT
from tests.ui.conftest import plain
from tests.ui.device import add_app, code_of

CALLBACK = "/login/oidc/callback/"


@pytest.fixture(scope="module")
def provider_url():
    with oidc_provider_mock.run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def provider(provider_url, settings):
    settings.OIDC = Provider(provider_url, "senselab", "a secret", name="Corp")
    return settings.OIDC


@pytest.fixture
def somebody(provider_url):
    """Return `somebody(email, verified=True)`: the provider's id of a new person there."""

    def made(email=None, *, verified=True, **claims):
        sub = f"sub-{secrets.token_hex(8)}"
        told = {"email": email, "email_verified": verified} if email else {}
        requests.put(f"{provider_url}/users/{sub}", json=told | claims, timeout=10).raise_for_status()
        return sub

    return made


@pytest.fixture
def rex_email(rex):
    email = f"rex-{secrets.token_hex(6)}@example.com"
    Person.objects.filter(pk=rex.pk).update(known_email=email)
    return email


def leave(client, **query):
    """Go to the provider; return its address with what was asked."""
    answer = client.get("/login/oidc/", query)
    assert answer.status_code == 302
    return answer["Location"]


def agree(address, sub):
    """Agree there as somebody; return the address that leads back."""
    answer = requests.post(address, data={"sub": sub}, allow_redirects=False, timeout=10)
    assert answer.status_code == 302
    return answer.headers["Location"]


def come_back(client, address):
    parts = urlsplit(address)
    return client.get(f"{parts.path}?{parts.query}")


def log_in(client, sub, **query):
    return come_back(client, agree(leave(client, **query), sub))


def inside(client):
    return client.get("/entries/").status_code == 200


def said(answer):
    return plain(answer.content.decode())


def actions(account):
    return list(AuditRecord.objects.filter(account=account).order_by("id").values_list("action", flat=True))


def test_the_button_is_there_when_a_provider_is_set_and_nothing_is_when_not(db, client, settings):
    settings.OIDC = None
    assert "oidc" not in client.get("/login/").content.decode()
    assert [client.get(address).status_code for address in ("/login/oidc/", CALLBACK)] == [404, 404]
    settings.OIDC = Provider("https://id.example.com", "senselab", "x", name="Corp <b>")
    html = client.get("/login/?next=/entries/").content.decode()
    assert 'href="/login/oidc/?next=%2Fentries%2F"' in html
    assert "Corp &lt;b&gt;" in html


def test_the_provider_is_asked_with_a_state_and_a_challenge(provider, client, db):
    asked = parse_qs(urlsplit(leave(client)).query)
    assert asked["response_type"] == ["code"]
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [f"http://testserver{CALLBACK}"]
    assert {"openid", "email"} <= set(asked["scope"][0].split())
    assert len(asked["state"][0]) >= 16
    assert "a secret" not in str(asked)


def test_who_is_known_by_a_verified_email_comes_in_and_to_the_page_asked_for(
    provider, client, rex, rex_email, somebody
):
    answer = log_in(client, somebody(rex_email.upper()), next="/entries/?q=retry")
    assert (answer.status_code, answer["Location"]) == (302, "/entries/?q=retry")
    assert inside(client)
    account = rex.memberships.get().account
    assert actions(account) == ["identity_linked", "sign_in"]
    assert AuditRecord.objects.get(account=account, action="sign_in").after == {"by": "OpenID Connect"}
    assert rex.username in client.get("/settings/you/").content.decode()


def test_after_the_first_time_the_providers_id_counts_and_not_the_address(provider, rex, rex_email, somebody):
    sub = somebody(rex_email)
    log_in(Client(), sub)
    requests.put(f"{provider.issuer}/users/{sub}", json={"email": "other@example.com"}, timeout=10).raise_for_status()
    later = Client()
    assert log_in(later, sub).status_code == 302
    assert inside(later)
    # Whoever has the address at the provider by now is somebody else.
    answer = log_in(Client(), somebody(rex_email))
    assert answer.status_code == 403
    assert "knows under another id" in said(answer)
    assert Identity.objects.filter(person=rex).count() == 1


def test_an_email_that_is_not_verified_is_believed_by_nobody(provider, client, rex, rex_email, somebody):
    for verified in (False, None, "no", 0, "false"):
        answer = log_in(client, somebody(rex_email, verified=verified))
        assert answer.status_code == 403
        assert f"Corp does not say that {rex_email} is verified" in said(answer)
        assert not inside(client)
    assert not Identity.objects.filter(person=rex).exists()


def test_somebody_unknown_is_told_so_and_what_to_do(provider, client, db, somebody):
    answer = log_in(client, somebody("stranger@example.com"))
    assert answer.status_code == 403
    assert "Nobody here is known by stranger@example.com. Ask an admin" in said(answer)
    assert "no e-mail address" in said(log_in(client, somebody()))
    assert not Identity.objects.filter(issuer=provider.issuer).exists()


def test_the_email_that_somebody_wrote_for_themselves_lets_nobody_in(provider, client, rex, somebody):
    Person.objects.filter(pk=rex.pk).update(email="rex@example.com")
    assert log_in(client, somebody("rex@example.com")).status_code == 403


def test_a_state_of_somebody_else_of_before_or_of_nobody_is_refused(provider, rex, rex_email, somebody):
    sub, client, other = somebody(rex_email), Client(), Client()
    back = agree(leave(client), sub)
    assert come_back(other, back).status_code == 403
    assert come_back(other, f"{CALLBACK}?code=x&state=y").status_code == 403
    assert come_back(other, CALLBACK).status_code == 403
    assert come_back(client, back).status_code == 302
    # The same answer once more, by who has it from the history of the browser.
    client.post("/logout/")
    answer = come_back(client, back)
    assert answer.status_code == 403
    assert "Corp did not let you in" in said(answer)
    assert not inside(client)


def test_a_wrong_code_and_a_refusal_at_the_provider_are_told(provider, client, db):
    state = parse_qs(urlsplit(leave(client)).query)["state"][0]
    assert come_back(client, f"{CALLBACK}?code=wrong&state={state}").status_code == 403
    state = parse_qs(urlsplit(leave(client)).query)["state"][0]
    assert "did not let you in" in said(come_back(client, f"{CALLBACK}?error=access_denied&state={state}"))


def test_a_provider_that_is_away_or_is_another_is_told(provider, client, db, settings):
    for issuer in ("http://127.0.0.1:9", provider.issuer.replace("localhost", "127.0.0.1"), f"{provider.issuer}/users"):
        settings.OIDC = dataclasses.replace(provider, issuer=issuer)
        answer = client.get("/login/oidc/")
        assert answer.status_code in {302, 403}
        if answer.status_code == 302:
            # It calls itself as it is called; the id token does so too.
            assert issuer in answer["Location"]


def test_the_second_factor_is_asked_for_after_the_provider_as_well(provider, rex, rex_email, somebody, client_of):
    secret, _ = add_app(client_of(rex))
    client = Client()
    assert log_in(client, somebody(rex_email), next="/entries/?q=x")["Location"] == "/login/second-factor/"
    assert not inside(client)
    answer = client.post("/login/second-factor/", {"code": code_of(secret, later=1)})
    assert answer["Location"] == "/entries/?q=x"
    assert inside(client)


def test_an_account_that_requires_a_factor_requires_it_here_too(provider, client, account, rex, rex_email, somebody):
    type(account).objects.filter(pk=account.pk).update(second_factor_required=True)
    log_in(client, somebody(rex_email))
    assert client.get("/entries/")["Location"] == "/settings/you/security/"


def test_nobody_is_led_to_another_site(provider, client, rex, rex_email, somebody):
    assert log_in(client, somebody(rex_email), next="https://evil.example/")["Location"] == "/"


def test_strangers_join_where_the_settings_say_and_keep_to_their_own(provider, settings, account, somebody):
    settings.OIDC = dataclasses.replace(provider, account=account.slug, role="reviewer")
    mine = somebody(f"new-{secrets.token_hex(4)}@example.com", preferred_username="näw <b>person", name="New One")
    client = Client()
    assert log_in(client, mine).status_code == 302
    assert inside(client)
    member = Membership.objects.get(account=account)
    assert (member.role, member.person.username, member.person.first_name) == (Role.REVIEWER, "näwbperson", "New One")
    assert not member.person.has_usable_password()
    assert actions(account) == ["joined", "sign_in"]
    again = Client()
    log_in(again, mine)
    log_in(Client(), somebody(f"two-{secrets.token_hex(4)}@example.com", preferred_username="näwbperson"))
    names = set(Membership.objects.filter(account=account).values_list("person__username", flat=True))
    assert names == {"näwbperson", "näwbperson-2"}
    unverified = log_in(Client(), somebody("three@example.com", verified=False))
    assert unverified.status_code == 403


def test_an_account_to_join_that_is_not_there_is_told(provider, settings, client, db, somebody):
    settings.OIDC = dataclasses.replace(provider, account="nowhere")
    assert log_in(client, somebody("four@example.com")).status_code == 403
    assert not Person.objects.filter(known_email="four@example.com").exists()


def test_somebody_who_is_not_active_stays_out(provider, client, rex, rex_email, somebody):
    Person.objects.filter(pk=rex.pk).update(is_active=False)
    assert "may not log in here" in said(log_in(client, somebody(rex_email)))


def test_an_admin_writes_down_an_email_and_another_one_ends_what_it_let_in(provider, client_of, ada, rex, account):
    hers, one = client_of(ada), Membership.objects.get(account=account, person=rex).pk
    assert hers.post(f"/settings/people/{one}/email/", {"email": "Rex@Example.com"}).status_code == 302
    assert 'value="rex@example.com"' in hers.get("/settings/people/").content.decode()
    told = Said(provider.issuer, "sub-1", "rex@example.com", is_verified=True)
    now = rex.date_joined
    assert identities.person_of(told, provider=provider, by=SYSTEM, now=now) == rex
    assert hers.post(f"/settings/people/{one}/email/", {"email": ""}).status_code == 302
    assert not Identity.objects.filter(person=rex).exists()
    assert actions(account)[-1] == "email_known"


def test_an_email_is_one_persons_and_looks_like_one(provider, client_of, ada, rex, rex_email, account):
    hers, own = client_of(ada), Membership.objects.get(account=account, person=ada).pk
    assert hers.post(f"/settings/people/{own}/email/", {"email": rex_email}).status_code == 409
    assert hers.post(f"/settings/people/{own}/email/", {"email": "no address"}).status_code == 422


def test_no_admin_lets_an_address_in_to_an_account_they_do_not_look_after(
    provider, client_of, ada, rex, account, other_account
):
    hers, one = client_of(ada), Membership.objects.get(account=account, person=rex).pk
    hers.post(f"/settings/people/{one}/email/", {"email": "ada-too@example.com"})
    told = Said(provider.issuer, f"sub-{rex.pk}", "ada-too@example.com", is_verified=True)
    identities.person_of(told, provider=provider, by=SYSTEM, now=rex.date_joined)
    # Rex joins elsewhere: what this admin answered for is no way into it.
    token = people.invite(other_account, "viewer", note="", by=SYSTEM, now=rex.date_joined)
    people.accept(token, rex, by=SYSTEM, now=rex.date_joined)
    assert not Identity.objects.filter(person=rex).exists()
    rex.refresh_from_db()
    assert rex.known_email == ""
    assert hers.post(f"/settings/people/{one}/email/", {"email": "ada-too@example.com"}).status_code == 403


def test_reviewers_write_down_nobodys_address(client_of, rex, vera, account):
    one = Membership.objects.get(account=account, person=vera).pk
    assert client_of(rex).post(f"/settings/people/{one}/email/", {"email": "x@example.com"}).status_code == 403


def test_who_joined_keeps_their_only_way_in_when_they_join_elsewhere(provider, settings, account, other_account):
    known = dataclasses.replace(provider, account=account.slug)
    told = Said(provider.issuer, f"sub-{account.slug}", f"{account.slug}@example.com", is_verified=True)
    person = identities.person_of(told, provider=known, by=SYSTEM, now=account.created_at)
    token = people.invite(other_account, "viewer", note="", by=SYSTEM, now=account.created_at)
    people.accept(token, person, by=SYSTEM, now=account.created_at)
    assert identities.person_of(told, provider=provider, by=SYSTEM, now=account.created_at) == person
    assert services.find_account(account.slug)


@pytest.mark.parametrize(
    ("said_wrong", "words"),
    [
        ({"OIDC_CLIENT_ID": ""}, "needs OIDC_CLIENT_ID"),
        ({"OIDC_ISSUER": "http://id.example.com"}, "begins with https://"),
        ({"OIDC_ROLE": "king"}, "one of viewer, reviewer, admin"),
    ],
)
def test_settings_that_cannot_be_end_the_start_with_a_sentence(tmp_path, said_wrong, words):
    right = {"OIDC_ISSUER": "https://id.example.com", "OIDC_CLIENT_ID": "x", "OIDC_CLIENT_SECRET": "y"}
    environment = {**os.environ, "SENSELAB_DATA": str(tmp_path), **right, **said_wrong}
    command = [sys.executable, "-c", "import senselab.settings"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert words in done.stderr

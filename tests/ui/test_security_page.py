"""Settings > You > Security: an app with codes, passkeys, recovery codes, and the account that asks for one of them."""

import html
import json
import re

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.management import CommandError, call_command
from django.test import Client

from senselab.accounts import services
from senselab.accounts.models import Account, AuditRecord, Membership, Role
from tests.ui.conftest import plain
from tests.ui.device import Device, add_app, code_of, codes_in, secret_in

PASSWORD = "correct horse battery"
PAGE = "/settings/you/security/"


@pytest.fixture
def his(client_of, rex):
    return client_of(rex)


def said(answer):
    return plain(answer.content.decode())


def actions(account):
    return list(AuditRecord.objects.filter(account=account).order_by("id").values_list("action", flat=True))


def options_in(answer):
    return json.loads(html.unescape(re.search(r'data-options="([^"]*)"', answer.content.decode())[1]))


def add_passkey(client, device, name="Laptop", password=PASSWORD):
    options = options_in(client.get(f"{PAGE}passkey/"))
    form = {"name": name, "credential": device.make(options), "password": password}
    return client.post(f"{PAGE}passkey/", form)


def remove(client, person, kind, password=PASSWORD):
    one = Authenticator.objects.get(user=person, type=kind)
    return client.post(f"{PAGE}{one.pk}/remove/", {"password": password})


def test_an_app_is_added_by_its_code_and_shows_ten_recovery_codes_once(his, rex, account):
    _, answer = add_app(his)
    codes = codes_in(answer)
    assert len(set(codes)) == 10
    assert all(re.fullmatch(r"\d{10}", code) for code in codes)
    assert codes[0] not in his.get(PAGE).content.decode()
    assert "10 left" in said(his.get(PAGE))
    added = AuditRecord.objects.get(account=account, action="factor_added")
    assert (added.actor, added.after) == (rex.username, {"kind": "app"})


def test_the_secret_stands_in_a_picture_of_the_page_and_encrypted_in_the_database(his, rex):
    answer = his.get(f"{PAGE}app/")
    assert 'src="data:image/svg+xml;base64,' in answer.content.decode()
    secret = secret_in(answer)
    his.post(f"{PAGE}app/", {"code": code_of(secret), "password": PASSWORD})
    assert secret not in json.dumps(list(Authenticator.objects.filter(user=rex).values_list("data", flat=True)))


@pytest.mark.parametrize("wrong", [{"code": "000000"}, {"code": ""}, {"password": "wrong"}])
def test_no_app_is_added_by_a_wrong_code_or_password(his, rex, wrong):
    secret = secret_in(his.get(f"{PAGE}app/"))
    answer = his.post(f"{PAGE}app/", {"code": code_of(secret), "password": PASSWORD} | wrong)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    # The secret stays, so that nobody has to show it to the app again.
    assert secret_in(answer) == secret
    assert not Authenticator.objects.filter(user=rex).exists()


def test_there_is_one_app(his):
    add_app(his)
    assert add_app(his)[1].status_code == 409


def test_passkeys_are_added_and_the_recovery_codes_come_with_the_first(his, rex):
    assert len(codes_in(add_passkey(his, Device()))) == 10
    assert add_passkey(his, Device(), "Phone").status_code == 302
    page = said(his.get(PAGE))
    assert page.index("Laptop") < page.index("Phone")
    assert Authenticator.objects.filter(user=rex, type="webauthn").count() == 2


@pytest.mark.parametrize(
    "device",
    [
        Device(origin="https://evil.example"),
        Device(host="evil.example"),
        Device(verifies=False),
    ],
    ids=["another origin", "another host", "nobody was asked"],
)
def test_a_passkey_of_elsewhere_or_that_asks_nobody_is_refused(his, rex, device):
    assert add_passkey(his, device).status_code == 422
    assert not Authenticator.objects.filter(user=rex).exists()


@pytest.mark.parametrize("credential", ["", "{", "[]", "1", '{"response": 1}', '{"rawId": "AA", "response": {}}'])
def test_an_answer_that_is_no_passkey_is_refused_in_words(his, credential):
    his.get(f"{PAGE}passkey/")
    form = {"name": "x", "credential": credential, "password": PASSWORD}
    answer = his.post(f"{PAGE}passkey/", form)
    assert answer.status_code == 422
    assert "Begin again" in said(answer)


def test_a_name_of_a_passkey_is_shown_as_text(his):
    add_passkey(his, Device(), "<img src=x onerror=alert(1)>\u202egpj")
    assert "<img src=x" not in his.get(PAGE).content.decode()


def test_a_factor_goes_with_the_password_and_the_last_takes_the_recovery_codes_along(his, rex, account):
    add_app(his)
    add_passkey(his, Device())
    assert remove(his, rex, "totp", "wrong").status_code == 422
    assert remove(his, rex, "totp").status_code == 302
    assert "10 left" in said(his.get(PAGE))
    assert remove(his, rex, "webauthn").status_code == 302
    assert not Authenticator.objects.filter(user=rex).exists()
    assert actions(account)[-2:] == ["factor_removed", "factor_removed"]


def test_nobody_removes_what_is_somebody_elses(his, client_of, vera):
    hers = client_of(vera)
    add_app(hers)
    assert remove(his, vera, "totp").status_code == 404
    assert remove(his, vera, "recovery_codes").status_code == 404
    assert Authenticator.objects.filter(user=vera).count() == 2


def test_new_recovery_codes_end_the_old_ones(his):
    old = codes_in(add_app(his)[1])
    assert his.post(f"{PAGE}codes/", {"password": "wrong"}).status_code == 422
    new = codes_in(his.post(f"{PAGE}codes/", {"password": PASSWORD}))
    assert len(new) == 10
    assert not set(old) & set(new)


def test_recovery_codes_alone_are_not_to_be_had(his):
    assert his.post(f"{PAGE}codes/", {"password": PASSWORD}).status_code == 409


def test_a_wrong_password_counts_like_one_at_the_door(his, rex, account):
    add_app(his)
    for _ in range(9):
        assert remove(his, rex, "totp", "wrong").status_code == 422
    assert remove(his, rex, "totp", "wrong").status_code == 429
    assert remove(his, rex, "totp").status_code == 429
    assert "lockout" in actions(account)
    assert Authenticator.objects.filter(user=rex, type="totp").exists()


def test_a_password_hashed_as_it_was_years_ago_does_not_end_the_session(client_of, rex):
    rex.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=2)
    rex.save()
    his = client_of(rex)
    assert add_app(his)[1].status_code == 200
    assert his.get(PAGE).status_code == 200


def test_somebody_without_a_password_has_to_have_signed_in_a_moment_ago(his, rex):
    rex.set_unusable_password()
    rex.save()
    fresh = Client()
    fresh.force_login(rex, backend="django.contrib.auth.backends.ModelBackend")
    assert add_app(fresh, "")[1].status_code == 200
    rex.sign_ins.update(at="2020-01-01T00:00:00Z")
    assert remove(fresh, rex, "totp", "").status_code == 409


def test_an_account_that_requires_a_factor_leads_whoever_has_none_to_it_at_once(his, client_of, ada, account):
    hers = client_of(ada)
    assert hers.post("/settings/people/second-factor/", {"required": "yes"}).status_code == 302
    for address in ("/", "/entries/", "/settings/you/", "/settings/keys/"):
        answer = his.get(address)
        assert (answer.status_code, answer["Location"]) == (302, PAGE), address
    part = his.get("/entries/", headers={"HX-Request": "true"})
    assert (part.status_code, part["HX-Redirect"]) == (204, PAGE)
    assert "asks everybody for a second factor" in said(his.get(PAGE))
    add_app(his)
    assert his.get("/entries/").status_code == 200
    assert "second_factor_rule" in actions(account)


def test_a_rule_of_one_account_is_none_of_another(his, rex, account, other_account):
    services.give_role(rex, other_account, Role.VIEWER)
    Account.objects.filter(pk=account.pk).update(second_factor_required=True)
    his.post("/account/", {"account": account.slug})
    assert his.get("/entries/").status_code == 302
    assert his.post("/account/", {"account": other_account.slug}).status_code == 302
    assert his.get("/entries/").status_code == 200


def test_only_admins_say_who_needs_a_factor_and_reset_one(his, client_of, ada, account):
    one = Membership.objects.get(account=account, person=ada).pk
    assert his.post("/settings/people/second-factor/", {"required": "yes"}).status_code == 403
    assert his.post(f"/settings/people/{one}/factors/").status_code == 403


def test_an_admin_resets_the_factors_of_who_lost_them(his, client_of, ada, rex, account):
    add_app(his)
    hers, one = client_of(ada), Membership.objects.get(account=account, person=rex).pk
    assert "Reset factors" in said(hers.get("/settings/people/"))
    assert hers.post(f"/settings/people/{one}/factors/").status_code == 302
    assert his.get("/entries/").status_code == 302
    assert not Authenticator.objects.filter(user=rex).exists()
    told = AuditRecord.objects.get(account=account, action="factors_reset")
    assert (told.actor, told.target) == (ada.username, rex.username)


def test_no_admin_resets_their_own_or_those_of_who_belongs_elsewhere_too(client_of, ada, rex, account, other_account):
    hers = client_of(ada)
    own = Membership.objects.get(account=account, person=ada).pk
    assert hers.post(f"/settings/people/{own}/factors/").status_code == 409
    services.give_role(rex, other_account, Role.VIEWER)
    one = Membership.objects.get(account=account, person=rex).pk
    assert hers.post(f"/settings/people/{one}/factors/").status_code == 403
    theirs = Membership.objects.get(account=other_account, person=rex).pk
    assert hers.post(f"/settings/people/{theirs}/factors/").status_code == 404


def test_a_command_resets_them_when_no_admin_can(his, rex, account, capsys):
    add_app(his)
    call_command("resetfactors", rex.username)
    assert not Authenticator.objects.filter(user=rex).exists()
    assert AuditRecord.objects.get(account=account, action="factors_reset").actor == "command"
    with pytest.raises(CommandError, match="Nobody is called"):
        call_command("resetfactors", "nobody at all")

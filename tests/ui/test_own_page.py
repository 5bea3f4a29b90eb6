"""Settings > You: the password, the sessions, and the trail of signing in."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from senselab.accounts.models import AuditRecord, SignIn

OLD, NEW = "correct horse battery", "a quiet lake at dawn"


def signed_in(person, password=OLD, address="192.0.2.7"):
    client = Client(REMOTE_ADDR=address, headers={"User-Agent": "Testing/1.0"})
    form = {"username": person.username, "password": password}
    return client, client.post("/login/", form).status_code


def actions(account):
    return list(AuditRecord.objects.filter(account=account).order_by("id").values_list("action", "address"))


def test_sign_ins_failures_and_sign_outs_are_on_record_with_their_address(account, rex):
    client, status = signed_in(rex)
    assert status == 302
    client.post("/logout/")
    signed_in(rex, "wrong")
    assert actions(account) == [(word, "192.0.2.7") for word in ("sign_in", "sign_out", "sign_in_failed")]


def test_after_ten_failures_the_door_is_shut_and_that_is_on_record(account, rex):
    for _ in range(10):
        signed_in(rex, "wrong")
    assert signed_in(rex)[1] == 429
    assert ("lockout", "192.0.2.7") in actions(account)
    # Somebody at another address is not kept out by it.
    assert signed_in(rex, address="192.0.2.8")[1] == 302


def test_a_name_nobody_has_tells_no_account(account, rex):
    Client().post("/login/", {"username": "nobody", "password": "x"})
    assert actions(account) == []


def test_the_page_lists_where_one_is_signed_in(rex):
    client, _ = signed_in(rex)
    signed_in(rex, address="198.51.100.4")
    html = client.get("/settings/you/").content.decode()
    assert "Testing/1.0" in html
    assert "198.51.100.4" in html
    assert html.count("this one") == 1


def test_signing_out_everywhere_ends_every_other_session_known_or_not(account, rex, client_of):
    here, _ = signed_in(rex)
    there, _ = signed_in(rex)
    unknown = client_of(rex)
    SignIn.objects.filter(session_key=unknown.session.session_key).delete()
    assert here.post("/settings/you/sign-out-everywhere/").status_code == 302
    assert [one.get("/settings/you/").status_code for one in (here, there, unknown)] == [200, 302, 302]
    assert actions(account)[-1][0] == "signed_out_everywhere"
    assert here.get("/settings/you/").content.decode().count("this one") == 1


def test_one_session_is_ended_and_nobody_elses(rex, vera, client_of):
    here, _ = signed_in(rex)
    there, _ = signed_in(rex)
    hers = client_of(vera)
    theirs = SignIn.objects.get(session_key=hers.session.session_key)
    assert here.post(f"/settings/you/sign-ins/{theirs.pk}/end/").status_code == 404
    one = SignIn.objects.get(session_key=there.session.session_key)
    assert here.post(f"/settings/you/sign-ins/{one.pk}/end/").status_code == 302
    assert not Session.objects.filter(session_key=one.session_key).exists()
    assert [one.get("/settings/you/").status_code for one in (here, there, hers)] == [200, 302, 200]


def test_a_changed_password_ends_the_other_sessions(account, rex):
    here, _ = signed_in(rex)
    there, _ = signed_in(rex)
    form = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}
    assert here.post("/settings/you/", form).status_code == 302
    assert [one.get("/settings/you/").status_code for one in (here, there)] == [200, 302]
    assert signed_in(rex, NEW)[1] == 302
    assert ("password_changed", "192.0.2.7") in actions(account)


@pytest.mark.parametrize(
    "form",
    [
        {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW},
        {"old_password": OLD, "new_password1": "short", "new_password2": "short"},
        {"old_password": OLD, "new_password1": NEW, "new_password2": NEW + "!"},
    ],
)
def test_a_password_that_cannot_be_is_refused(rex, form):
    here, _ = signed_in(rex)
    answer = here.post("/settings/you/", form)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.content.decode()
    rex.refresh_from_db()
    assert rex.check_password(OLD)


def test_a_change_needs_the_token_of_the_form(rex):
    client = Client(enforce_csrf_checks=True)
    client.force_login(rex, backend="django.contrib.auth.backends.ModelBackend")
    assert client.post("/settings/you/sign-out-everywhere/").status_code == 403

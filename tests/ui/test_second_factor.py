"""The second factor at the door: asked after the password, counted like it, and every code good for once."""

import json
import threading
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import Client
from django.utils import timezone

from senselab import replicas
from senselab.accounts import factors
from senselab.accounts.models import AuditRecord, Person
from tests.ui.conftest import plain
from tests.ui.device import Device, add_app, code_of, codes_in
from tests.ui.test_security_page import add_passkey, options_in

PASSWORD = "correct horse battery"
DOOR = "/login/second-factor/"


@pytest.fixture
def with_app(client_of, rex):
    """Rex has an app; return its secret and his recovery codes."""
    secret, answer = add_app(client_of(rex))
    return secret, codes_in(answer)


@pytest.fixture
def device(client_of, rex):
    """Rex has a passkey and nothing else."""
    made = Device()
    add_passkey(client_of(rex), made)
    return made


def at_the_door(person, **more):
    """Return somebody who gave the right password, from an address of their own."""
    client = Client(REMOTE_ADDR="192.0.2.7")
    form = {"username": person.username, "password": PASSWORD}
    answer = client.post("/login/", form | more)
    assert (answer.status_code, answer["Location"]) == (302, DOOR)
    return client


def inside(client):
    return client.get("/entries/").status_code == 200


def ways(account):
    found = AuditRecord.objects.filter(account=account, action="sign_in", after__isnull=False).order_by("id")
    return [one.after["by"] for one in found]


def test_the_password_alone_opens_nothing(with_app, rex):
    client = at_the_door(rex)
    assert not inside(client)
    assert client.get("/settings/you/security/").status_code == 302
    assert rex.username in plain(client.get(DOOR).content.decode())


def test_the_code_of_the_app_opens_the_page_that_was_asked_for(with_app, rex, account):
    client = at_the_door(rex, next="/entries/?q=retry")
    answer = client.post(DOOR, {"code": code_of(with_app[0], later=1)})
    assert (answer.status_code, answer["Location"]) == (302, "/entries/?q=retry")
    assert inside(client)
    assert ways(account) == ["password, code"]


def test_a_code_may_be_typed_with_spaces(with_app, rex):
    code = code_of(with_app[0], later=1)
    assert at_the_door(rex).post(DOOR, {"code": f" {code[:3]} {code[3:]} "}).status_code == 302


def test_a_code_works_once_and_none_before_it_does_any_more(with_app, rex):
    later = code_of(with_app[0], later=1)
    assert at_the_door(rex).post(DOOR, {"code": later}).status_code == 302
    for seen in (later, code_of(with_app[0]), code_of(with_app[0], later=-1)):
        assert at_the_door(rex).post(DOOR, {"code": seen}).status_code == 422


def test_a_recovery_code_works_once(with_app, rex, account):
    code = with_app[1][3]
    assert at_the_door(rex).post(DOOR, {"code": code}).status_code == 302
    again = at_the_door(rex).post(DOOR, {"code": code})
    assert again.status_code == 422
    assert "not a code that works now" in plain(again.content.decode())
    assert ways(account) == ["password, recovery code"]
    assert factors.of(rex).codes_left == 9


@pytest.mark.parametrize("code", ["", "0", "000000", "٠٠٠٠٠٠", "1" * 40, "\0", "None"])
def test_a_wrong_code_is_refused_and_on_record(with_app, rex, account, code):
    client = at_the_door(rex)
    assert client.post(DOOR, {"code": code}).status_code == 422
    assert not inside(client)
    assert AuditRecord.objects.get(account=account, action="factor_failed").address == "192.0.2.7"


def test_after_ten_wrong_codes_the_door_is_shut_to_the_password_too(with_app, rex, account):
    client = at_the_door(rex)
    answers = [client.post(DOOR, {"code": "000000"}).status_code for _ in range(10)]
    assert answers == [422] * 9 + [429]
    assert client.post(DOOR, {"code": code_of(with_app[0], later=1)}).status_code in {302, 429}
    assert not inside(client)
    form = {"username": rex.username, "password": PASSWORD}
    assert Client(REMOTE_ADDR="192.0.2.7").post("/login/", form).status_code == 429
    assert Client(REMOTE_ADDR="192.0.2.8").post("/login/", form).status_code == 302
    assert AuditRecord.objects.filter(account=account, action="lockout").exists()


def test_a_right_password_in_between_gives_no_further_tries(with_app, rex):
    for _ in range(9):
        at_the_door(rex).post(DOOR, {"code": "000000"})
    assert at_the_door(rex).post(DOOR, {"code": "000000"}).status_code == 429


def test_what_failed_is_not_kept_in_clear(with_app, rex):
    at_the_door(rex).post(DOOR, {"code": "1234567890"})
    with connection.cursor() as cursor:
        cursor.execute("SELECT post_data FROM axes_accessattempt WHERE username = %s", [rex.username])
        assert "1234567890" not in json.dumps(cursor.fetchall())


def test_who_waits_too_long_or_changed_the_password_begins_again(with_app, rex):
    client = at_the_door(rex)
    session = client.session
    session["second_factor"] |= {"at": (timezone.now() - timedelta(minutes=11)).timestamp()}
    session.save()
    assert client.get(DOOR)["Location"] == "/login/"
    other = at_the_door(rex)
    rex.set_password("a quiet lake at dawn")
    rex.save()
    assert other.post(DOOR, {"code": code_of(with_app[0], later=1)})["Location"] == "/login/"
    assert not inside(other)


def test_nobody_comes_to_the_second_factor_first(db):
    assert Client().get(DOOR)["Location"] == "/login/"
    assert Client().post(DOOR, {"code": "123456"})["Location"] == "/login/"


def test_a_code_of_somebody_else_opens_nothing(with_app, rex, vera, client_of):
    hers, _ = add_app(client_of(vera))
    assert at_the_door(rex).post(DOOR, {"code": code_of(hers, later=1)}).status_code == 422


def test_under_another_secret_key_no_code_fits(with_app, rex, settings):
    settings.SECRET_KEY = "another"
    client = at_the_door(rex)
    assert client.post(DOOR, {"code": code_of(with_app[0], later=1)}).status_code == 422
    assert client.post(DOOR, {"code": with_app[1][0]}).status_code == 422


def test_a_passkey_is_the_second_factor(device, rex, account):
    client = at_the_door(rex)
    proof = device.prove(options_in(client.get(DOOR)))
    assert client.post(DOOR, {"credential": proof}).status_code == 302
    assert inside(client)
    assert ways(account) == ["password, passkey"]


def test_a_proof_works_for_what_was_asked_and_not_again(device, rex):
    first = at_the_door(rex)
    proof = device.prove(options_in(first.get(DOOR)))
    other = at_the_door(rex)
    other.get(DOOR)
    assert other.post(DOOR, {"credential": proof}).status_code == 422
    assert first.post(DOOR, {"credential": proof}).status_code == 422 or inside(first)


def test_a_passkey_alone_lets_its_owner_in(device, rex, account):
    client = Client()
    proof = device.prove(client.get("/login/passkey/").json())
    answer = client.post("/login/passkey/", {"credential": proof, "next": "/entries/?q=x"})
    assert (answer.status_code, answer["Location"]) == (302, "/entries/?q=x")
    assert inside(client)
    assert ways(account) == ["passkey"]


def test_a_passkey_leads_nobody_to_another_site(device):
    client = Client()
    form = {"credential": device.prove(client.get("/login/passkey/").json()), "next": "https://evil.example/"}
    assert client.post("/login/passkey/", form)["Location"] == "/"


def test_a_passkey_that_asked_nobody_does_not_do_alone(device, rex, account):
    device.flags &= ~4
    client = Client()
    answer = client.post("/login/passkey/", {"credential": device.prove(client.get("/login/passkey/").json())})
    assert answer.status_code == 422
    # Nor with the question of the second factor, which asks for less.
    client = at_the_door(rex)
    proof = device.prove(options_in(client.get(DOOR)))
    assert client.post("/login/passkey/", {"credential": proof}).status_code == 422
    assert not inside(client)


def test_a_passkey_that_nobody_knows_names_nobody(device, rex, vera, account):
    stranger, client = Device(), Client()
    stranger.handle = device.handle
    answer = client.post("/login/passkey/", {"credential": stranger.prove(client.get("/login/passkey/").json())})
    assert answer.status_code == 422
    assert not inside(client)
    assert AuditRecord.objects.filter(account=account, action="factor_failed").exists()


@pytest.mark.parametrize("credential", ["", "{", "[]", '{"response": {"userHandle": "AA"}}', '{"response": 7}'])
def test_an_answer_that_is_no_proof_is_refused_in_words(db, credential):
    client = Client()
    client.get("/login/passkey/")
    answer = client.post("/login/passkey/", {"credential": credential})
    assert answer.status_code == 422
    assert "passkey does not fit" in plain(answer.content.decode())


def test_somebody_who_is_not_active_gets_in_by_nothing(device, rex):
    Person.objects.filter(pk=rex.pk).update(is_active=False)
    client = Client()
    answer = client.post("/login/passkey/", {"credential": device.prove(client.get("/login/passkey/").json())})
    assert answer.status_code == 422


@pytest.mark.parametrize("address", ["/login/passkey/", "/login/oidc/callback/", "/settings/you/security/app/"])
def test_a_look_that_begins_a_session_or_a_question_is_none_for_a_standby(rf, address):
    assert not replicas.only_reads(rf.get(address))


def test_two_who_race_with_one_code_get_in_once(lasting, client_of, rex):
    secret, answer = add_app(client_of(rex))
    for code in (code_of(secret, later=1), codes_in(answer)[0]):
        doors = [at_the_door(rex) for _ in range(4)]
        statuses: list[int] = []

        def go(client, code=code, statuses=statuses):
            try:
                statuses.append(client.post(DOOR, {"code": code}).status_code)
            finally:
                connection.close()

        threads = [threading.Thread(target=go, args=[client]) for client in doors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(statuses) == [302, 422, 422, 422]
    Authenticator.objects.filter(user=rex).delete()

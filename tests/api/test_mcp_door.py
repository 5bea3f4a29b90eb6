"""What is refused at /mcp before the protocol hears of it, and what is noted of it there."""

import io

from django.db import OperationalError

from senselab import failures
from senselab.accounts import audit, keys
from senselab.accounts import services as accounts
from senselab.accounts.models import AuditRecord
from senselab.mcp import door


def call(key):
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/mcp",
        "HTTP_HOST": "localhost",
        "REMOTE_ADDR": "192.0.2.7",
        "HTTP_X_API_KEY": key,
        "wsgi.input": io.BytesIO(),
    }


def answered(refusal):
    told = {}
    door.refuse(lambda status, headers: told.update({"Status": status, **dict(headers)}), *refusal)
    return told


def test_a_key_that_is_good_comes_in(api_key):
    environ = call(api_key)
    assert door.refused(environ) is None
    assert environ["senselab.caller"].account_id


def test_a_connection_that_the_server_ended_is_let_go_first(api_key, monkeypatch):
    order, find = [], keys.find
    monkeypatch.setattr(failures, "let_go_if_closed", lambda: order.append("let go"))
    monkeypatch.setattr(keys, "find", lambda *said: order.append("found") or find(*said))
    assert door.refused(call(api_key)) is None
    assert order == ["let go", "found"]


def test_a_database_that_is_away_is_503_with_when_to_ask_again(api_key, monkeypatch):
    def away(*said):
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(keys, "find", away)
    told = answered(door.refused(call(api_key)))
    assert (told["Status"], told["Retry-After"]) == ("503 Service Unavailable", "2")


def test_a_key_that_is_known_and_refused_is_on_the_audit_trail(account, monkeypatch):
    made = accounts.make_key(account, name="old key")
    accounts.revoke_key(account.pk, made.key.pk, now=made.key.created_at)
    told = answered(door.refused(call(made.text)))
    assert told["Status"] == "401 Unauthorized"
    audit.refusals.write(everything=True)
    kept = AuditRecord.objects.get(account=account, action="refused")
    assert (kept.actor, kept.address) == ("old key", "192.0.2.7")
    assert "POST /mcp" in kept.target


def test_every_call_is_taken_from_the_rate_of_the_key(account):
    key = accounts.create_key(account, name="slow", rate_per_minute=1)
    assert door.refused(call(key)) is None
    told = answered(door.refused(call(key)))
    assert told["Status"] == "429 Too Many Requests"
    assert 1 <= int(told["Retry-After"]) <= 60

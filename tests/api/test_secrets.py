"""Keys and tokens in what agents write: refused, redacted, or stored as they are, as the account's policy says."""

import logging

import pytest
from django.utils import timezone

from memories import screening
from memories.models import Comment, Entry
from memories.services import policies
from memories.services.ledger import Actor
from senselab.accounts import services as accounts
from tests.api.conftest import Caller

KEY = "AKIA" + "QWERTYUIOPASDFGH"
STRUCK = "[redacted: AWS Access Key]"


@pytest.fixture
def rule(account):
    """Let the account have this rule from now on."""

    def saved(word):
        account.refresh_from_db()
        policies.save(
            account.pk, {"secrets": word}, expected=account.policy_version, actor=Actor("person", "ada"),
            reason="keys belong elsewhere", now=timezone.now(),
        )  # fmt: skip

    return saved


def dumped(bot):
    """Return all that can be read of an account."""
    asked = ("entries", "change-sets", "review", "policy", "timeline")
    return b"".join(bot.get(path).content for path in asked).decode()


def test_by_default_a_key_is_stored_as_it_came(bot):
    assert bot.write("shop", "aws", f"use {KEY}").json()["value"] == f"use {KEY}"
    assert bot.get("policy").json()["values"]["secrets"] == "flag"


@pytest.mark.parametrize("word", ["off", "flag"])
def test_where_nothing_is_done_before_storing_nothing_is_looked_at(bot, rule, monkeypatch, word):
    if word == "off":
        rule(word)
    monkeypatch.delattr(screening, "hits")
    assert bot.write("shop", "aws", KEY).status_code == 200


def test_refused_it_is_stored_nowhere_and_named_nowhere(bot, rule, caplog):
    rule("refuse")
    with caplog.at_level(logging.DEBUG):
        answer = bot.write("shop", "aws", {"note": "for the deploy", "key": KEY})
    assert answer.status_code == 422
    (place,) = answer.json()["errors"]
    assert place["pointer"] == "/value"
    assert "AWS Access Key" in place["detail"]
    assert KEY not in answer.content.decode() + caplog.text + dumped(bot)
    assert bot.get("entries").json()["total"] == 0
    assert bot.write("shop", "aws", "it is in the vault").status_code == 200


def test_redacted_the_rest_is_stored_and_answered(bot, rule):
    rule("redact")
    told = bot.write("shop", "aws", {"key": KEY, "n": 1.50}, artifact_refs=[{"uri": f"s3://{KEY}@bucket"}]).json()
    assert told["value"] == {"key": STRUCK, "n": 1.5}
    assert told["artifact_refs"] == [{"uri": f"s3://{STRUCK}@bucket"}]
    assert bot.read("shop", "aws")["content_hash"] == told["content_hash"]
    assert KEY not in dumped(bot)


def test_each_way_in_obeys(bot, reviewer, rule):
    bot.write("shop", "old", 1)
    rule("refuse")
    name = {"entity_path": "shop", "key": "old"}
    refused = {
        "commit": bot.post(
            "commits", {"writes": [{**name, "value": 2}, {"entity_path": "a", "key": "b", "value": KEY}]}
        ),
        "feedback": bot.post("feedback", {**name, "outcome": "superseded", "replacement": {"value": KEY}}),
        "edit": reviewer.post(
            "review/decisions", {"decision": "edit", "value": KEY, "items": [{**name, "version": 1}]}
        ),
        "event": bot.post("events", {"source": "ci", "entity_path": "shop", "key": "seen", "value": KEY}),
        "private": bot.write("shop", "own", KEY, shared=False),
    }
    assert {way: answer.status_code for way, answer in refused.items()} == dict.fromkeys(refused, 422)
    assert refused["commit"].json()["errors"][0]["pointer"] == "/writes/1/value"
    assert bot.read("shop", "old")["value"] == 1
    assert bot.get("entries").json()["total"] == 1


TOLD = {"outcome_ref": "task 1", "outcome_type": "success", "causal_entry_keys": ["shop/old"]}


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("feedback", {"outcome": "accepted", "note": KEY}, "/note"),
        ("evidence", {"evidence": {"description": KEY}}, "/evidence/description"),
        ("outcomes", {**TOLD, "task_input": KEY}, "/task_input"),
        ("outcomes", {**TOLD, "tool_calls": [{"tool_name": "sh", "arguments": KEY}]}, "/tool_calls/0/arguments"),
        ("traces", {"session_id": "s", "outcome_ref": "t", "response_text": KEY}, "/response_text"),
        ("timeline/events", {"event_type": "note", "summary": "s", "details": {"a/b": KEY}}, "/details/a~1b"),
        ("graph/edges", {"source_entity": "a", "relation": "b", "target_entity": "c", "provenance": {"x": KEY}}, None),
        ("rollback", {"to_version": 1, "expected_version": 1, "reason": KEY}, "/reason"),
    ],
)
def test_no_text_of_an_agent_gets_past_the_rule(bot, reviewer, rule, path, body, pointer):
    bot.write("shop", "old", 1)
    rule("refuse")
    caller = reviewer if path == "rollback" else bot
    name = {"entity_path": "shop", "key": "old"} if path in {"feedback", "evidence", "rollback"} else {}
    answer = caller.post(path, {**name, **body})
    assert answer.status_code == 422, answer.content
    (place,) = answer.json()["errors"]
    assert place["pointer"] == (pointer or "/provenance/x")
    assert "AWS Access Key" in place["detail"]
    assert KEY not in answer.content.decode() + dumped(bot)


def test_redacted_the_rest_of_what_an_agent_tells_is_stored(bot, rule):
    bot.write("shop", "old", 1)
    rule("redact")
    assert bot.post("outcomes", {**TOLD, "task_input": f"deploy with {KEY}"}).status_code == 200
    made = bot.post("traces", {"session_id": "s", "outcome_ref": "t", "response_text": f"used {KEY}", "own": [KEY]})
    told = bot.get(f"traces/{made.json()['id']}").content.decode()
    assert f"used {STRUCK}" in told
    assert KEY not in told + bot.get("pro/export", format="sft", min_confidence=0).content.decode()


def test_a_key_in_a_form_of_a_person_is_held_to_the_rule_too(bot, rule, client_of, ada, account):
    bot.write("shop", "old", 1, confidence=0.1)
    entry = Entry.objects.get(account=account, key="old")
    said = {"entry": entry.pk, "version": 1, "decision": "comment", "text": f"is it {KEY}?"}
    client = client_of(ada)
    rule("refuse")
    answer = client.post("/review/decide/", said)
    assert (answer.status_code, KEY in answer.content.decode()) == (422, False)
    assert not Comment.objects.filter(account=account).exists()
    rule("redact")
    assert client.post("/review/decide/", said).status_code in {200, 302}
    assert Comment.objects.get(account=account).text == f"is it {STRUCK}?"


def test_what_cannot_be_looked_through_in_time_is_refused(bot, rule, monkeypatch):
    rule("redact")
    whole = screening.hits
    monkeypatch.setattr(screening, "hits", lambda text: whole(text, seconds=0.0))
    answer = bot.write("shop", "long", "eyJ" * 1_000)
    assert answer.status_code == 422
    assert "too long" in answer.json()["errors"][0]["detail"]
    assert bot.get("entries").json()["total"] == 0


def test_a_rule_that_is_none_is_refused(bot, rule):
    with pytest.raises(policies.Invalid):
        rule("perhaps")


ODD = {
    "half a character in a value": f'{{"entity_path": "a", "key": "b", "value": "\\ud800 {KEY}"}}'.encode(),
    "no UTF-8 beside it": b'{"entity_path": "a", "key": "b", "value": 1, "x": "\xff ' + KEY.encode() + b'"}',
    "a number too long to read": b'{"entity_path": "a", "key": "b", "value": "%b", "x": %b}'
    % (KEY.encode(), b"1" * 5_000),
    "very deep": b'{"entity_path": "a", "key": "b", "value": "%b", "x": %b1%b}'
    % (KEY.encode(), b"[" * 900, b"]" * 900),
}


@pytest.mark.parametrize("word", ["refuse", "redact"])
@pytest.mark.parametrize("name", ODD)
def test_whatever_stands_beside_a_key_is_no_fault(bot, rule, word, name):
    rule(word)
    answer = bot.post("entries", ODD[name])
    assert answer.status_code in {200, 400, 422}, answer.content
    assert KEY not in dumped(bot)


@pytest.mark.parametrize("word", ["refuse", "redact"])
def test_what_has_a_key_for_a_name_can_be_erased(bot, account, rule, word):
    admin = Caller(accounts.create_key(account, name="admin key", scopes=("admin",), rate_per_minute=1_000))
    bot.write("shop", KEY, 1)
    rule(word)
    named = {"entity_path": "shop", "key": KEY, "confirm": f"shop/{KEY}", "names": True}
    assert admin.post("erasures", {**named, "reason": "it is a key"}).status_code == 200
    assert KEY not in dumped(bot)

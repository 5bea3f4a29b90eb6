"""Calls of the API pass by what only pages need, and lose nothing by it."""

import pytest
from django.test import Client

from memories.models import EntryVersion
from senselab.accounts.models import Account, ApiKey

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


def test_an_answer_of_the_api_carries_the_headers_of_security_whatever_it_is(bot):
    bot.write("shop", "k", 1)
    for answer in (bot.get("entries/shop/k"), bot.get("nothing-here"), Client().get("/api/v1/entries/shop/k")):
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


def test_a_session_is_no_way_into_the_api(account, bot, client_of, ada):
    bot.write("shop", "k", 1)
    assert client_of(ada).get("/api/v1/entries/shop/k").status_code == 401


def test_a_host_that_is_not_ours_is_refused_there_too(bot):
    assert Client(headers={"host": "elsewhere.example"}).get("/api/v1/health").status_code == 400


def test_an_answer_is_json_whatever_the_call_accepts(bot):
    bot.write("shop", "k", 1)
    answer = bot.get("entries/shop/k", headers={"Accept": "text/html"})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


CALLS = {
    "a read": lambda bot: bot.get("entries/shop/k"),
    "a read by query": lambda bot: bot.get("entry", entity_path="shop", key="k"),
    "a history": lambda bot: bot.get("history/shop/k"),
    "a list": lambda bot: bot.get("entries", entity_path="shop"),
    "a search": lambda bot: bot.post("search", {"query": "secret"}),
    "a retrieval": lambda bot: bot.post("retrieve", {"query": "secret", "limit": 3}),
    "a briefing": lambda bot: bot.get("briefing", entity_path="shop"),
    "figures": lambda bot: bot.get("stats"),
    "a write": lambda bot: bot.write("shop", "k", "another"),
    "a write that may be repeated": lambda bot: bot.write("shop", "k", "other", headers={"Idempotency-Key": "once"}),
    "an outcome": lambda bot: bot.report("T-1", "success", "shop/k"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    "gone", [{"revoked_at": "2001-01-01T00:00Z"}, {"scopes": ["review"]}], ids=["ended", "narrowed"]
)
def test_a_key_that_was_good_a_moment_ago_does_nothing_once_it_is_not(account, bot, call, gone):
    bot.write("shop", "k", "secret")
    assert bot.get("entries/shop/k").status_code == 200
    before = tuple(EntryVersion.objects.filter(account=account).values_list("number", "confidence"))
    # As another process would do it, of which this one hears nothing.
    ApiKey.objects.filter(account=account).update(**gone)
    answer = call(bot)
    assert answer.status_code in {401, 403}
    assert b"secret" not in answer.content
    assert tuple(EntryVersion.objects.filter(account=account).values_list("number", "confidence")) == before


def test_a_policy_changed_elsewhere_holds_from_the_next_call(account, bot):
    before = bot.get("policy").json()["values"]
    values = {**account.policy_values, "review_below": before["review_below"] + 0.01}
    Account.objects.filter(pk=account.pk).update(policy_values=values, policy_version=account.policy_version + 1)
    assert bot.get("policy").json()["values"]["review_below"] == pytest.approx(before["review_below"] + 0.01)


@pytest.mark.parametrize("method", ["DISPATCH", "INITIAL", "HANDLE_EXCEPTION", "SETUP", "AS_VIEW", "SCOPES", "TRACE"])
def test_what_a_view_has_beside_its_methods_is_no_method_of_http(bot, method):
    answer = bot.client.generic(method, "/api/v1/entries", headers=bot.headers)
    assert answer.status_code == 405
    assert answer.json()["status"] == 405


def test_options_and_head_are_answered_as_ever(bot):
    bot.write("shop", "k", 1)
    assert bot.client.head("/api/v1/entries/shop/k", headers=bot.headers).status_code == 200
    assert bot.client.options("/api/v1/entries/shop/k", headers=bot.headers).status_code == 200

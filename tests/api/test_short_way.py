"""Calls of the API pass by what only pages need, and lose nothing by it."""

from django.test import Client

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

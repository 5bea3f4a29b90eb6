"""What calls cost: round trips and statements, never time (DESIGN.md, The fast path)."""

import pytest

from tests.db import trips


def test_probe(relay, bot, reviewer, api_key):
    def show(name, call, times=6):
        for i in range(times):
            call(i)
        with trips.counted(relay) as told:
            answer = call(times)
        print(name, answer.status_code, told.trips, len(told.statements), [s[:60] for s in told.statements])

    show("first write", lambda i: bot.write("shop", f"k{i}", i))
    show("rewrite", lambda i: bot.write("shop", "k", i))
    show("scope", lambda i: bot.write("shop", "k", i, include_scope=True))
    show("idem", lambda i: bot.write("shop", "k", i, headers={"Idempotency-Key": str(i)}))
    show("read", lambda i: bot.get("entries/shop/k"))
    show("list", lambda i: bot.get("entries"))
    show("listv", lambda i: bot.get("entries", include_superseded="true"))
    show("search", lambda i: bot.post("search", {"query": "k"}))
    show("history", lambda i: bot.get("history", entity_path="shop", key="k"))
    show("why", lambda i: bot.get("why", entity_path="shop", key="k"))
    show("diff", lambda i: bot.get("diff", entity_path="shop", key="k"))
    show("outcome 1", lambda i: bot.report(f"r{i}", "success", "shop/k"))
    show("outcome 5", lambda i: bot.report(f"s{i}", "success", *[f"shop/k{n}" for n in range(5)]))
    show("outcome again", lambda i: bot.report("s", "success", "shop/k"))
    show("stats", lambda i: bot.get("stats"))
    show("entities", lambda i: bot.get("entities"))
    show("sets", lambda i: bot.get("change-sets"))
    show("outcomes", lambda i: bot.get("outcomes"))
    show(
        "rollback",
        lambda i: reviewer.post(
            "rollback",
            {"entity_path": "shop", "key": "k", "to_version": 1, "expected_version": bot.read("shop", "k")["version"]},
        ),
    )

"""What calls cost: round trips and statements, never time (DESIGN.md, The fast path)."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.http import HttpResponse
from psycopg import _queries

from tests.db import acts, trips
from tests.db.conftest import Caller
from tests.db.trips import Counted, Relay

# A statement is prepared when it comes for the third time, which takes one more trip once.
WARM = 4
NAME = {"entity_path": "shop", "key": "k1"}
TRACE = {"session_id": "s1", "outcome_type": "success", "causal_entries": [NAME]}
EDGE = {"source_entity": "shop/k1", "relation": "relies_on", "target_entity": "shop/k0"}
Call = Callable[[int], HttpResponse]


def cost(relay: Relay, call: Call) -> Counted:
    """Return what a call costs on a connection that has made it before; it is told how often it was made."""
    for turn in range(WARM):
        call(turn)
    with trips.counted(relay) as told:
        assert call(WARM).status_code == 200
    return told


def outcome(bot: Caller, keys: list[str], **more: bool) -> Call:
    return lambda turn: bot.report(f"{len(keys)}-{turn}", "success", *keys, **more)


@pytest.mark.parametrize(
    ("call", "round_trips"),
    [
        (lambda bot: lambda turn: bot.write("shop", f"new {turn}", turn), 2),
        (lambda bot: lambda turn: bot.write("shop", "same", turn), 2),
        (lambda bot: lambda turn: bot.write("shop", "same", "said again"), 2),
        (lambda bot: lambda turn: bot.write("shop", "same", turn, include_scope=True), 2),
        (lambda bot: lambda turn: bot.write("shop", f"own {turn}", 1, shared=False), 2),
        (lambda bot: lambda turn: bot.get("entries/shop/k1"), 1),
        (lambda bot: lambda turn: bot.get("entry", **NAME), 1),
        (lambda bot: lambda turn: bot.get("entries/shop/nothing-here"), 1),
        (lambda bot: lambda turn: bot.get("history/shop/k1"), 1),
        (lambda bot: lambda turn: bot.get("entries", entity_path="shop"), 1),
    ],
    ids=[
        "first write",
        "rewrite",
        "same claim",
        "with scope",
        "private",
        "read",
        "read by name",
        "not found",
        "history",
        "list",
    ],
)
def test_a_write_takes_two_round_trips_and_a_read_one_with_authentication(relay, account, bot, call, round_trips):
    acts.fill(account, 2)
    assert cost(relay, call(bot)).trips == round_trips


def test_keeping_a_contract_costs_a_write_no_round_trip(relay, bot):
    contract = {"entity_path": "shop", "required_fields": ["n"], "ttl_required": True, "default_ttl_days": 30}
    bot.put("agents/agent/deploy-bot/contracts", [contract])
    told = cost(relay, lambda turn: bot.write("shop", "same", {"n": turn}))
    assert told.trips == 2
    assert bot.read("shop", "same")["ttl_at"] is not None


def test_publishing_takes_two_round_trips_as_well(relay, bot):
    for turn in range(WARM + 1):
        bot.write("shop", f"k{turn}", 1, shared=False)
    assert cost(relay, lambda turn: bot.write("shop", f"k{turn}", 1)).trips == 2


def test_an_outcome_over_fifty_entries_takes_as_many_statements_as_over_one(relay, account, bot):
    acts.fill(account, 50)
    one = cost(relay, outcome(bot, ["shop/k1"], trace_follows=True))
    fifty = cost(relay, outcome(bot, [f"shop/k{n}" for n in range(50)], trace_follows=True))
    # Of these eight two are BEGIN and COMMIT, which travel with others.
    assert len(fifty.statements) == len(one.statements) == 8
    assert fifty.trips == one.trips == 2


def test_attempts_and_versions_cost_an_outcome_one_statement_more(relay, account, bot):
    acts.fill(account, 50)
    for n in range(50):
        bot.write("shop", f"k{n}", f"rewritten {n}")
    keys = [f"shop/k{n}" for n in range(50)]
    attempts = [
        {"outcome_type": "minor_failure", "causal_entry_keys": keys, "causal_entry_versions": dict.fromkeys(keys, 1)}
    ]
    told = cost(relay, lambda turn: bot.report(f"a-{turn}", "success", *keys, attempts=attempts))
    # The ninth is its trace, which a client that announces one of its own does not cost.
    assert len(told.statements) == 10
    assert told.trips == 3


@pytest.mark.parametrize(
    ("call", "round_trips"),
    [
        (lambda bot: outcome(bot, ["shop/k1"]), 2),
        (lambda bot: lambda turn: bot.report(f"t-{turn}", "success", "shop/k1", task_input="how about value 1"), 4),
        (lambda bot: lambda turn: bot.report("told-again", "success", "shop/k1"), 4),
        (lambda bot: lambda turn: bot.post("traces", {**TRACE, "outcome_ref": f"t-{turn}"}), 2),
        (lambda bot: lambda turn: bot.post("traces", TRACE), 3),
        (lambda bot: lambda turn: bot.post("graph/edges", EDGE), 2),
        (lambda bot: lambda turn: bot.post("timeline/events", {"event_type": "read", "summary": "read"}), 2),
    ],
    ids=["outcome", "with its task", "told again", "trace", "trace of no outcome", "edge", "event"],
)
def test_what_agents_tell_takes_few_round_trips(relay, account, bot, call, round_trips):
    acts.fill(account, 2)
    assert cost(relay, call(bot)).trips == round_trips


@pytest.mark.parametrize("told", [{"shared": True}, {"shared": False}, {"value": "said again"}])
def test_what_is_written_often_is_not_read_anew_by_the_driver(account, bot, monkeypatch, told):
    def refuse(query: bytes, encoding: str) -> None:
        raise AssertionError(f"{encoding}: {query!r} is too long to be kept")

    monkeypatch.setattr(_queries, "_query2pg_nocache", refuse)
    acts.fill(account, 2)
    for turn in range(2):
        assert bot.write("shop", "same", told.get("value", turn), shared=told.get("shared", True)).status_code == 200
    assert bot.report("o-1", "success", "shop/k1").status_code == 200


def test_a_write_says_nothing_of_what_it_does_not_write(bot):
    told = Counted()
    with connection.execute_wrapper(told.note):
        bot.write("shop", "new", 1)
        bot.write("shop", "new", 2)
        bot.report("o-1", "success", "shop/new")
    first, second, reported = (sql for sql in told.statements if "INTO memories_entryversion" in sql)
    assert "UPDATE memories_entry " not in first
    assert "INTO memories_entry " not in second
    assert "INTO memories_claim" not in reported
    assert "INTO memories_entrytext" not in reported


READS: dict[str, tuple[Callable[[Caller], HttpResponse], int]] = {
    "list": (lambda bot: bot.get("entries"), 2),
    "list of versions": (lambda bot: bot.get("entries", include_superseded="true"), 2),
    "page of a list": (lambda bot: bot.get("entries", limit=5), 3),
    "search": (lambda bot: bot.post("search", {"query": "value"}), 2),
    "history": (lambda bot: bot.get("history", **NAME), 2),
    "why": (lambda bot: bot.get("why", **NAME), 5),
    "diff": (lambda bot: bot.get("diff", **NAME), 4),
    "stats": (lambda bot: bot.get("stats"), 3),
    "entities": (lambda bot: bot.get("entities"), 3),
    "outcomes": (lambda bot: bot.get("outcomes"), 3),
    "change sets": (lambda bot: bot.get("change-sets"), 2),
}


def test_reads_take_a_fixed_number_of_statements_with_10_and_with_1000_rows(account, bot):
    found: dict[int, dict[str, int]] = {}
    for count in (10, 1_000):
        acts.fill(account, count, path="shop" if count == 10 else "shop/more")
        for turn in range(count // 10):
            acts.told(account, f"{count}-{turn}", "success", "shop/k1")
        found[count] = {}
        for name, (call, _) in READS.items():
            # What is remembered from then on, as stems are, is asked for once.
            call(bot)
            told = Counted()
            with connection.execute_wrapper(told.note):
                assert call(bot).status_code == 200
            found[count][name] = len(told.statements)
    assert found[10] == found[1_000] == {name: statements for name, (_, statements) in READS.items()}


ASKED = {"query": "value how", "entity_path": "shop", "include_priors": True, "include_avoid": True}


@pytest.mark.parametrize(
    ("call", "round_trips"),
    [
        (lambda bot: bot.post("retrieve", {"query": "value how"}), 3),
        (lambda bot: bot.post("retrieve", ASKED), 3),
        (lambda bot: bot.post("retrieve", {"query": ""}), 2),
        (lambda bot: bot.get("briefing", entity_path="shop"), 1),
        (lambda bot: bot.get("briefing"), 1),
    ],
    ids=["retrieve", "in an entity", "without words", "briefing", "briefing of everything"],
)
def test_asking_takes_as_many_round_trips_with_10_and_with_1000_rows(relay, account, bot, call, round_trips):
    costs = []
    for count in (10, 1_000):
        acts.fill(account, count, path="shop" if count == 10 else "shop/more")
        for turn in range(count // 10):
            acts.told(account, f"{count}-{turn}", "success", "shop/k1")
        costs.append(cost(relay, lambda _: call(bot)))
    assert [told.trips for told in costs] == [round_trips] * 2
    assert len(costs[0].statements) == len(costs[1].statements)


@pytest.mark.parametrize(
    "body",
    [
        {"query": "value k1", "entity_path": "shop"},
        {"query": "value nowhere", "entity_path": "shop"},
        {"query": "nowhere never", "entity_path": "shop"},
        {"query": "nowher valu", "entity_path": "shop"},
        {"query": "axolotl nowhere"},
    ],
    ids=["all words", "any", "none", "parts", "any, anywhere"],
)
def test_a_search_of_few_takes_one_round_trip_whatever_it_is_widened_to(relay, account, bot, body):
    acts.fill(account, 20)
    bot.write("shop", "pet", "an axolotl")
    assert cost(relay, lambda _: bot.post("search", body)).trips == 1


def test_rolling_back_takes_no_statement_per_version(db, account, reviewer):
    entry_id = acts.fill(account, 3)[1]
    found = []
    for outcomes in (1, 40):
        for turn in range(outcomes):
            acts.told(account, f"{outcomes}-{turn}", "success", "shop/k1")
        told = Counted()
        with connection.execute_wrapper(told.note):
            body = {**NAME, "to_version": 1, "expected_version": acts.head(account, entry_id).version}
            assert reviewer.post("rollback", body).status_code == 200
        found.append(len(told.statements))
    assert found[0] == found[1]

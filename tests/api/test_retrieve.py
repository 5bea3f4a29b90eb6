"""Retrieve: what an agent gets for a task, what it is warned of, and what it is told beside it."""

import json
from typing import Any

import pytest

from memories.models import Recall
from tests.api.conftest import Caller

PATH = "shop/checkout"
SLOW = "Payments time out after a deploy: restart the card gateway"


def asked(caller: Caller, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = caller.post("retrieve", {"query": query, **more})
    assert answer.status_code == 200, answer.content
    return answer.json()


def keys(rows: list[dict[str, Any]]) -> list[str]:
    return [row["key"] for row in rows if not row.get("_meta") and not row.get("_avoid")]


def avoided(rows: list[dict[str, Any]]) -> list[str]:
    return [row["key"] for row in rows if row.get("_avoid")]


@pytest.fixture
def shop(bot: Caller) -> Caller:
    """Knows three things about checkout."""
    bot.write(PATH, "slow-payments", SLOW, confidence=0.7)
    bot.write(PATH, "cart-empty", "An empty cart after login: clear the session cookie", confidence=0.7)
    bot.write(PATH, "tax-rounding", "Tax is rounded per line, not per order", confidence=0.7)
    return bot


def test_the_entry_that_says_most_of_the_query_comes_first(shop):
    rows = asked(shop, "why do payments time out after the deploy?")
    assert keys(rows)[0] == "slow-payments"
    breakdown = rows[0]["_breakdown"]
    assert set(breakdown) >= {"semantic", "relevance", "recency", "confidence", "keyword", "evidence"}
    assert 0 < breakdown["semantic"] <= 1
    assert 0 < breakdown["keyword"] <= 1
    assert breakdown["relevance"] == pytest.approx(0.5 * breakdown["semantic"] + 0.15 * breakdown["keyword"], abs=2e-4)
    made = breakdown["relevance"] * (1 + 0.5 * breakdown["trust"] + 0.3 * breakdown["recency"])
    assert rows[0]["_score"] == pytest.approx(made, abs=5e-4)


def test_a_discredited_entry_is_left_out_and_warned_of_with_what_replaced_it(shop):
    shop.write(PATH, "slow-payments-2", "Payments time out after a deploy: warm the connection pool", confidence=0.7)
    shop.report(
        "t1",
        "success",
        f"{PATH}/slow-payments-2",
        attempts=[{"outcome_type": "failure", "causal_entry_keys": [f"{PATH}/slow-payments"]}],
        actions_taken=[
            {"action_key": "gateway:restart", "success": False, "attempt": 1},
            {"action_key": "pool:warm", "success": True, "attempt": None},
        ],
    )
    rows = asked(shop, "payments time out after deploy", include_avoid=True)
    assert "slow-payments" not in keys(rows)
    (warning,) = [row for row in rows if row.get("_avoid")]
    assert (warning["key"], warning["_score"]) == ("slow-payments", 0.0)
    assert warning["_breakdown"]["replaced_by"] == [f"{PATH}/slow-payments-2"]
    assert warning["_breakdown"]["resolved_with_action"] == "pool:warm"
    assert warning["_breakdown"]["locally_discredited"] is False
    assert avoided(asked(shop, "payments time out after deploy")) == []
    assert "slow-payments" in keys(asked(shop, "payments time out after deploy", include_discredited=True))


def test_what_is_under_review_is_only_a_warning(shop):
    shop.post("feedback", {"entity_path": PATH, "key": "slow-payments", "outcome": "rejected"})
    shop.post("feedback", {"entity_path": PATH, "key": "slow-payments", "outcome": "rejected"})
    shop.post("feedback", {"entity_path": PATH, "key": "slow-payments", "outcome": "rejected"})
    rows = asked(shop, "payments time out", include_avoid=True)
    assert "slow-payments" not in keys(rows)
    assert avoided(rows) == ["slow-payments"]


def test_one_failure_nearby_that_something_else_resolved_turns_the_two_around(shop):
    task = "payments time out after the friday deploy"
    shop.write(PATH, "pool", "Warm the connection pool when payments are slow", confidence=0.6)
    for n in range(6):
        shop.report(f"w{n}", "success", f"{PATH}/slow-payments", task_input=task)
    assert keys(asked(shop, task))[0] == "slow-payments"
    tried = [{"outcome_type": "failure", "causal_entry_keys": [f"{PATH}/slow-payments"]}]
    shop.report("turn", "success", f"{PATH}/pool", attempts=tried, task_input=task)

    rows = asked(shop, "payments time out after a deploy on monday", entity_path=PATH)
    assert keys(rows)[:2] == ["pool", "slow-payments"]
    assert rows[1]["_breakdown"]["below"] == f"{PATH}/pool"
    assert rows[1]["evidence_status"] == "validated"
    assert rows[1]["success_count"] == 6


def test_two_newest_failures_nearby_make_a_rule_locally_discredited(shop):
    task = "payments time out after the friday deploy"
    for n in range(8):
        shop.report(f"w{n}", "success", f"{PATH}/slow-payments", task_input="unrelated: nightly ledger export")
    for n in range(2):
        shop.report(f"f{n}", "minor_failure", f"{PATH}/slow-payments", task_input=task, causal_confidence=0.3)
    rows = asked(shop, task, include_avoid=True)
    assert "slow-payments" not in keys(rows)
    (warning,) = [row for row in rows if row.get("_avoid")]
    assert warning["_breakdown"]["locally_discredited"] is True
    assert shop.read(PATH, "slow-payments")["evidence_status"] != "discredited"


def test_a_discredited_entry_that_works_on_such_tasks_is_rescued(shop):
    task = "payments time out after the friday deploy"
    for n in range(2):
        shop.report(f"w{n}", "success", f"{PATH}/slow-payments", task_input=task)
    for n in range(3):
        shop.report(f"f{n}", "failure", f"{PATH}/slow-payments", task_input=f"printer number {n} is jammed again")
    assert shop.read(PATH, "slow-payments")["evidence_status"] == "discredited"
    rows = asked(shop, task)
    (row,) = [row for row in rows if row["key"] == "slow-payments"]
    assert row["_rescued"] is True
    assert row["evidence_status"] == "contested"
    assert "slow-payments" not in keys(asked(shop, "printer jammed: payments"))


def test_artifacts_count_half_and_procedures_a_tenth_more(shop):
    shop.write(PATH, "code", "def payments():\n    return 1\n# payments time out after a deploy")
    shop.write(PATH, "steps", {"goal": "payments time out after a deploy", "steps": ["wait"]}, memory_type="procedure")
    rows = {row["key"]: row for row in asked(shop, "payments time out after a deploy")}
    assert rows["code"]["_breakdown"]["is_artifact"] is True
    assert rows["steps"]["_breakdown"]["is_procedure"] is True
    assert keys(asked(shop, "payments time out after a deploy", include_artifacts=False)).count("code") == 0


def test_a_procedure_for_another_environment_is_left_out_and_named(shop):
    value = {"goal": "payments time out", "steps": ["wait"], "preconditions": {"runtime": "py3.12*"}}
    shop.write(PATH, "steps", value, memory_type="procedure")
    *rows, meta = asked(shop, "payments time out", environment={"runtime": "py3.9"})
    assert "steps" not in keys(rows)
    assert meta["not_applicable"][0]["key"] == "steps"
    assert "py3.9" in meta["not_applicable"][0]["why"][0]
    assert "steps" in keys(asked(shop, "payments time out", environment={"runtime": "py3.12.1"}))


def test_compact_rows_carry_what_an_agent_acts_on(shop):
    shop.write(PATH, "long", "payments " + "x" * 3000)
    *rows, meta = asked(shop, "payments time out deploy", compact=True)
    assert set(rows[0]) >= {"entity_path", "key", "version", "value", "provenance", "posterior", "_score"}
    assert "tier" not in rows[0]
    assert set(rows[0]["provenance"]) == {"agent_id", "session_id", "written_at"}
    assert set(rows[0]["_breakdown"]) == {"evidence_status"}
    cut = next(row for row in rows if row["key"] == "long")
    assert cut["value_truncated"] is True
    assert len(cut["value"]) < 1300
    assert meta["_meta"] is True


def test_the_first_hit_alone_is_recalled_and_named_in_the_header(account, shop, helper, counted):
    answer = helper.post("retrieve", {"query": "payments time out"})
    told = json.loads(answer["X-SenseLab-Value"])
    assert told["credited"]["key"] == "slow-payments"
    assert told["cross_surface"] == {"written_by": "agent/deploy-bot", "reused_by": "agent/oncall-helper"}
    counted()
    assert [row.recall_count for row in Recall.objects.filter(account_id=account.pk, recall_count__gt=0)] == [1]


def test_somebody_elses_private_entry_is_neither_served_nor_warned_of(shop, helper):
    shop.write(PATH, "secret", "payments time out: call the card hotline", shared=False)
    assert "secret" in keys(asked(shop, "payments time out hotline"))
    assert "secret" not in keys(asked(helper, "payments time out hotline", include_discredited=True))
    assert asked(helper, "hotline") == []


@pytest.mark.parametrize(
    "more",
    [
        {"entity_path": "_system/health"},
        {"entity_path": "bench/checkout"},
        {"entity_path": "_bench-7"},
        {"key": "lesson-contrast-payments"},
        {"agent_id": "amfs"},
        {"agent_id": "bench/writer"},
    ],
    ids=lambda more: next(iter(more.values())),
)
def test_what_no_task_is_about_is_not_served(shop, more):
    body = {"entity_path": PATH, "key": "measured", "value": "payments time out: payments time out", **more}
    assert shop.post("entries", body).status_code == 200
    assert keys(asked(shop, "payments time out")) == ["slow-payments"]


def test_a_phrase_of_time_is_no_word_of_the_query(shop):
    plain = asked(shop, "payments time out")[0]
    recent = asked(shop, "payments time out yesterday")[0]
    assert plain["_breakdown"]["semantic"] == recent["_breakdown"]["semantic"]
    assert recent["_score"] > plain["_score"]


def test_the_limit_and_the_confidence_asked_for_are_kept(shop):
    shop.write(PATH, "weak", "payments time out when the moon is full", confidence=0.35)
    assert len(keys(asked(shop, "payments cart tax", limit=2))) == 2
    assert "weak" not in keys(asked(shop, "payments time out", min_confidence=0.5))


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/query"),
        ({"query": "x" * 10_001}, "/query"),
        ({"query": "x", "limit": 0}, "/limit"),
        ({"query": "x", "min_confidence": 2}, "/min_confidence"),
        ({"query": "x", "memory_type": "hunch"}, "/memory_type"),
        ({"query": "x", "candidate_actions": ["a"] * 201}, "/candidate_actions"),
        ({"query": "x", "environment": "py"}, "/environment"),
        ({"query": "x", "entity_path": "a\0b"}, "/entity_path"),
        ({"query": "x", "semantic_weight": -1}, "/semantic_weight"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(bot, body, pointer):
    answer = bot.post("retrieve", body)
    assert answer.status_code == 422
    places = [error["pointer"] for error in answer.json().get("errors", [])]
    assert places == [pointer] or (pointer == "/query" and "query" in answer.json()["detail"])


@pytest.mark.parametrize(
    "query", ["", "   ", "???", "the of and", "' OR 1=1 --", "a & | ! <-> b:*", "日本語の検索", "\\x00"]
)
def test_any_text_may_be_asked(shop, query):
    assert isinstance(asked(shop, query), list)

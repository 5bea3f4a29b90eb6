"""POST /api/v1/entries."""

import json

import pytest

from senselab.accounts.models import Agent


def test_a_first_write_answers_with_version_1_and_everything_the_public_client_reads(bot):
    response = bot.write("shop/checkout", "retry", {"max": 3}, confidence=0.7, memory_type="belief")
    told = response.json()
    assert response.status_code == 200
    assert (told["version"], told["value"], told["confidence"], told["memory_type"]) == (1, {"max": 3}, 0.7, "belief")
    assert told["provenance"]["agent_id"] == "agent/deploy-bot"
    assert told["evidence_status"] == "untested"
    assert response["ETag"] == '"1"'
    assert response["X-Change-Set"].isdigit()


def test_a_value_comes_back_as_the_text_it_was_sent_as(bot):
    raw = '{"b": 1.50, "a": 12345678901234567890123, "e": 1e2, "text": "{\\"not\\": \\"parsed\\"}"}'
    bot.post("entries", '{"entity_path": "shop", "key": "exact", "value": ' + raw + "}")
    answer = bot.get("entries/shop/exact").content.decode()
    assert f'"value":{raw}' in answer


def test_a_rewrite_of_the_same_claim_keeps_record_and_confidence(bot):
    bot.write("shop", "retry", {"max": 3, "wait": 1}, confidence=0.7)
    bot.report("t1", "success", "shop/retry")
    told = bot.write("shop", "retry", {"wait": 1.0, "max": 3}, confidence=0.2).json()
    assert told["version"] == 3
    assert told["outcome_count"] == 1
    assert round(told["confidence"], 6) == 0.818182


def test_a_changed_claim_starts_untested_with_the_authors_confidence(bot):
    bot.write("shop", "retry", {"max": 3}, confidence=0.7)
    bot.report("t1", "success", "shop/retry")
    told = bot.write("shop", "retry", {"max": 6}, confidence=0.9).json()
    assert (told["outcome_count"], told["evidence_status"], told["confidence"]) == (0, "untested", 0.9)


def test_if_match_refuses_a_lost_update_and_names_the_current_version(bot):
    bot.write("shop", "retry", 1)
    bot.write("shop", "retry", 2)
    response = bot.write("shop", "retry", 3, headers={"If-Match": '"1"'})
    assert response.status_code == 412
    assert response.json()["current_version"] == 2
    assert response.json()["diff"].endswith("from=1&to=2")
    assert bot.read("shop", "retry")["value"] == 2


def test_if_none_match_writes_only_what_is_not_there(bot):
    assert bot.write("shop", "once", 1, headers={"If-None-Match": "*"}).status_code == 200
    assert bot.write("shop", "once", 2, headers={"If-None-Match": "*"}).status_code == 412


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("confidence", 1.1, "/confidence"),
        ("confidence", -0.1, "/confidence"),
        ("confidence", "0.5", "/confidence"),
        ("memory_type", "rumour", "/memory_type"),
        ("key", "", "/key"),
        ("key", "a\u0000b", "/key"),
        ("key", "k" * 513, "/key"),
        ("entity_path", "p" * 1025, "/entity_path"),
        ("entity_path", 7, "/entity_path"),
        ("agent_id", "a" * 257, "/agent_id"),
        ("ttl_at", "2001-01-01T00:00:00Z", "/ttl_at"),
        ("importance_score", 1.5, "/importance_score"),
        ("artifact_refs", [{"label": "no uri"}], "/artifact_refs/0/uri"),
        ("pattern_refs", ["fine", "bro\u0007ken"], "/pattern_refs/1"),
    ],
)
def test_what_cannot_be_is_refused_with_a_pointer_to_the_place(bot, field, value, pointer):
    body = {"entity_path": "shop", "key": "bad", "value": 1} | {field: value}
    response = bot.post("entries", body)
    assert response.status_code == 422
    assert response["Content-Type"] == "application/problem+json"
    told = response.json()
    assert told["detail"]
    assert told["errors"][0]["pointer"] == pointer
    assert bot.get("entries", entity_path="shop").json()["total"] == 0


@pytest.mark.parametrize(
    "raw", ["NaN", "Infinity", "1e999", '"\\u0000"', '"\\ud800"', "[" * 101 + "]" * 101, "1" * 101]
)
def test_a_value_no_json_text_can_hold_is_refused(bot, raw):
    response = bot.post("entries", '{"entity_path": "shop", "key": "bad", "value": ' + raw + "}")
    assert response.status_code == 422
    assert bot.get("entries", entity_path="shop").json()["total"] == 0


def test_a_value_of_more_than_a_mebibyte_is_413(bot):
    assert bot.write("shop", "large", "x" * (1024 * 1024 - 2)).status_code == 200
    assert bot.write("shop", "larger", "x" * (1024 * 1024)).status_code == 413


def test_what_is_missing_is_named(bot):
    response = bot.post("entries", {"entity_path": "shop", "value": 1})
    assert response.status_code == 422
    assert "key" in response.json()["detail"]


def test_scope_tells_what_else_stands_under_the_path_and_what_nobody_read(bot, helper, counted):
    assert "scope" not in bot.write("shop", "first", 1, include_scope=True).json()
    bot.write("shop", "second", 2)
    helper.read("shop", "first")
    counted()
    scope = bot.write("shop", "third", 3, include_scope=True).json()["scope"]
    assert scope["existing_entries"] == 2
    assert scope["never_read"] == 1
    assert set(scope["keys"]) == {"first", "second"}


def test_a_write_without_an_agent_is_written_in_the_name_of_the_key(nobody):
    assert nobody.write("shop", "k", 1).json()["provenance"]["agent_id"] == "test key"


def test_a_bound_key_writes_for_its_agent_and_nobody_else(bound):
    assert bound.write("shop", "mine", 1).json()["provenance"]["agent_id"] == "agent/deploy-bot"
    assert bound.write("shop", "theirs", 1, agent_id="agent/somebody").status_code == 409


def test_extras_the_public_client_never_sends_are_kept(bot):
    told = bot.write(
        "shop", "extra", 1, ttl_at="2099-01-01T00:00:00Z", artifact_refs=[{"uri": "s3://x"}],
        importance_score=0.9, importance_dimensions={"novelty": 0.5}, embedding=[0.1, 0.2], pinned=True,
    ).json()  # fmt: skip
    again = bot.read("shop", "extra")
    for shown in (told, again):
        assert shown["ttl_at"].startswith("2099")
        assert shown["artifact_refs"] == [{"uri": "s3://x"}]
        assert shown["importance_score"] == 0.9
        assert shown["importance_dimensions"] == {"novelty": 0.5}
        assert shown["pinned"] is True
        assert "embedding" not in shown


def test_a_low_confidence_goes_under_review_and_never_to_the_archive(bot):
    assert bot.write("shop", "unsure", 1, confidence=0.29).json()["status"] == "under_review"
    assert bot.write("shop", "hopeless", 1, confidence=0.01).json()["status"] == "under_review"


def test_a_repeated_call_with_an_idempotency_key_gets_the_same_answer_and_writes_once(bot):
    headers = {"Idempotency-Key": "abc"}
    first = bot.write("shop", "k", 1, headers=headers)
    second = bot.write("shop", "k", 1, headers=headers)
    assert second.content == first.content
    assert second["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert bot.read("shop", "k")["version"] == 1
    assert bot.write("shop", "k", 2, headers=headers).status_code == 422


def test_a_body_that_is_no_json_is_refused(bot):
    for raw in ("{", "[]", "", b"\xff\xfe", json.dumps("text")):
        assert bot.post("entries", raw).status_code == 422


def test_an_agent_is_known_from_its_first_write_and_its_last_act(bot, account):
    bot.write("shop", "k", 1)
    bot.write("shop", "k", 2)
    known = Agent.objects.get(account=account)
    assert known.agent_id == "agent/deploy-bot"
    assert known.last_active_at >= known.created_at


NOWHERE = "9999-12-31T23:59:59-14:00"


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("entries", {"entity_path": "shop", "key": "k", "value": 1, "ttl_at": NOWHERE}, "/ttl_at"),
        ("commits", {"writes": [{"entity_path": "shop", "key": "k", "ttl_at": NOWHERE}]}, "/writes/0/ttl_at"),
        ("search", {"since": NOWHERE}, "/since"),
        ("rollback", {"agent_id": "agent/deploy-bot", "target_timestamp": NOWHERE}, "/target_timestamp"),
        (
            "evidence",
            {"entity_path": "shop", "key": "k", "evidence": {"description": "seen", "timestamp": NOWHERE}},
            "/evidence/timestamp",
        ),
        (
            "review/decisions",
            {"items": [{"entity_path": "shop", "key": "k", "version": 1}], "decision": "snooze", "until": NOWHERE},
            "/until",
        ),
    ],
)
def test_a_moment_beyond_the_calendar_in_utc_is_refused(reviewer, bot, path, body, pointer):
    who = reviewer if path in {"rollback", "review/decisions"} else bot
    refused = who.post(path, body)
    assert refused.status_code in {400, 422}, refused.content
    assert refused.json()["errors"][0]["pointer"] == pointer

"""The published client retrieves: hits, warnings, priors, and nothing it must not see."""

from typing import Any

import pytest
from amfs import AgentMemory
from amfs_core.models import OutcomeType, RecallConfig

ENTITY = "shop/checkout"
TASK = "payments time out after the friday deploy"


@pytest.fixture
def knowing(deploy_bot: AgentMemory) -> AgentMemory:
    """deploy_bot, who has learned two things about checkout."""
    deploy_bot.write(ENTITY, "restart", "Payments time out after a deploy: restart the gateway", confidence=0.7)
    deploy_bot.write(ENTITY, "pool", "Warm the connection pool when payments are slow", confidence=0.7)
    return deploy_bot


def failed_and_resolved(agent: AgentMemory) -> None:
    """`restart` was tried and failed, `pool` did it."""
    agent.record_action("ops", {"action": "restart"}, success=False)
    agent.record_attempt(outcome_type="failure", causal_entry_keys=[f"{ENTITY}/restart"])
    agent.record_action("ops", {"action": "warm"})
    agent.commit_outcome("t-1", OutcomeType.SUCCESS, [f"{ENTITY}/pool"], task_input=TASK, entity_path=ENTITY)


def keys(rows: list[Any]) -> list[str]:
    return [row.entry.key for row in rows]


def test_the_client_gets_hits_with_scores(knowing: AgentMemory, oncall_helper: AgentMemory) -> None:
    rows = oncall_helper.retrieve("why do payments time out?", entity_path=ENTITY)
    assert keys(rows)[0] == "restart"
    assert rows[0].score > 0
    assert rows[0].breakdown["semantic"] > 0
    assert oncall_helper.last_reuse_value["credited"]["key"] == "restart"


def test_the_client_is_warned_of_what_failed_and_told_what_did_it(knowing: AgentMemory, oncall_helper: AgentMemory):
    failed_and_resolved(knowing)
    rows = oncall_helper.retrieve(TASK, entity_path=ENTITY, recall_config=RecallConfig(include_avoid=True))
    hits = [row for row in rows if not row.breakdown.get("_avoid")]
    assert keys(hits) == ["pool"]
    (warning,) = [row for row in rows if row.breakdown.get("_avoid")]
    assert warning.entry.key == "restart"
    assert warning.breakdown["replaced_by"] == [f"{ENTITY}/pool"]
    assert warning.breakdown["resolved_with_action"] == "ops:warm"


def test_the_client_reads_priors_and_a_recommendation(knowing: AgentMemory, oncall_helper: AgentMemory) -> None:
    failed_and_resolved(knowing)
    oncall_helper.retrieve(
        TASK,
        entity_path=ENTITY,
        include_priors=True,
        candidate_actions=["ops:restart", "ops:warm", "ops:page"],
        compact=True,
        environment={"runtime": "py3.12"},
    )
    told = oncall_helper.last_priors
    assert told["recommendation"]["suggested_action"] == "ops:warm"
    assert told["priors"]["untried"] == ["ops:page"]
    assert {row["action_key"] for row in told["priors"]["tried"]} == {"ops:restart", "ops:warm"}
    assert told["regime_shift"] is False


def test_a_run_is_guided_by_what_was_learned(knowing: AgentMemory, oncall_helper: AgentMemory) -> None:
    failed_and_resolved(knowing)
    rows = oncall_helper.retrieve(TASK, entity_path=ENTITY, limit=8, compact=True, include_priors=True)
    assert [row.entry.value for row in rows][:1] == ["Warm the connection pool when payments are slow"]


def test_a_stranger_gets_nothing(knowing: AgentMemory, stranger: AgentMemory) -> None:
    assert stranger.retrieve("payments time out", entity_path=ENTITY) == []


def test_others_do_not_get_private_entries(knowing: AgentMemory, oncall_helper: AgentMemory) -> None:
    knowing.write(ENTITY, "hotline", "Payments time out: call the card hotline", shared=False)
    assert "hotline" in keys(knowing.retrieve("payments time out hotline", entity_path=ENTITY))
    assert "hotline" not in keys(oncall_helper.retrieve("payments time out hotline", entity_path=ENTITY))

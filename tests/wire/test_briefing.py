"""The published client is briefed, and its run is guided by it."""

from amfs import AgentMemory
from amfs.run import Run
from amfs_core.models import OutcomeType

ENTITY = "shop/checkout"


def learned(agent: AgentMemory) -> None:
    agent.write(ENTITY, "pool", "Warm the connection pool when payments are slow", confidence=0.8)
    agent.write(ENTITY, "restart", "Restart the gateway", confidence=0.7)
    agent.record_attempt(outcome_type="failure", causal_entry_keys=[f"{ENTITY}/restart"])
    agent.commit_outcome("t-1", OutcomeType.SUCCESS, [f"{ENTITY}/pool"], task_input="payments slow", entity_path=ENTITY)


def test_the_client_reads_the_lead_digest(deploy_bot: AgentMemory, oncall_helper: AgentMemory) -> None:
    learned(deploy_bot)
    digests = oncall_helper.briefing(ENTITY, credit_reuse=True)
    assert [(digest.digest_type.value, digest.scope) for digest in digests[:1]] == [("entity", ENTITY)]
    told = digests[0].summary
    assert [row["key"] for row in told["hot_context"]][:1] == ["pool"]
    assert told["discredited"][0]["replaced_by"] == [f"{ENTITY}/pool"]
    assert told["who_to_ask"][0]["agent_id"] == "deploy_bot"


def test_a_compact_briefing_is_the_lead_digest_alone(deploy_bot: AgentMemory, oncall_helper: AgentMemory) -> None:
    learned(deploy_bot)
    assert len(oncall_helper.briefing(ENTITY, compact=True, environment={"runtime": "py3.12"})) == 1


def test_a_run_is_guided_by_both(deploy_bot: AgentMemory, oncall_helper: AgentMemory) -> None:
    learned(deploy_bot)
    guidance = Run(oncall_helper).begin("payments are slow again", entity_path=ENTITY)
    assert guidance.error is None
    assert guidance.strength == "strong"
    assert f"{ENTITY}/pool" in guidance.entry_keys
    assert f"{ENTITY}/restart" not in guidance.entry_keys

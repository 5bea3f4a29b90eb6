"""A private entry belongs to its author: what the others may not see does not exist for them, on any route."""

import httpx
import pytest
from amfs import AgentMemory, OutcomeType

from .conftest import Join


@pytest.fixture
def secret(deploy_bot: AgentMemory) -> None:
    """A note that only deploy_bot may see."""
    deploy_bot.write("checkout", "secret-note", "the staging password rotates", confidence=0.7, shared=False)


@pytest.mark.usefixtures("secret")
def test_the_author_sees_a_private_entry_everywhere(deploy_bot: AgentMemory) -> None:
    read = deploy_bot.read("checkout", "secret-note")

    assert read is not None
    assert not read.shared
    assert [e.key for e in deploy_bot.list("checkout")] == ["secret-note"]
    assert [e.key for e in deploy_bot.search(query="staging")] == ["secret-note"]
    assert [e.version for e in deploy_bot.history("checkout", "secret-note")] == [1]
    assert deploy_bot.stats().total_entries == 1


@pytest.mark.usefixtures("secret")
def test_nobody_else_sees_it_anywhere(oncall_helper: AgentMemory) -> None:
    assert oncall_helper.read("checkout", "secret-note") is None
    assert oncall_helper.recall("checkout", "secret-note") is None
    assert oncall_helper.read_from("deploy_bot", "checkout", "secret-note") is None
    assert oncall_helper.list() == []
    assert oncall_helper.search(query="staging") == []
    assert oncall_helper.search(agent_id="deploy_bot") == []
    assert oncall_helper.history("checkout", "secret-note") == []
    stats = oncall_helper.stats()
    assert (stats.total_entries, stats.total_entities, stats.total_agents) == (0, 0, 0)
    assert (stats.agents, stats.entities, stats.confidence_max, stats.newest_entry_at) == ({}, {}, 0.0, None)
    assert oncall_helper.adapter.entity_summaries() == []


@pytest.mark.usefixtures("secret")
@pytest.mark.parametrize("headers", [{}, {"X-AMFS-Agent-Id": "oncall_helper"}], ids=["nobody", "a peer"])
def test_the_server_itself_keeps_it_back(curl: httpx.Client, headers: dict[str, str]) -> None:
    """The client hides private rows as well; this looks at what travelled."""
    missing = {"status": "not_found", "entity_path": "checkout", "key": "secret-note"}
    by_query = {"entity_path": "checkout", "key": "secret-note"}

    assert curl.get("/api/v1/entries/checkout/secret-note", headers=headers).json() == missing
    assert curl.get("/api/v1/entry", params=by_query, headers=headers).json() == missing
    for superseded in ("true", "false"):
        listed = curl.get("/api/v1/entries", params={"include_superseded": superseded}, headers=headers)
        assert listed.json() == {"entries": [], "total": 0}
    assert curl.post("/api/v1/search", json={"query": "staging"}, headers=headers).json() == []
    stats = curl.get("/api/v1/stats", headers=headers).json()
    assert (stats["agents"], stats["entities"], stats["newest_entry_at"]) == ({}, {}, None)
    assert not any(stats["memory_type_counts"].values())
    assert curl.get("/api/v1/entities", headers=headers).json() == {"entities": []}


@pytest.mark.usefixtures("secret")
def test_a_filter_by_author_is_not_an_identity(curl: httpx.Client) -> None:
    found = curl.post(
        "/api/v1/search", json={"agent_id": "deploy_bot"}, headers={"X-AMFS-Agent-Id": "oncall_helper"}
    ).json()

    assert found == []


@pytest.mark.usefixtures("secret")
def test_the_neighbours_told_to_a_writer_are_those_it_may_see(oncall_helper: AgentMemory) -> None:
    oncall_helper.write("checkout", "mine", 1)

    assert oncall_helper.last_scope is None


def test_two_private_entries_of_one_name_live_beside_the_shared_one(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory, join: Join
) -> None:
    auditor = join("auditor")
    auditor.write("checkout", "limit", "for all")
    deploy_bot.write("checkout", "limit", "deploy's own", shared=False)
    oncall_helper.write("checkout", "limit", "oncall's own", shared=False)
    oncall_helper.write("checkout", "limit", "oncall's own, again", shared=False)

    def seen(agent: AgentMemory) -> tuple[object, int]:
        read = agent.read("checkout", "limit")
        assert read is not None
        return read.value, read.version

    assert seen(auditor) == ("for all", 1)
    assert seen(deploy_bot) == ("deploy's own", 1)
    assert seen(oncall_helper) == ("oncall's own, again", 2)
    assert "oncall's own" not in {e.value for e in deploy_bot.list("checkout", include_superseded=True)}
    assert [e.value for e in auditor.list("checkout", include_superseded=True)] == ["for all"]
    assert auditor.stats().total_entries == 1


def test_an_outcome_moves_the_authors_own_entry_and_nobody_elses(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory, join: Join
) -> None:
    join("auditor").write("checkout", "limit", "for all", confidence=0.7)
    deploy_bot.write("checkout", "limit", "deploy's own", confidence=0.7, shared=False)

    (moved,) = deploy_bot.commit_outcome("DEP-1", OutcomeType.SUCCESS, ["checkout/limit"])
    (moved_by_peer,) = oncall_helper.commit_outcome("INC-1", OutcomeType.FAILURE, ["checkout/limit"])

    assert (moved.value, round(moved.confidence, 4), moved.shared) == ("deploy's own", 0.8182, False)
    assert (moved_by_peer.value, round(moved_by_peer.confidence, 4)) == ("for all", 0.2593)
    assert deploy_bot.read("checkout", "limit").confidence == moved.confidence


@pytest.mark.usefixtures("secret")
def test_an_outcome_that_cites_what_the_caller_cannot_see_changes_and_tells_nothing(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory, curl: httpx.Client
) -> None:
    real = {"outcome_ref": "INC-1", "outcome_type": "failure", "causal_entry_keys": ["checkout/secret-note"]}
    made_up = real | {"causal_entry_keys": ["checkout/no-such-note"], "outcome_ref": "INC-2"}

    assert oncall_helper.commit_outcome("INC-0", OutcomeType.FAILURE, ["checkout/secret-note"]) == []
    answers = [
        curl.post("/api/v1/outcomes", json=body | {"agent_id": "oncall_helper"}).json() for body in (real, made_up)
    ]

    assert [a["affected_entries"] for a in answers] == [0, 0]
    assert answers[0].keys() == answers[1].keys()
    assert deploy_bot.read("checkout", "secret-note").outcome_count == 0


@pytest.mark.usefixtures("secret")
def test_an_author_publishes_a_private_entry_by_writing_it_shared(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory
) -> None:
    published = deploy_bot.write("checkout", "secret-note", "the staging password rotates", shared=True)

    read = oncall_helper.read("checkout", "secret-note")

    assert published.version == 2
    assert read is not None
    assert (read.version, read.shared) == (2, True)
    assert [e.key for e in deploy_bot.list("checkout")] == ["secret-note"]


@pytest.mark.usefixtures("secret")
def test_the_words_of_an_outcome_that_relied_on_a_private_entry_are_its_agents_alone(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory, curl: httpx.Client
) -> None:
    oncall_helper.write("checkout", "limit", "for all")
    deploy_bot.write("checkout", "limit", "deploy's own", shared=False)
    said = {
        "outcome_type": "success",
        "task_input": "say deploy's own",
        "response_text": "deploy's own",
        "tool_calls": [{"tool_name": "say", "arguments": "deploy's own"}],
        "situation": "deploy's own",
        "session_metadata": {"attributes": {"said": "deploy's own"}},
        "attempts": [{"outcome_type": "failure", "causal_entry_keys": [], "summary": "deploy's own"}],
    }
    reports = {"D-1": "checkout/secret-note", "D-2": "checkout/limit"}

    def told(agent_id: str, ref: str, path: str = "outcomes") -> str:
        query = {"outcome_ref": ref} if path == "outcomes" else {}
        answer = curl.get(f"/api/v1/{path}", params=query, headers={"X-AMFS-Agent-Id": agent_id} if agent_id else {})
        assert answer.status_code == 200
        return answer.text

    for ref, key in reports.items():
        body = said | {"outcome_ref": ref, "causal_entry_keys": [key], "agent_id": "deploy_bot"}
        assert curl.post("/api/v1/outcomes", json=body).status_code == 200
        assert told("deploy_bot", ref).count("deploy's own") == 6
        for other in ("oncall_helper", ""):
            assert ref in told(other, ref)
            assert "deploy's own" not in told(other, ref)
            assert "deploy's own" not in told(other, ref, "traces")
    # Who only names what it cannot see relied on nothing, and hears its own words as if nothing were there.
    guess = {"outcome_ref": "G-1", "causal_entry_keys": ["checkout/secret-note"], "agent_id": "oncall_helper"}
    assert curl.post("/api/v1/outcomes", json=said | guess).status_code == 200
    assert told("oncall_helper", "G-1").count("deploy's own") == 6

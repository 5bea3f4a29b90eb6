"""Lists, history, search, stats and verify of the published client against a live server."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from amfs import AgentMemory, OutcomeType


def keys_of(entries: list) -> list[str]:
    return [entry.key for entry in entries]


def test_a_list_is_of_one_path_and_not_of_what_lies_below(deploy_bot: AgentMemory) -> None:
    for path in ("shop", "shop/checkout", "shopping"):
        deploy_bot.write(path, "k", path)

    assert [entry.value for entry in deploy_bot.list("shop")] == ["shop"]
    assert {entry.value for entry in deploy_bot.list()} == {"shop", "shop/checkout", "shopping"}
    assert deploy_bot.list("nowhere") == []


def test_a_list_shows_each_entry_once_and_on_request_every_version_once(deploy_bot: AgentMemory) -> None:
    for n in range(3):
        deploy_bot.write("checkout", "limit", n)
    deploy_bot.write("checkout", "other", "x")

    current = deploy_bot.list("checkout")
    everything = deploy_bot.list("checkout", include_superseded=True)

    assert sorted((entry.key, entry.version) for entry in current) == [("limit", 3), ("other", 1)]
    assert sorted((entry.key, entry.version) for entry in everything) == [
        ("limit", 1),
        ("limit", 2),
        ("limit", 3),
        ("other", 1),
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize("superseded", ["false", "true"])
def test_pages_of_any_size_join_to_the_whole_list(
    deploy_bot: AgentMemory, curl: httpx.Client, size: int, superseded: str
) -> None:
    for n in range(7):
        deploy_bot.write("pages", f"k{n % 4}", n)
    query = {"entity_path": "pages", "include_superseded": superseded}
    whole = curl.get("/api/v1/entries", params=query).json()
    expected = 7 if superseded == "true" else 4

    pages: list[dict] = []
    while len(pages) < whole["total"]:
        page = curl.get("/api/v1/entries", params=query | {"limit": size, "offset": len(pages)}).json()
        assert page["total"] == expected
        assert 1 <= len(page["entries"]) <= size
        pages += page["entries"]

    assert whole["total"] == len(whole["entries"]) == expected
    assert [(e["key"], e["version"]) for e in pages] == [(e["key"], e["version"]) for e in whole["entries"]]


@pytest.mark.parametrize("wrong", ["limit=0", "limit=10001", "limit=many", "offset=-1", "sort=shoe", "fields=x"])
def test_a_list_refuses_what_it_does_not_know(curl: httpx.Client, wrong: str) -> None:
    answer = curl.get(f"/api/v1/entries?{wrong}")

    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)


def test_meta_leaves_the_values_out(deploy_bot: AgentMemory, curl: httpx.Client) -> None:
    deploy_bot.write("checkout", "k", "a long story")

    (entry,) = curl.get("/api/v1/entries", params={"fields": "meta"}).json()["entries"]

    assert "value" not in entry
    assert "artifact_refs" not in entry
    assert entry["key"] == "k"


def test_history_tells_what_was_said_by_whom_and_how_it_fared(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory
) -> None:
    deploy_bot.write("checkout", "limit", "ten", confidence=0.7)
    oncall_helper.commit_outcome("INC-1", OutcomeType.SUCCESS, ["checkout/limit"])
    oncall_helper.write("checkout", "limit", "twenty", confidence=0.6)

    told = [(e.version, e.value, e.provenance.agent_id, round(e.confidence, 4), e.outcome_count)
            for e in deploy_bot.history("checkout", "limit")]  # fmt: skip

    assert told == [
        (1, "ten", "deploy_bot", 0.7, 0),
        (2, "ten", "deploy_bot", 0.8182, 1),
        (3, "twenty", "oncall_helper", 0.6, 0),
    ]


def test_the_client_can_diff_two_versions(deploy_bot: AgentMemory) -> None:
    deploy_bot.write("checkout", "limits", {"retries": 3, "timeout": 10})
    deploy_bot.write("checkout", "limits", {"retries": 5, "timeout": 10})

    (change,) = deploy_bot.diff("checkout", "limits")["field_changes"]

    assert (change["path"], change["operation"]) == ("/retries", "replace")
    assert (change["old_value"], change["new_value"]) == (3, 5)


def test_search_finds_words_in_any_order_over_key_and_value(deploy_bot: AgentMemory) -> None:
    deploy_bot.write("checkout", "risk-timeouts", "the payment gateway stalls when the queue is long")
    deploy_bot.write("checkout", "pattern-backoff", {"do": "wait twice as long", "where": ["gateway"]})
    deploy_bot.write("billing", "rounding", "invoices are rounded to cents")

    assert "risk-timeouts" in keys_of(deploy_bot.search(query="gateway payment"))
    assert "risk-timeouts" in keys_of(deploy_bot.search(query="queue timeouts risk"))
    assert set(keys_of(deploy_bot.search(query="gateway"))) == {"risk-timeouts", "pattern-backoff"}
    assert keys_of(deploy_bot.search(query="rounding")) == ["rounding"]
    assert keys_of(deploy_bot.search(query="gateway", entity_path="billing")) == []


def test_search_filters_by_confidence_author_time_and_reference(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory
) -> None:
    deploy_bot.write("checkout", "weak", 1, confidence=0.4)
    deploy_bot.write("checkout", "strong", 2, confidence=0.9, pattern_refs=["patterns/backoff"])
    oncall_helper.write("checkout", "foreign", 3, confidence=0.6)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    yesterday = datetime.now(UTC) - timedelta(days=1)

    assert keys_of(deploy_bot.search(min_confidence=0.6)) == ["strong", "foreign"]
    assert keys_of(deploy_bot.search(max_confidence=0.6)) == ["foreign", "weak"]
    assert keys_of(deploy_bot.search(agent_id="oncall_helper")) == ["foreign"]
    assert keys_of(deploy_bot.search(since=tomorrow)) == []
    assert keys_of(deploy_bot.search(since=yesterday)) == ["strong", "foreign", "weak"]
    assert keys_of(deploy_bot.search(pattern_ref="patterns/backoff")) == ["strong"]
    assert keys_of(deploy_bot.search(limit=1)) == ["strong"]
    assert keys_of(oncall_helper.my_entries()) == ["foreign"]


def test_search_sorts_by_what_it_is_asked(deploy_bot: AgentMemory) -> None:
    deploy_bot.write("checkout", "rewritten", 0, confidence=0.5)
    deploy_bot.write("checkout", "sure", 1, confidence=0.9)
    deploy_bot.write("checkout", "rewritten", 2, confidence=0.5)

    assert keys_of(deploy_bot.search(sort_by="confidence")) == ["sure", "rewritten"]
    assert keys_of(deploy_bot.search(sort_by="recency")) == ["rewritten", "sure"]
    assert keys_of(deploy_bot.search(sort_by="version")) == ["rewritten", "sure"]
    assert set(keys_of(deploy_bot.search(sort_by="priority"))) == {"rewritten", "sure"}


def test_search_looks_into_several_paths_and_below_one_only_when_told(
    deploy_bot: AgentMemory, curl: httpx.Client
) -> None:
    for path in ("shop", "shop/checkout", "shopping", "billing"):
        deploy_bot.write(path, f"of {path}", 1)

    def under(path: str, **more: object) -> set[str]:
        return {entry["entity_path"] for entry in curl.post("/api/v1/search", json={"entity_path": path} | more).json()}

    assert set(keys_of(deploy_bot.search(entity_paths=["shop", "billing"]))) == {"of shop", "of billing"}
    assert under("shop") == {"shop"}
    assert under("shop", include_descendants=True) == {"shop", "shop/checkout"}


def test_search_leaves_artifacts_out_when_asked_and_puts_them_last_otherwise(deploy_bot: AgentMemory) -> None:
    deploy_bot.write("repo", "ingest.py", "import queue\n\ndef ingest():\n    return queue.Queue()\n", confidence=1.0)
    deploy_bot.write("repo", "finding", "the ingest queue stalls", confidence=0.5)

    assert keys_of(deploy_bot.search(query="ingest", include_artifacts=False)) == ["finding"]
    assert set(keys_of(deploy_bot.search(query="ingest"))) == {"finding", "ingest.py"}


def test_an_entry_is_read_from_the_agent_who_wrote_it(deploy_bot: AgentMemory, oncall_helper: AgentMemory) -> None:
    deploy_bot.write("checkout", "limit", 10)

    assert oncall_helper.read_from("deploy_bot", "checkout", "limit").value == 10
    assert oncall_helper.read_from("oncall_helper", "checkout", "limit") is None


def test_an_agent_recalls_its_own_words_under_anothers(deploy_bot: AgentMemory, oncall_helper: AgentMemory) -> None:
    deploy_bot.write("checkout", "limit", "mine")
    oncall_helper.write("checkout", "limit", "theirs")

    assert deploy_bot.recall("checkout", "limit").value == "mine"
    assert oncall_helper.recall("checkout", "limit").value == "theirs"


def test_an_empty_account_has_stats(deploy_bot: AgentMemory) -> None:
    stats = deploy_bot.stats()

    assert (stats.total_entries, stats.total_entities, stats.total_agents) == (0, 0, 0)
    assert (stats.confidence_avg, stats.confidence_min, stats.confidence_max) == (0.0, 0.0, 0.0)
    assert (stats.oldest_entry_at, stats.newest_entry_at) == (None, None)


def test_stats_count_what_is_there(deploy_bot: AgentMemory, oncall_helper: AgentMemory) -> None:
    deploy_bot.write("checkout", "a", 1, confidence=0.5)
    deploy_bot.write("checkout", "a", 2, confidence=0.7)
    deploy_bot.write("checkout", "b", 3, confidence=0.9)
    oncall_helper.write("billing", "c", 4, confidence=0.5)
    oncall_helper.commit_outcome("INC-1", OutcomeType.SUCCESS, ["checkout/a"])

    stats, extended = deploy_bot.stats(), deploy_bot.adapter.stats_extended()

    assert (stats.total_entries, stats.total_entities, stats.total_agents) == (3, 2, 2)
    assert stats.agents == {"deploy_bot": 2, "oncall_helper": 1}
    assert stats.entities == {"checkout": 2, "billing": 1}
    assert (stats.confidence_min, stats.confidence_max) == (0.5, 0.9)
    assert stats.confidence_avg == pytest.approx((0.9 / 1.1 + 0.9 + 0.5) / 3, abs=1e-3)
    assert stats.outcome_linked_count == 1
    assert stats.oldest_entry_at is not None
    assert stats.newest_entry_at is not None
    assert stats.oldest_entry_at <= stats.newest_entry_at
    assert {kind: n for kind, n in extended["memory_type_counts"].items() if n} == {"fact": 3}
    assert extended["entries_this_week"] == 3


def test_stats_without_the_breakdown_leave_the_maps_out(deploy_bot: AgentMemory, curl: httpx.Client) -> None:
    deploy_bot.write("checkout", "a", 1)

    brief = curl.get("/api/v1/stats", params={"breakdown": "false"}).json()

    assert brief["total_entries"] == 1
    assert not {"agents", "entities"} & brief.keys()


def test_entities_are_summed_up(deploy_bot: AgentMemory, oncall_helper: AgentMemory) -> None:
    deploy_bot.write("checkout", "a", 1, confidence=0.5)
    oncall_helper.write("checkout", "b", 2, confidence=0.7)

    (summary,) = deploy_bot.adapter.entity_summaries()

    assert (summary["entity_path"], summary["entry_count"]) == ("checkout", 2)
    assert summary["avg_confidence"] == pytest.approx(0.6)
    assert sorted(summary["agents"]) == ["deploy_bot", "oncall_helper"]
    assert summary["last_agent"] == "oncall_helper"


def test_the_client_verifies_every_version_with_a_hash_and_a_chain(deploy_bot: AgentMemory) -> None:
    deploy_bot.write("checkout", "limits", {"b": 1.0, "a": [1e16, -0.0, 10**40, "ü"]}, confidence=0.7)
    deploy_bot.commit_outcome("INC-1", OutcomeType.SUCCESS, ["checkout/limits"])
    deploy_bot.commit_outcome("INC-2", OutcomeType.FAILURE, ["checkout/limits"])
    deploy_bot.write("checkout", "limits", {"b": 2.0})
    deploy_bot.write("checkout", "other", None)

    report = deploy_bot.verify()
    history = deploy_bot.history("checkout", "limits")

    assert report == {"total_checked": 5, "valid": 5, "corrupted": [], "orphaned": [], "chain_breaks": []}
    # An entry without hashes counts as valid too, so see that there is something to verify.
    assert len({entry.content_hash for entry in history} - {None}) == 2
    assert len({entry.integrity_chain for entry in history} - {None}) == 4


def test_one_account_does_not_see_another(deploy_bot: AgentMemory, stranger: AgentMemory) -> None:
    deploy_bot.write("checkout", "limit", 10)

    assert stranger.read("checkout", "limit") is None
    assert stranger.list() == stranger.search(query="10") == stranger.history("checkout", "limit") == []
    assert stranger.stats().total_entries == 0
    assert stranger.commit_outcome("INC-1", OutcomeType.FAILURE, ["checkout/limit"]) == []
    untouched = deploy_bot.read("checkout", "limit")
    assert untouched is not None
    assert untouched.outcome_count == 0

"""What the client cannot send but others can: the extras of a write, as the published client reads them back."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from amfs import AgentMemory, OutcomeType

WRITE = {"entity_path": "checkout", "key": "limit", "value": 10, "confidence": 0.7, "agent_id": "deploy_bot"}


def write(curl: httpx.Client, **more: Any) -> httpx.Response:
    answer = curl.post("/api/v1/entries", json=WRITE | more)
    assert answer.status_code == 200, answer.text
    return answer


def test_references_to_artifacts_importance_and_pins_come_back(deploy_bot: AgentMemory, curl: httpx.Client) -> None:
    ref = {"uri": "s3://models/v1", "media_type": "model/onnx", "label": "the model", "size_bytes": 12}
    write(curl, artifact_refs=[ref, {"uri": "file.txt"}], importance_score=0.4, importance_dimensions={"reach": 0.5},
          pinned=True)  # fmt: skip

    read = deploy_bot.read("checkout", "limit")

    assert read is not None
    assert [r.model_dump() for r in read.artifact_refs] == [
        ref,
        {"uri": "file.txt", "media_type": None, "label": None, "size_bytes": None},
    ]
    assert (read.importance_score, read.importance_dimensions) == (0.4, {"reach": 0.5})
    assert read.embedding is None


def test_an_entry_is_read_until_its_time_is_up(deploy_bot: AgentMemory, curl: httpx.Client) -> None:
    later = datetime.now(UTC) + timedelta(days=1)
    write(curl, ttl_at=later.isoformat())

    read = deploy_bot.read("checkout", "limit")

    assert read is not None
    assert read.ttl_at == later
    assert [e.key for e in deploy_bot.list("checkout")] == ["limit"]


def test_an_entry_whose_time_is_up_is_not_found_and_not_moved(deploy_bot: AgentMemory, curl: httpx.Client) -> None:
    up = datetime.now(UTC) + timedelta(seconds=1)
    write(curl, ttl_at=up.isoformat())

    while datetime.now(UTC) < up:
        deploy_bot.stats()

    assert deploy_bot.read("checkout", "limit") is None
    assert deploy_bot.commit_outcome("T-1", OutcomeType.SUCCESS, ["checkout/limit"]) == []


def test_the_shortest_write_is_enough_and_an_agent_is_named_all_the_same(
    deploy_bot: AgentMemory, curl: httpx.Client
) -> None:
    answer = curl.post("/api/v1/entries", json={"entity_path": "cli", "key": "note"})
    assert answer.status_code == 200

    read = deploy_bot.read("cli", "note")

    assert read is not None
    assert (read.value, read.confidence, read.shared, read.version) == (None, 1.0, True, 1)
    assert read.provenance.agent_id != ""


def test_the_version_is_an_etag_and_a_write_may_insist_on_it(deploy_bot: AgentMemory, curl: httpx.Client) -> None:
    first = write(curl)
    assert "1" in first.headers["etag"]

    stale = curl.post("/api/v1/entries", json=WRITE | {"value": 30}, headers={"If-Match": '"7"'})
    second = curl.post("/api/v1/entries", json=WRITE | {"value": 20}, headers={"If-Match": first.headers["etag"]})

    assert (stale.status_code, second.status_code) == (412, 200)
    assert [entry.value for entry in deploy_bot.history("checkout", "limit")] == [10, 20]


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"entity_path": ""}, "/entity_path"),
        ({"key": ""}, "/key"),
        ({"key": "nul\0"}, "/key"),
        ({"key": "k" * 513}, "/key"),
        ({"entity_path": "p" * 1025}, "/entity_path"),
        ({"agent_id": "a" * 257}, "/agent_id"),
        ({"confidence": -0.1}, "/confidence"),
        ({"confidence": "0.7"}, "/confidence"),
        ({"memory_type": "weird"}, "/memory_type"),
        ({"value": {"deep": ["nul\0"]}}, "/value/deep/0"),
        ({"pattern_refs": "backoff"}, "/pattern_refs"),
        ({"ttl_at": "tomorrow"}, "/ttl_at"),
        ({"shared": "yes"}, "/shared"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value)[:24],
)
def test_a_write_that_cannot_be_is_refused_with_a_pointer(
    curl: httpx.Client, wrong: dict[str, Any], pointer: str
) -> None:
    answer = curl.post("/api/v1/entries", json=WRITE | wrong)

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert curl.get("/api/v1/entries").json()["total"] == 0


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 101])
def test_a_number_that_json_or_others_cannot_hold_is_refused(curl: httpx.Client, number: str) -> None:
    body = f'{{"entity_path": "checkout", "key": "limit", "value": [{number}]}}'
    answer = curl.post("/api/v1/entries", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code in (400, 422)
    assert isinstance(answer.json()["detail"], str)


def test_a_key_bound_to_an_agent_speaks_for_no_other(bound_curl: httpx.Client) -> None:
    as_itself = bound_curl.post("/api/v1/entries", json=WRITE)
    as_another = bound_curl.post("/api/v1/entries", json=WRITE | {"agent_id": "mallory"})

    assert (as_itself.status_code, as_another.status_code) == (200, 409)
    assert isinstance(as_another.json()["detail"], str)

"""No answer takes longer than a client waits: what is held up is stopped and told so, and nothing is stored."""

from collections.abc import Iterator

import httpx
import psycopg
import pytest

from tests.conftest import Server, serving

OUTCOME = {"outcome_ref": "T-1", "outcome_type": "failure", "causal_entry_keys": ["shop/held"]}


@pytest.fixture(scope="module")
def impatient(database_url: str) -> Iterator[Server]:
    """A server that waits for one second."""
    with serving(database_url, ANSWER_SECONDS="1") as server:
        yield server


@pytest.fixture
def held(lasting: None, impatient: Server, api_key: str, database_url: str) -> Iterator[httpx.Client]:
    """A client of that server; what it wrote is held by somebody else's open transaction."""
    with httpx.Client(base_url=impatient.url, headers={"X-AMFS-API-Key": api_key}, timeout=20) as client:
        client.post("/api/v1/entries", json={"entity_path": "shop", "key": "held", "value": 1})
        with psycopg.connect(database_url) as other:
            other.execute("SELECT 1 FROM memories_entry WHERE entity_path = 'shop' AND key = 'held' FOR UPDATE")
            yield client
            other.rollback()


@pytest.mark.parametrize(
    ("path", "body"),
    [("entries", {"entity_path": "shop", "key": "held", "value": 2}), ("outcomes", OUTCOME)],
)
def test_a_call_that_is_held_up_is_told_so_and_stores_nothing(held: httpx.Client, path: str, body: dict) -> None:
    answer = held.post(f"/api/v1/{path}", json=body)

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "took too long" in answer.json()["detail"]
    assert held.get("/api/v1/entries/shop/held").json()["version"] == 1
    assert held.get("/api/v1/outcomes").json()["outcomes"] == []

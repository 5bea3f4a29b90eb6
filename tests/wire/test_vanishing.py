"""Clients that vanish in the middle leave no half of anything; two at once never see each other's identity or reads."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conftest import Server

WRITES = [{"entity_path": "shop", "key": f"k{n}", "value": n} for n in range(50)]


def request(path: str, key: str, body: Any) -> tuple[bytes, bytes]:
    """Return the head and the body of a POST, as bytes."""
    raw = json.dumps(body).encode()
    lines = [f"POST /api/v1/{path} HTTP/1.1", "Host: 127.0.0.1", f"X-AMFS-API-Key: {key}", "X-AMFS-Agent-Id: gone"]
    lines += ["Content-Type: application/json", f"Content-Length: {len(raw)}", "", ""]
    return "\r\n".join(lines).encode(), raw


def vanish(server: Server, *parts: bytes) -> None:
    """Send what is given and hang up without reading an answer."""
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as wire:
        for part in parts:
            wire.sendall(part)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_commit_cut_off_in_its_body_writes_nothing(server, api_key, curl, share):
    head, body = request("commits", api_key, {"writes": WRITES})
    vanish(server, head, body[: int(len(body) * share)])
    assert curl.get("/api/v1/entries").json()["total"] == 0


def test_a_commit_whose_sender_has_gone_is_whole_or_was_never_made(server, api_key, curl):
    for turn in range(10):
        writes = [write | {"entity_path": f"shop/{turn}"} for write in WRITES]
        vanish(server, *request("commits", api_key, {"writes": writes}))
    # A call of one's own comes after theirs were taken up.
    for turn in range(10):
        told = curl.get("/api/v1/entries", params={"entity_path": f"shop/{turn}"}).json()
        assert told["total"] in {0, len(WRITES)}
    for commit in curl.get("/api/v1/commits").json()["commits"]:
        assert len(commit["entries"]) == len(WRITES)
    report = curl.post("/api/v1/verify", json={}).json()
    assert (report["corrupted"], report["chain_breaks"]) == ([], [])


def test_an_outcome_whose_sender_has_gone_moves_all_it_relied_on_or_nothing(server, api_key, curl):
    curl.post("/api/v1/commits", json={"writes": WRITES})
    body = {"outcome_ref": "gone-1", "outcome_type": "failure", "causal_entry_keys": [f"shop/k{n}" for n in range(50)]}
    vanish(server, *request("outcomes", api_key, body))
    # Told again, it is the same outcome: whatever the first one did, this is what is left.
    headers = {"X-AMFS-Agent-Id": "gone"}
    assert curl.post("/api/v1/outcomes", json=body, headers=headers).json()["affected_entries"] == 50
    counts = {
        entry["outcome_count"] for entry in curl.get("/api/v1/entries", params={"status": "all"}).json()["entries"]
    }
    assert counts == {1}


def test_many_agents_at_once_read_what_is_theirs_alone(join):
    agents = [join(f"agent_{n}") for n in range(6)]

    def work(number: int) -> list[Any]:
        memory = agents[number]
        seen = []
        for _ in range(8):
            memory.write("shop", "mine", f"of {number}", shared=False)
            seen.append(memory.read("shop", "mine").value)
            seen.append(memory.read("shop", "mine").provenance.agent_id)
        return seen

    with ThreadPoolExecutor(len(agents)) as pool:
        found = list(pool.map(work, range(len(agents))))
    for number, seen in enumerate(found):
        assert set(seen) == {f"of {number}", f"agent_{number}"}
        read = {event.details["author_agent_id"] for event in agents[number].timeline() if event.event_type == "read"}
        assert read <= {f"agent_{number}"}

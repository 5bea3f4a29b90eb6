"""The requests that published clients sent to their own server, sent to ours: status and shape of each answer.

recorded.jsonl holds one request a line, in the order sent: run (three of them, each on a store of its own), phase (what
the client was doing), method, path, query,
identity (headers), body, status and `answer`, the shape of the recorded answer: member names and types, for a list the
shape of its first element. Ours may add members. It must not lack or retype one, but for the differences listed here.
"""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from django.utils import timezone

from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.conftest import Server

RECORDED = [json.loads(line) for line in (Path(__file__).parent / "recorded.jsonl").read_text().splitlines()]

NOT_FOUND = {"status": "str", "entity_path": "str", "key": "str"}
REFUSED = {"detail": "str", "errors": [{"pointer": "str", "detail": "str"}]}

# Members whose names are the caller's words: their values have a type, their names have not.
MAPS = {"agents", "entities", "memory_type_counts", "causal_entry_versions", "covariates"}
# What the caller sent, whatever it is; in a list the first element of another server need not be ours.
FREE = {"value", "tool_calls", "attempts", "actions_taken", "session_metadata", "parameters", "details"}
# Of an edge it is whatever its writer said.
FREE_AT = {"/edges[]/provenance"}
# Comes with retrieval, whose relevance it reports; the client takes it when it is there.
# Why there is nothing to tell, and what else stands at a path: where there is nothing of it, neither is there.
OPTIONAL = {"memory_gap", "reason", "scope"}
# Lists that may not become empty; the shorter ones inside (references, validators) depend on which row comes first.
ROWS = {"", "/entries", "/outcomes", "/entities"}
# Null or a value, depending on which entry or outcome comes first.
NULLABLE = {
    "uplift",  # stays null while the policy gives no credit by uplift
    "recalls_this_week",  # null when unknown (contract.md 1.8)
    "recalls_last_week",
    "prior_confidence",
    "last_outcome",
    "last_outcome_at",
    "discredited_at",
    "situation",
    "task_input",
    "response_text",
    "final_action_index",
    "actor_agent_id",
    "duration_ms",
}


class Meant(NamedTuple):
    """How we differ from the recorded server, and why that is meant; `run` '' stands for each of them."""

    phase: str
    call: str
    status: int
    answer: Any
    why: str
    run: str = ""


MEANT = [
    Meant(
        "read_private_as_peer",
        "GET /api/v1/entries/checkout-service/secret-note",
        200,
        NOT_FOUND,
        "a private entry does not exist for others",
    ),
    Meant(
        "err_invalid_memory_type",
        "POST /api/v1/entries",
        422,
        REFUSED,
        "an unknown type is refused, not turned into a fact",
    ),
    Meant(
        "err_bad_outcome_type",
        "POST /api/v1/outcomes",
        422,
        REFUSED,
        "an unknown outcome is refused: the client took the 200 for a success",
    ),
    Meant("pg2:search_fts", "POST /api/v1/search", 200, [], "a search finds what holds every word, not any of them"),
    *(
        Meant(
            phase, "POST /api/v1/graph/edges", 200, {"status": "str"}, "an edge is kept: the peer failed", run="first"
        )
        for phase in (
            "write_same_key_v2",
            "commit_success",
            "attempt_then_commit",
            "commit_failure_explicit",
            "commit_legacy",
            "read_from",
            "run_facade",
        )
    ),
    Meant(
        "rollback_srv",
        "POST /api/v1/rollback",
        200,
        {"entries_restored": "int", "rolled_back_to": "str", "agent_id": "str"},
        "it goes back: the peer failed",
        run="second",
    ),
    Meant("", "GET /api/v1/stats", 200, {"total_entries": "int"}, "our replay sends a good key"),
    Meant("err_401", "GET /api/v1/stats", 401, {"detail": "str"}, "a wrong key is refused: the peer took any"),
    Meant(
        "graph_neighbors",
        "GET /api/v1/pro/graph/neighbors",
        200,
        {"entity": "str", "edges": [], "count": "int"},
        "neighbours are told: the peer answered with an error",
        run="first",
    ),
    Meant("search_filters", "POST /api/v1/search", 200, [], "depth 2 is hot and warm; nothing is yet", run="second"),
    Meant("search_depth1", "POST /api/v1/search", 200, [], "tiers are what the job made them; nothing is hot yet"),
    Meant("tiers_entries", "GET /api/v1/pro/tiers/entries", 200, [], "tiers are what the job made them"),
    Meant("context_srv", "POST /api/v1/context", 404, {"detail": "str"}, "contexts travel in traces"),
    Meant(
        "branch_ops",
        "GET /api/v1/entries/checkout-service/retry-pattern",
        200,
        {"entity_path": "str"},
        "a branch that never touched an entry reads main's",
        run="first",
    ),
    Meant("err_missing_field", "POST /api/v1/entries", 422, REFUSED, "`detail` is a sentence: the client shows it"),
    Meant("err_limit_0", "GET /api/v1/entries", 422, REFUSED, "`detail` is a sentence: the client shows it"),
]


def call_of(request: dict[str, Any]) -> str:
    return f"{request['method']} {request['path']}"


def type_of(value: object) -> str:
    return "null" if value is None else type(value).__name__


def differences(recorded: Any, ours: Any, at: str = "") -> list[str]:
    """Return where `ours`, an answer, lacks or retypes a member of the shape `recorded`."""
    name = at.rpartition("/")[2]
    if name in FREE or at in FREE_AT or recorded == "null" or (ours is None and name in NULLABLE):
        # A recorded null says nothing about the type.
        return []
    found = type_of(ours)
    if recorded == "object":
        recorded = "dict"
    if found != (recorded if isinstance(recorded, str) else type_of(recorded)):
        return [f"{at}: {recorded if isinstance(recorded, str) else type_of(recorded)} became {found}"]
    if isinstance(recorded, list):
        return differences_of_lists(recorded, ours, at)
    return differences_of_members(recorded, ours, at) if isinstance(recorded, dict) else []


def differences_of_lists(recorded: list[Any], ours: list[Any], at: str) -> list[str]:
    if recorded and not ours and at in ROWS:
        return [f"{at}: became an empty list"]
    pairs = [(shape, element) for element in ours for shape in recorded if kind_of(shape) == kind_of(element)]
    return [found for shape, element in pairs for found in differences(shape, element, f"{at}[]")]


def kind_of(element: Any) -> str:
    """Return whether an element of a retrieval is a hit, a warning or what is told beside both (contract.md 1.4)."""
    marks = [mark for mark in ("_meta", "_avoid") if isinstance(element, dict) and mark in element]
    return marks[0] if marks else ""


def differences_of_members(recorded: dict[str, Any], ours: dict[str, Any], at: str) -> list[str]:
    if at.rpartition("/")[2] in MAPS:
        return [f"{at}: {value!r}" for value in ours.values() if recorded and type_of(value) not in recorded.values()]
    missing = [f"{at}/{member}: missing" for member in recorded if member not in ours and member not in OPTIONAL]
    both = [member for member in recorded if member in ours]
    return missing + [found for m in both for found in differences(recorded[m], ours[m], f"{at}/{m}")]


MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)?")


def moments(request: dict[str, Any]) -> list[datetime]:
    return [datetime.fromisoformat(text) for text in MOMENT.findall(json.dumps([request["query"], request["body"]]))]


class Replay:
    """One run of the recorded clients, on an account of its own: what they sent is moved to now, and what we named
    differently is put in its place."""

    def __init__(self, client: httpx.Client, requests: list[dict[str, Any]]) -> None:
        self.client, self.requests = client, requests
        # The last moment that was recorded is now.
        said = [moment for request in requests for moment in moments(request)]
        self.later = timezone.now() - max(said, default=timezone.now())
        self.cursor = ""

    def moved(self, text: str) -> str:
        return MOMENT.sub(lambda found: (datetime.fromisoformat(found[0]) + self.later).isoformat(), text)

    def send(self, request: dict[str, Any]) -> httpx.Response:
        query = [[name, self.moved(value)] for name, value in request["query"]]
        body = json.loads(self.moved(json.dumps(request["body"])))
        if self.cursor and ["limit", "2"] in query:
            query = [[name, self.cursor if name == "cursor" else value] for name, value in query]
        if request["path"] == "/api/v1/rollback":
            # It was sent a moment after everything else, and went back to that moment.
            body["target_timestamp"] = timezone.now().isoformat()
        wrong_key = {"X-AMFS-API-Key": "wrong"} if request["phase"] == "err_401" else {}
        headers = request["identity"] | wrong_key
        answer = self.client.request(request["method"], request["path"], params=query, json=body, headers=headers)
        if request["path"] == "/api/v1/traces" and request["method"] == "GET" and answer.status_code == 200:
            self.cursor = answer.json()["next_cursor"] or ""
        return answer


@pytest.mark.parametrize("run", ["first", "second", "third"])
def test_recorded_requests_are_answered_in_the_recorded_shape(server: Server, account: Account, run: str) -> None:
    key = accounts.create_key(account, name="amfs-server", scopes=("admin",), rate_per_minute=1_000_000)
    expected = {(meant.phase, meant.call): (meant.status, meant.answer) for meant in MEANT if meant.run in {"", run}}
    found: list[str] = []
    with httpx.Client(base_url=server.url, headers={"X-AMFS-API-Key": key}, timeout=30) as client:
        requests = [request for request in RECORDED if request["run"] == run]
        replay = Replay(client, requests)
        for request in requests:
            answer = replay.send(request)
            status, shape = expected.get((request["phase"], call_of(request)), (request["status"], request["answer"]))
            where = f"{request['phase']}: {call_of(request)}"
            if answer.status_code != status:
                found.append(f"{where}: {status} became {answer.status_code} {answer.text[:200]}")
            else:
                found += [f"{where} {difference}" for difference in differences(shape, answer.json())]

    assert not found, "\n".join(found)


def test_every_meant_difference_belongs_to_a_recorded_request_and_is_one() -> None:
    for meant in MEANT:
        found = [
            one
            for one in RECORDED
            if (one["phase"], call_of(one)) == (meant.phase, meant.call) and meant.run in {"", one["run"]}
        ]
        assert [one for one in found if (one["status"], one["answer"]) != (meant.status, meant.answer)], meant


def test_every_failure_of_the_peer_has_an_answer_of_ours() -> None:
    faults = {(one["run"], one["phase"], call_of(one)) for one in RECORDED if one["status"] >= 500}
    faults |= {
        (one["run"], one["phase"], call_of(one))
        for one in RECORDED
        if "error" in one["answer"] and one["status"] == 200
    }
    told = {
        (run, meant.phase, meant.call)
        for meant in MEANT
        for run in ("first", "second", "third")
        if meant.run in {"", run} and meant.status < 500
    }
    assert len(RECORDED) == 422
    assert faults
    assert faults - told == set()


def test_a_missing_or_retyped_member_would_be_noticed() -> None:
    recorded = {"entries": [{"key": "str", "confidence": "float", "tags": []}], "total": "int"}
    same = {"entries": [{"key": "k", "confidence": 1.0, "tags": ["x"], "more": 1}], "total": 1}

    assert differences(recorded, same) == []
    assert differences(recorded, same | {"entries": []}) == ["/entries: became an empty list"]
    assert differences(recorded, same | {"total": "1"}) == ["/total: int became str"]
    assert differences(recorded, same | {"total": True}) == ["/total: int became bool"]
    assert differences(recorded, same | {"entries": [{"key": None, "tags": {}}]}) == [
        "/entries[]/confidence: missing",
        "/entries[]/key: str became null",
        "/entries[]/tags: list became dict",
    ]

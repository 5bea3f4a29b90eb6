"""Outcomes reported by the published client move confidence by the book: the numbers as an agent sees them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import httpx
import pytest
from amfs import AgentMemory, OutcomeType
from amfs_core.models import MemoryEntry

from .conftest import Join

SUCCESS = ("success", {})
FAILURE = ("failure", {})
KEY = "checkout/retry-pattern"


class Pinned(NamedTuple):
    """A start, the outcomes in turn, the confidence after each and the status after the last (docs/rules)."""

    start: float
    steps: Sequence[tuple[str, dict[str, Any]]]
    after: list[float]
    status: str


FIVE_WINS = [0.818182, 0.857881, 0.878038, 0.890062, 0.897890]
PINNED = [
    Pinned(0.7, [SUCCESS] * 5, FIVE_WINS, "validated"),
    Pinned(0.7, [SUCCESS] * 5 + [FAILURE] * 3, [*FIVE_WINS, 0.633845, 0.415117, 0.316048], "discredited"),
    Pinned(0.7, [SUCCESS] * 4 + [FAILURE] * 2, [*FIVE_WINS[:4], 0.6157, 0.3995], "discredited"),
    Pinned(0.7, [SUCCESS] * 4 + [FAILURE], [*FIVE_WINS[:4], 0.6157], "validated"),
    Pinned(0.7, [FAILURE], [0.259259], "discredited"),
    Pinned(0.7, [FAILURE, SUCCESS], [0.259259, 0.486127], "discredited"),
    Pinned(0.7, [FAILURE] + [SUCCESS] * 2, [0.259259, 0.486127, 0.608046], "contested"),
    Pinned(0.7, [FAILURE] + [SUCCESS] * 3, [0.259259, 0.486127, 0.608046, 0.686133], "contested"),
    Pinned(0.7, [FAILURE] + [SUCCESS] * 4, [0.259259, 0.486127, 0.608046, 0.686133, 0.740549], "validated"),
    Pinned(0.7, [SUCCESS, SUCCESS, FAILURE], [0.818182, 0.857881, 0.424044], "discredited"),
    Pinned(1.0, [SUCCESS, FAILURE], [1.0, 0.411765], "discredited"),
    Pinned(0.8, [SUCCESS], [0.875], "validated"),
    Pinned(0.8, [("minor_failure", {}), ("critical_failure", {})], [0.340426, 0.195569], "discredited"),
    Pinned(0.85, [("minor_failure", {})], [0.356], "discredited"),
    Pinned(0.7, [("success", {"verified_by": "ci"})], [0.8481], "validated"),
    Pinned(
        0.7,
        [("failure", {"causal_confidence": 0.5}), ("failure", {"verified_by": "human"})],
        [0.378378, 0.186788],
        "discredited",
    ),
    Pinned(0.7, [("clean_deploy", {})], [0.818182], "validated"),
    Pinned(0.8, [("regression", {}), ("p1_incident", {})], [0.340426, 0.195569], "discredited"),
    Pinned(0.7, [("p2_incident", {})], [0.259259], "discredited"),
]


def learned(agent: AgentMemory, *keys: str, confidence: float = 0.7, path: str = "checkout") -> list[str]:
    """Write one entry per key and return their entry keys."""
    for key in keys:
        agent.write(path, key, f"what {key} says", confidence=confidence)
    return [f"{path}/{key}" for key in keys]


def current(agent: AgentMemory, key: str, path: str = "checkout") -> MemoryEntry:
    entry = agent.read(path, key)
    assert entry is not None
    return entry


@pytest.mark.parametrize("row", PINNED, ids=lambda row: f"{row.start}: {', '.join(name for name, _ in row.steps)}")
def test_confidence_moves_by_the_book(deploy_bot: AgentMemory, oncall_helper: AgentMemory, row: Pinned) -> None:
    deploy_bot.write("checkout", "retry-pattern", {"max_retries": 3}, confidence=row.start)

    moved = [
        oncall_helper.commit_outcome(f"TASK-{n}", OutcomeType(name), [KEY], **more)[0]
        for n, (name, more) in enumerate(row.steps)
    ]

    taken = len(row.steps)
    assert [entry.confidence for entry in moved] == pytest.approx(row.after, abs=6e-5)
    assert [entry.version for entry in moved] == list(range(2, taken + 2))
    last = current(deploy_bot, "retry-pattern")
    assert (last.confidence, last.evidence_status) == (moved[-1].confidence, row.status)
    assert (last.outcome_count, last.success_count + last.failure_count) == (taken, taken)
    assert (last.last_outcome, last.prior_confidence) == (row.steps[-1][0], row.start)


def test_the_server_names_the_status_that_the_client_computes(deploy_bot: AgentMemory, curl: httpx.Client) -> None:
    keys = learned(deploy_bot, "good", "mixed", "bad", "fresh")
    deploy_bot.commit_outcome("T-1", OutcomeType.SUCCESS, keys[:1])
    deploy_bot.commit_outcome("T-2", OutcomeType.SUCCESS, keys[1:2], causal_confidence=0.1)
    deploy_bot.commit_outcome("T-3", OutcomeType.FAILURE, keys[1:2], causal_confidence=0.1)
    deploy_bot.commit_outcome("T-4", OutcomeType.CRITICAL_FAILURE, keys[2:3])

    told = {e["key"]: (e["evidence_status"], e["posterior"]) for e in curl.get("/api/v1/entries").json()["entries"]}
    computed = {
        e.key: (e.evidence_status, {"p": e.posterior[0], "n": e.posterior[1]}) for e in deploy_bot.list("checkout")
    }

    assert told == computed
    assert {key: status for key, (status, _) in told.items()} == {
        "good": "validated",
        "mixed": "contested",
        "bad": "discredited",
        "fresh": "untested",
    }


def test_credit_is_shared_among_the_keys_of_an_outcome(deploy_bot: AgentMemory) -> None:
    keys = learned(deploy_bot, *[f"k{n}" for n in range(8)])

    praised = deploy_bot.commit_outcome("T-1", OutcomeType.SUCCESS, keys)
    blamed = deploy_bot.commit_outcome("T-2", OutcomeType.FAILURE, keys)

    assert {entry.key for entry in praised} == {entry.key for entry in blamed} == {f"k{n}" for n in range(8)}
    assert {round(entry.confidence, 6) for entry in praised} == {0.722543}
    assert {round(entry.confidence, 6) for entry in blamed} == {0.597508}
    assert {entry.evidence_status for entry in blamed} == {"contested"}


def test_a_key_named_twice_counts_once(deploy_bot: AgentMemory) -> None:
    learned(deploy_bot, "retry-pattern")

    (moved,) = deploy_bot.commit_outcome("T-1", OutcomeType.SUCCESS, [KEY, KEY])

    assert (round(moved.confidence, 6), moved.outcome_count) == (0.818182, 1)


def test_without_keys_an_outcome_judges_what_was_read_since_the_last_one(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory
) -> None:
    learned(deploy_bot, "first", "second", "unread")
    oncall_helper.read("checkout", "first")
    oncall_helper.read("checkout", "second")

    moved = oncall_helper.commit_outcome("T-1", OutcomeType.SUCCESS)
    moved_again = oncall_helper.commit_outcome("T-2", OutcomeType.FAILURE)

    assert {entry.key: round(entry.confidence, 6) for entry in moved} == {"first": 0.773585, "second": 0.773585}
    assert moved_again == []
    assert current(deploy_bot, "unread").evidence_status == "untested"


def test_an_outcome_leaves_author_and_time_of_the_claim_and_names_its_witness(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory
) -> None:
    written = deploy_bot.write("checkout", "retry-pattern", "v", confidence=0.7, pattern_refs=["patterns/backoff"])

    (moved,) = oncall_helper.commit_outcome("T-1", OutcomeType.SUCCESS, [KEY])

    assert moved.provenance == written.provenance
    assert moved.value == "v"
    assert moved.validators == ["oncall_helper"]
    assert moved.last_outcome_at is not None
    assert moved.last_outcome_at >= written.provenance.written_at


def test_validators_keep_the_last_ten_agents_newest_last(deploy_bot: AgentMemory, join: Join) -> None:
    learned(deploy_bot, "retry-pattern")
    for n in range(11):
        join(f"agent-{n}").commit_outcome(f"T-{n}", OutcomeType.SUCCESS, [KEY])

    assert current(deploy_bot, "retry-pattern").validators == [f"agent-{n}" for n in range(1, 11)]

    join("agent-5").commit_outcome("T-11", OutcomeType.SUCCESS, [KEY])

    assert current(deploy_bot, "retry-pattern").validators == [f"agent-{n}" for n in (1, 2, 3, 4, 6, 7, 8, 9, 10, 5)]


def test_failed_attempts_are_steps_of_their_own_over_what_was_read_for_them(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory
) -> None:
    learned(deploy_bot, "tried-first", "what-helped")
    oncall_helper.read("checkout", "tried-first")
    oncall_helper.record_attempt(summary="the limit was not the cause")
    oncall_helper.read("checkout", "what-helped")

    moved = oncall_helper.commit_outcome("INC-1", OutcomeType.SUCCESS)

    assert {entry.key: round(entry.confidence, 6) for entry in moved} == {
        "tried-first": 0.307692,
        "what-helped": 0.818182,
    }
    assert current(deploy_bot, "tried-first").last_outcome == "minor_failure"


def test_an_entry_that_failed_first_and_helped_then_takes_both_steps_in_order(deploy_bot: AgentMemory) -> None:
    learned(deploy_bot, "retry-pattern")
    attempts = [
        {"attempt": 1, "outcome_type": "minor_failure", "causal_entry_keys": [KEY]},
        {"attempt": 2, "outcome_type": "minor_failure", "causal_entry_keys": []},
    ]

    moved = deploy_bot.commit_outcome("INC-1", OutcomeType.SUCCESS, [KEY], attempts=attempts)

    assert len(moved) == 1
    assert [(e.version, round(e.confidence, 6)) for e in deploy_bot.history("checkout", "retry-pattern")] == [
        (1, 0.7),
        (2, 0.307692),
        (3, 0.539452),
    ]
    assert (moved[0].outcome_count, moved[0].success_count, moved[0].failure_count) == (2, 1, 1)


@pytest.mark.parametrize("by_the_client", [True, False])
def test_the_same_claim_written_again_keeps_its_record(
    deploy_bot: AgentMemory, curl: httpx.Client, by_the_client: bool
) -> None:
    """The client already swaps its confidence for the current one when it sees the same claim; others do not."""
    deploy_bot.write("checkout", "limits", {"a": 1, "b": 2.0}, confidence=0.7)
    deploy_bot.commit_outcome("T-1", OutcomeType.SUCCESS, ["checkout/limits"])

    if by_the_client:
        deploy_bot.write("checkout", "limits", {"b": 2, "a": 1.0}, confidence=0.1)
    else:
        rewrite(curl, "limits", {"b": 2, "a": 1.0}, confidence=0.1)

    again = current(deploy_bot, "limits")
    assert (again.version, round(again.confidence, 6), again.evidence_status) == (3, 0.818182, "validated")
    assert (again.success_count, again.validators, again.prior_confidence) == (1, ["deploy_bot"], 0.7)


def rewrite(curl: httpx.Client, key: str, value: object, *, confidence: float) -> None:
    """Write as a client that does not think for the server."""
    body = {"entity_path": "checkout", "key": key, "value": value, "confidence": confidence, "agent_id": "deploy_bot"}
    assert curl.post("/api/v1/entries", json=body).status_code == 200


@pytest.mark.parametrize(("old", "new"), [({"a": 1}, {"a": 2}), ({"a": 1}, {"a": True}), ("1", 1), ([1, 2], [2, 1])])
def test_a_new_claim_starts_untested(deploy_bot: AgentMemory, curl: httpx.Client, old: object, new: object) -> None:
    deploy_bot.write("checkout", "limits", old, confidence=0.7)
    deploy_bot.commit_outcome("T-1", OutcomeType.FAILURE, ["checkout/limits"])

    rewrite(curl, "limits", new, confidence=0.6)

    rewritten = current(deploy_bot, "limits")
    assert (rewritten.confidence, rewritten.evidence_status, rewritten.outcome_count) == (0.6, "untested", 0)
    assert (rewritten.prior_confidence, rewritten.discredited_at, rewritten.last_outcome) == (None, None, None)


def test_an_outcome_spares_a_claim_that_was_written_after_the_agent_read(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory
) -> None:
    learned(deploy_bot, "retry-pattern")
    oncall_helper.read("checkout", "retry-pattern")
    deploy_bot.write("checkout", "retry-pattern", "quite another thing", confidence=0.9)

    assert oncall_helper.commit_outcome("INC-1", OutcomeType.FAILURE) == []

    spared = current(deploy_bot, "retry-pattern")
    assert (spared.version, spared.confidence, spared.evidence_status) == (2, 0.9, "untested")


def test_an_outcome_counts_when_only_the_version_moved_on(deploy_bot: AgentMemory, oncall_helper: AgentMemory) -> None:
    learned(deploy_bot, "retry-pattern")
    oncall_helper.read("checkout", "retry-pattern")
    learned(deploy_bot, "retry-pattern")

    (moved,) = oncall_helper.commit_outcome("INC-1", OutcomeType.FAILURE)

    assert (moved.version, round(moved.confidence, 6)) == (3, 0.259259)


def test_a_history_longer_than_a_page_is_fetched_whole(deploy_bot: AgentMemory) -> None:
    learned(deploy_bot, "retry-pattern")
    fifty = [{"attempt": n, "causal_entry_keys": [KEY]} for n in range(1, 51)]
    for task in range(99):
        deploy_bot.commit_outcome(f"T-{task}", OutcomeType.SUCCESS, [KEY], attempts=fifty)

    history = deploy_bot.history("checkout", "retry-pattern")

    assert [entry.version for entry in history] == list(range(1, 99 * 51 + 2))
    assert deploy_bot.verify()["chain_breaks"] == []


def test_what_the_client_stamps_itself_does_not_count_against_the_twenty_attributes(join: Join) -> None:
    on_a_branch = join("deploy_bot", branch="experiment")
    twenty = {f"k{n}": n for n in range(20)}

    assert on_a_branch.commit_outcome("T-1", OutcomeType.SUCCESS, [], attributes=twenty) == []


@pytest.mark.parametrize("attributes", [{"origin": "repair"}, {"replay_delivery_id": "d-1"}])
def test_a_replay_teaches_nothing(deploy_bot: AgentMemory, attributes: dict[str, str]) -> None:
    learned(deploy_bot, "retry-pattern")

    assert deploy_bot.commit_outcome("R-1", OutcomeType.FAILURE, [KEY], attributes=attributes) == []

    untouched = current(deploy_bot, "retry-pattern")
    assert (untouched.version, untouched.confidence, untouched.outcome_count) == (1, 0.7, 0)


def test_an_outcome_told_twice_counts_once_and_is_answered_alike(deploy_bot: AgentMemory) -> None:
    keys = learned(deploy_bot, "a", "b")

    first = deploy_bot.commit_outcome("T-1", OutcomeType.FAILURE, keys, task_input="the first telling")
    other = deploy_bot.commit_outcome("T-1", OutcomeType.FAILURE, keys[:1])
    second = deploy_bot.commit_outcome("T-1", OutcomeType.FAILURE, keys[::-1], task_input="and once more")

    def told(entries: list[MemoryEntry]) -> list[dict[str, Any]]:
        return sorted(
            (e.model_dump(exclude={"recall_count", "priority_score"}) for e in entries), key=lambda e: e["key"]
        )

    assert told(second) == told(first)
    assert [e.outcome_count for e in other] == [2]
    assert current(deploy_bot, "b").outcome_count == 1


def test_an_outcome_skips_what_is_not_there_and_shares_its_credit_all_the_same(deploy_bot: AgentMemory) -> None:
    learned(deploy_bot, "retry-pattern")

    (moved,) = deploy_bot.commit_outcome("T-1", OutcomeType.SUCCESS, [KEY, "checkout/never-written"])

    assert moved.key == "retry-pattern"
    assert round(moved.confidence, 6) == 0.773585


def test_an_outcome_without_keys_is_kept_and_moves_nothing(deploy_bot: AgentMemory) -> None:
    assert deploy_bot.commit_outcome("T-1", OutcomeType.SUCCESS, [], entity_path="checkout") == []

    (kept,) = deploy_bot.adapter.list_outcomes()
    assert (kept.outcome_ref, kept.outcome_type, kept.entity_paths) == ("T-1", OutcomeType.SUCCESS, ["checkout"])


@pytest.mark.parametrize(("path", "key"), [("checkout", "ns/sub-key"), ("a/b", "c/d"), ("a", "b/c/d")])
def test_an_entry_with_slashes_in_its_key_gets_its_credit(deploy_bot: AgentMemory, path: str, key: str) -> None:
    learned(deploy_bot, key, path=path)
    deploy_bot.read(path, key)

    (moved,) = deploy_bot.commit_outcome("T-1", OutcomeType.SUCCESS)

    assert (moved.entity_path, moved.key, round(moved.confidence, 6)) == (path, key, 0.818182)


def test_outcomes_are_listed_newest_first_with_what_was_sent(
    deploy_bot: AgentMemory, oncall_helper: AgentMemory
) -> None:
    learned(deploy_bot, "retry-pattern")
    learned(deploy_bot, "rounding", path="billing")
    oncall_helper.read("checkout", "retry-pattern")
    oncall_helper.commit_outcome(
        "INC-1", OutcomeType.P1_INCIDENT, situation="pager", covariates={"plan": "pro", "seats": 3},
        causal_confidence=0.5,
    )  # fmt: skip
    deploy_bot.commit_outcome("INC-2", OutcomeType.SUCCESS, ["billing/rounding"])

    newest, oldest = deploy_bot.adapter.list_outcomes()

    assert (newest.outcome_ref, oldest.outcome_ref) == ("INC-2", "INC-1")
    assert (oldest.outcome_type, oldest.agent_id) == (OutcomeType.P1_INCIDENT, "oncall_helper")
    assert (oldest.causal_entry_keys, oldest.causal_entry_versions) == ([KEY], {KEY: 1})
    assert (oldest.causal_confidence, oldest.situation) == (0.5, "pager")
    assert oldest.covariates == {"plan": "pro", "seats": 3}
    assert [o.outcome_ref for o in deploy_bot.adapter.list_outcomes(entity_path="billing")] == ["INC-2"]
    assert [o.outcome_ref for o in deploy_bot.adapter.list_outcomes(outcome_ref="INC-1")] == ["INC-1"]
    assert [o.outcome_ref for o in deploy_bot.adapter.list_outcomes(since=newest.committed_at)] == ["INC-2"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome_type": "nope"},
        {"outcome_ref": None},
        {"causal_confidence": 1.5},
        {"causal_confidence": -0.1},
        {"causal_entry_keys": "checkout/retry-pattern"},
        {"attempts": "many"},
        {"attempts": [{"attempt": 1, "outcome_type": "nope"}]},
        {"attempts": [{"attempt": n} for n in range(1, 52)]},
        {"final_action_index": 1, "tool_calls": [{"tool_name": "deploy"}]},
        {"session_metadata": {"attributes": {"a": [1]}}},
        {"session_metadata": {"attributes": {"a": "x" * 257}}},
        {"session_metadata": {"attributes": {"k" * 65: 1}}},
        {"session_metadata": {"attributes": {f"k{n}": n for n in range(21)}}},
    ],
    ids=lambda wrong: f"{next(iter(wrong))}-{str(next(iter(wrong.values())))[:20]}",
)
def test_an_outcome_that_cannot_be_is_refused_and_moves_nothing(
    deploy_bot: AgentMemory, curl: httpx.Client, wrong: dict
) -> None:
    learned(deploy_bot, "retry-pattern")
    body = {"outcome_ref": "T-1", "outcome_type": "failure", "causal_entry_keys": [KEY], "agent_id": "deploy_bot"}

    answer = curl.post("/api/v1/outcomes", json=body | wrong)

    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)
    assert current(deploy_bot, "retry-pattern").version == 1

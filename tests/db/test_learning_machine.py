"""Whatever is written, reported, judged, rolled back and undone in whatever order: the server is as the rules say."""

import secrets
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from senselab.accounts import services as accounts
from tests.db.conftest import Caller
from tests.db.modelled import SEVERITY, State, Store

KEYS = ("a", "b", "c")
CONFIDENCES = st.sampled_from((0.15, 0.25, 0.3, 0.5, 0.7, 0.9, 1.0))
ANY = st.integers(0, 1_000_000)


class Learning(RuleBasedStateMachine):
    """One agent that may review, in an account of its own, beside the model of what it has done."""

    def __init__(self) -> None:
        super().__init__()
        account = accounts.create_account(f"machine-{secrets.token_hex(6)}")
        scopes = ("read", "write", "review")
        self.caller = Caller(
            accounts.create_key(account, name="key", scopes=scopes, rate_per_minute=10**6), "agent/ada"
        )
        self.model, self.made = Store(), []
        self.told = 0

    def done(self, answer: Any, status: int = 200) -> None:
        assert answer.status_code == status, answer.content
        if status == 200:
            self.made.append(answer["X-Change-Set"])

    def known(self, number: int) -> str:
        return sorted(self.model.versions)[number % len(self.model.versions)]

    @rule(key=st.sampled_from(KEYS), value=st.integers(0, 2), confidence=CONFIDENCES)
    def write(self, key: str, value: int, confidence: float) -> None:
        self.done(self.caller.write("shop", key, value, confidence=confidence))
        self.model.write(key, value, confidence)

    @precondition(lambda self: self.model.versions)
    @rule(kind=st.sampled_from(sorted(SEVERITY)), picks=st.sets(ANY, min_size=1, max_size=3), half=st.booleans())
    def report(self, kind: str, picks: set[int], half: bool) -> None:
        keys = sorted({self.known(pick) for pick in picks})
        self.told += 1
        causal = 0.5 if half else 1.0
        named = [f"shop/{key}" for key in keys]
        self.done(self.caller.report(f"task {self.told}", kind, *named, causal_confidence=causal))
        self.model.report(kind, keys, causal)

    @precondition(lambda self: self.told)
    @rule(number=ANY)
    def report_again(self, number: int) -> None:
        """Tell again what was told, as a client that heard no answer does."""
        told = self.caller.get("outcomes", outcome_ref=f"task {number % self.told + 1}").json()["outcomes"][0]
        same = {name: told[name] for name in ("causal_confidence", "attempts")}
        answer = self.caller.report(told["outcome_ref"], told["outcome_type"], *told["causal_entry_keys"], **same)
        assert (answer.status_code, answer.json()["repeated"]) == (200, True)

    @precondition(lambda self: self.model.versions)
    @rule(pick=ANY, good=st.booleans())
    def judge(self, pick: int, good: bool) -> None:
        key = self.known(pick)
        verdict = "accepted" if good else "rejected"
        self.done(self.caller.post("feedback", {"entity_path": "shop", "key": key, "outcome": verdict}))
        self.model.accept(key) if good else self.model.reject(key)

    @precondition(lambda self: any(len(versions) > 1 for versions in self.model.versions.values()))
    @rule(pick=ANY, number=ANY)
    def roll_back(self, pick: int, number: int) -> None:
        several = sorted(key for key, versions in self.model.versions.items() if len(versions) > 1)
        key = several[pick % len(several)]
        current = len(self.model.versions[key])
        to = number % (current - 1) + 1
        asked = {"entity_path": "shop", "key": key, "to_version": to, "expected_version": current, "reason": "better"}
        self.done(self.caller.post("rollback", asked))
        self.model.roll_back(key, to)

    @precondition(lambda self: self.made)
    @rule(number=ANY)
    def undo(self, number: int) -> None:
        number %= len(self.made)
        status = self.model.undo(number)
        self.done(self.caller.post(f"change-sets/{self.made[number]}/undo", {}), status)

    @invariant()
    def the_server_is_as_the_model(self) -> None:
        told = self.caller.get("entries", status="all").json()
        assert told["total"] == len(self.model.versions)
        for entry in told["entries"]:
            versions = self.model.versions[entry["key"]]
            assert entry["version"] == len(versions)
            assert seen(entry) == expected(versions[-1])


def seen(entry: dict[str, Any]) -> dict[str, Any]:
    names = ("value", "status", "evidence_status", "success_count", "failure_count")
    counters = ("positive_reinforcement", "negative_reinforcement")
    masses = ("confidence", "evidence_success", "evidence_failure", "prior_confidence")
    numbers = {name: pytest.approx(entry[name], abs=1e-9) for name in masses if entry[name] is not None}
    return {name: entry[name] for name in names + counters} | numbers


def expected(state: State) -> dict[str, Any]:
    told = {
        "value": state.value,
        "status": state.status,
        "evidence_status": state.label,
        "success_count": state.successes,
        "failure_count": state.failures,
        "positive_reinforcement": state.positive,
        "negative_reinforcement": state.negative,
        "confidence": state.confidence,
        "evidence_success": state.record_wins,
        "evidence_failure": state.record_losses,
    }
    return told | ({} if state.first_prior is None else {"prior_confidence": state.first_prior})


@pytest.mark.usefixtures("counted")
def test_whatever_happens_the_server_is_as_the_rules_say(db):
    steps = settings(settings.default, max_examples=25, stateful_step_count=25)
    run_state_machine_as_test(Learning, settings=steps)

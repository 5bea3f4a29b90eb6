"""What a caller may not see does not exist for them: on no route, in no count, in no error (RULES.md 8)."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from senselab.accounts import services as accounts
from tests.db import acts
from tests.db.conftest import Caller

SECRET = "umbrella"
NAME = {"entity_path": "shop/vault", "key": "code"}
ENTRY_KEY = "shop/vault/code"


@pytest.fixture
def keeper(account) -> Caller:
    """agent/keeper, who keeps a secret: a private entry with two versions and two outcomes, alone under its path."""
    key = accounts.create_key(account, name="keeper's", scopes=("read", "write", "review"), rate_per_minute=1_000_000)
    keeper = Caller(key, "agent/keeper")
    keeper.write("shop/vault", "code", f"{SECRET} 1", shared=False, confidence=0.7, pattern_refs=["shop/vault/hint"])
    again = {"entity_path": "shop/vault", "key": "code", "value": f"{SECRET} 2", "shared": False, "confidence": 0.7}
    keeper.post("commits", {"writes": [again], "message": SECRET})
    keeper.report("KEEP-1", "success", ENTRY_KEY, task_input=f"use {SECRET}", response_text=f"used {SECRET}")
    keeper.report("KEEP-2", "failure", ENTRY_KEY, attempts=[{"causal_entry_keys": [ENTRY_KEY]}])
    return keeper


OUTSIDERS = {
    "another agent": "agent/snoop",
    "nobody": "",
    "a reviewer": "review-tool",
    "another account": "agent/keeper",
}


@pytest.fixture(params=OUTSIDERS)
def outsider(request, account, other_account, keeper) -> Caller:
    """Somebody who may not see it, with every scope there is short of being its author."""
    where = other_account if request.param == "another account" else account
    key = accounts.create_key(where, name="outsider's", scopes=("read", "write", "review"), rate_per_minute=1_000_000)
    return Caller(key, OUTSIDERS[request.param])


def leaks(answer: Any) -> bool:
    text = answer.content.decode() + json.dumps(dict(answer.headers))
    return SECRET in text


READS: dict[str, tuple[Callable[[Caller], Any], Callable[[Any], bool]]] = {
    "read": (lambda c: c.get(f"entries/{ENTRY_KEY}"), lambda told: told["status"] == "not_found"),
    "read by name": (lambda c: c.get("entry", **NAME), lambda told: told["status"] == "not_found"),
    "list": (lambda c: c.get("entries"), lambda told: told == {"entries": [], "total": 0}),
    "list of all statuses": (lambda c: c.get("entries", status="all"), lambda told: told["total"] == 0),
    "list of versions": (lambda c: c.get("entries", include_superseded="true"), lambda told: told["total"] == 0),
    "page of a list": (lambda c: c.get("entries", limit=1), lambda told: told == {"entries": [], "total": 0}),
    "list of its author": (lambda c: c.get("entries", agent_id="agent/keeper"), lambda told: told["total"] == 0),
    "list of its path": (
        lambda c: c.get("entries", entity_path="shop", include_descendants="true"),
        lambda told: told["total"] == 0,
    ),
    "search": (lambda c: c.post("search", {"query": SECRET}), lambda told: told == []),
    "search of its author": (lambda c: c.post("search", {"agent_id": "agent/keeper"}), lambda told: told == []),
    "search of what it refers to": (
        lambda c: c.post("search", {"pattern_ref": "shop/vault/hint", "status": ["all"]}),
        lambda told: told == [],
    ),
    "history": (lambda c: c.get("history", **NAME), lambda told: told["status"] == 404),
    "history by path": (lambda c: c.get(f"history/{ENTRY_KEY}"), lambda told: told["status"] == 404),
    "diff": (lambda c: c.get("diff", **NAME, **{"from": 1, "to": 2}), lambda told: told["status"] == 404),
    "why": (lambda c: c.get("why", **NAME), lambda told: told["status"] == 404),
    "change sets": (lambda c: c.get("change-sets"), lambda told: told["change_sets"] == []),
    "commits": (lambda c: c.get("commits"), lambda told: told == {"commits": [], "count": 0}),
    "aggregate": (
        lambda c: c.post("aggregate", {"entity_path": "shop/vault", "op": "count"}),
        lambda told: (told["count"], told["entries_scanned"]) == (0, 0),
    ),
    "quality": (lambda c: c.get(f"quality/{ENTRY_KEY}"), lambda told: told["status"] == 404),
    "quality of a path": (
        lambda c: c.post("quality/batch", {"entity_path": "shop/vault"}),
        lambda told: not told["total"],
    ),
    "references": (lambda c: c.get("patterns"), lambda told: told == {"patterns": [], "total": 0}),
    "reuse": (lambda c: c.get("reuse"), lambda told: told["reuses"] == 0),
    "digests": (lambda c: c.get("cortex/digests"), lambda told: told == {"digests": [], "total": 0}),
    "integrity": (lambda c: c.post("verify", {}), lambda told: told["total_checked"] == 0),
    "diff by body": (lambda c: c.post("diff", NAME), lambda told: told["status"] == 404),
    "patch": (lambda c: c.post("patches", NAME), lambda told: told["status"] == 404),
    "explanation": (lambda c: c.get("explain", outcome_ref="KEEP-1"), lambda told: told["causal_entries"] == []),
    "training data": (lambda c: c.get("pro/export"), lambda told: told["num_examples"] == 0),
    "entities": (lambda c: c.get("entities"), lambda told: told == {"entities": []}),
    "preview of a rollback": (
        lambda c: c.post("rollback", {**NAME, "to_version": 1, "preview": True}),
        lambda told: told["status"] == 404,
    ),
    "rollback": (
        lambda c: c.post("rollback", {**NAME, "to_version": 1, "expected_version": 4}),
        lambda told: told["status"] == 404,
    ),
}


@pytest.mark.parametrize("name", READS)
def test_no_route_knows_of_a_private_entry(outsider, name):
    call, is_nothing = READS[name]
    answer = call(outsider)
    assert is_nothing(answer.json()), answer.content
    assert not leaks(answer)


def test_an_error_is_the_same_as_for_what_never_was(outsider):
    missing = {"entity_path": "shop/vault", "key": "never"}
    for route in ("history", "diff", "why"):
        real, made_up = (outsider.get(route, **name) for name in (NAME, missing))
        assert (real.status_code, real.json()) == (made_up.status_code, made_up.json())
    rollback = {"to_version": 1, "expected_version": 9}
    real, made_up = (outsider.post("rollback", {**name, **rollback}) for name in (NAME, missing))
    assert (real.status_code, real.json()) == (made_up.status_code, made_up.json())


def test_figures_count_nothing_of_it(outsider, counted, keeper):
    keeper.read("shop/vault", "code")
    counted()
    told = outsider.get("stats").json()
    counts = {name: value for name, value in told.items() if isinstance(value, int | float) and value}
    assert counts == {}
    assert (told["agents"], told["entities"], told["oldest_entry_at"]) == ({}, {}, None)
    assert not any(told["memory_type_counts"].values())
    assert not any(told["evidence_counts"].values())
    assert not any(told["tier_counts"].values())
    assert not any(told["entity_confidence"].values())


def test_outcomes_do_not_name_it(outsider):
    told = outsider.get("outcomes").json()["outcomes"]
    for outcome in told:
        assert outcome["causal_entry_keys"] == []
        assert outcome["causal_entry_versions"] == {}
        assert all(attempt["causal_entry_keys"] == [] for attempt in outcome["attempts"])
    assert "vault" not in json.dumps(told)


def test_who_writes_beside_it_is_told_nothing_of_it(outsider):
    answer = outsider.write("shop/vault", "mine", 1, include_scope=True)
    assert "scope" not in answer.json()
    assert answer.json()["version"] == 1


def test_who_writes_the_same_name_begins_an_entry_of_their_own(outsider, keeper):
    before = keeper.read("shop/vault", "code")
    answer = outsider.write("shop/vault", "code", "for all")
    assert (answer.status_code, answer.json()["version"]) == (200, 1)
    assert keeper.read("shop/vault", "code")["value"] == before["value"]


def test_an_outcome_that_cites_it_moves_nothing_and_tells_nothing(outsider, keeper):
    before = keeper.read("shop/vault", "code")
    real = outsider.report("SNOOP-1", "failure", ENTRY_KEY).json()
    made_up = outsider.report("SNOOP-1", "failure", "shop/vault/never").json()
    assert (real.pop("unknown_keys"), made_up.pop("unknown_keys")) == ([ENTRY_KEY], ["shop/vault/never"])
    assert real == made_up
    assert real["affected_entries"] == 0
    after = keeper.read("shop/vault", "code")
    # Priority fades with every moment that passes.
    assert after | {"priority_score": 0} == before | {"priority_score": 0}


def test_a_guess_is_told_back_whether_something_stands_behind_it_or_nothing_does(outsider, keeper):
    told = []
    for ref, path, key in (("G-1", "shop/vault", "code"), ("G-2", "shop/never", "none")):
        outsider.report(ref, "success", f"{path}/{key}", entity_paths=[path])
        outsider.post("traces", {"outcome_ref": f"T{ref}", "causal_entries": [{"entity_path": path, "key": key}]})
        found = [outsider.get("outcomes", outcome_ref=ref), outsider.get("outcomes", entity_path=path)]
        found.append(outsider.get("traces", entity_path=path))
        told.append([sorted(map(str, next(iter(answer.json().values())))) for answer in found])
    counts = [[len(rows) for rows in one] for one in told]
    assert counts[0] == counts[1]
    named = [[("code" in str(rows), "none" in str(rows)) for rows in one] for one in told]
    assert named == [[(True, False)] * 3, [(False, True)] * 3]


def test_its_change_sets_cannot_be_undone_by_others(outsider, keeper):
    made = keeper.write("shop/vault", "code", f"{SECRET} 3", shared=False)
    answer = outsider.post(f"change-sets/{made['X-Change-Set']}/undo", {})
    never = outsider.post("change-sets/999999999/undo", {})
    assert (answer.status_code, answer.json()) == (404, never.json())
    assert keeper.read("shop/vault", "code")["value"] == f"{SECRET} 3"


def test_a_commit_stands_on_the_one_before_that_is_seen_and_of_a_part_no_words_are_told(keeper, helper):
    first = helper.post("commits", {"writes": [{"entity_path": "shop", "key": "a", "value": 1}]}).json()
    hidden = {"entity_path": "shop/vault", "key": "code", "value": SECRET, "shared": False}
    keeper.post("commits", {"writes": [hidden], "message": SECRET})
    both = keeper.post(
        "commits", {"writes": [hidden, {"entity_path": "shop", "key": "b", "value": 2}], "message": SECRET}
    )
    told = helper.get("commits").json()["commits"]
    assert [(one["message"], one["parent_ids"]) for one in told] == [("", [first["commit_id"]]), ("", [])]
    assert not leaks(helper.get("change-sets"))
    own = keeper.get(f"commits/{both.json()['commit_id']}").json()
    assert (own["message"], len(own["entries"])) == (SECRET, 2)


@pytest.fixture
def two_beside_a_shared_one(keeper, helper, account, api_key) -> tuple[Caller, Caller, Caller]:
    """The keeper and the helper each keep an entry of one name beside the shared one that a third may see."""
    third = Caller(api_key, "agent/third")
    third.write("shop/vault", "code", "for all", confidence=0.9)
    helper.write("shop/vault", "code", "of the helper", shared=False, confidence=0.5)
    return keeper, helper, third


def test_of_three_entries_of_one_name_each_sees_their_own_or_the_shared_one(two_beside_a_shared_one):
    keeper, helper, third = two_beside_a_shared_one
    seen = [caller.read("shop/vault", "code")["value"] for caller in (keeper, helper, third)]
    assert seen == [f"{SECRET} 2", "of the helper", "for all"]
    for caller, value in zip((keeper, helper, third), seen, strict=True):
        listed = caller.get("entries").json()
        assert ([entry["value"] for entry in listed["entries"]], listed["total"]) == ([value], 1)
        told = caller.get("history", **NAME).json()["versions"]
        assert {version["value"] for version in told} - {f"{SECRET} 1"} == {value}


def test_figures_count_for_each_the_shared_one_and_their_own(two_beside_a_shared_one):
    totals = [caller.get("stats").json()["total_entries"] for caller in two_beside_a_shared_one]
    assert totals == [2, 2, 1]


def test_an_outcome_of_each_moves_what_each_sees(two_beside_a_shared_one):
    keeper, helper, third = two_beside_a_shared_one
    for caller in (helper, third):
        (moved,) = caller.report(f"OF-{caller.agent}", "failure", ENTRY_KEY).json()["entries"]
        assert moved["value"] == caller.read("shop/vault", "code")["value"]
    counts = [caller.read("shop/vault", "code")["outcome_count"] for caller in (keeper, helper, third)]
    assert counts == [3, 1, 1]


def test_outcomes_go_on_naming_a_key_that_also_stands_for_a_shared_entry(two_beside_a_shared_one):
    _, helper, third = two_beside_a_shared_one
    helper.report("HELP-1", "success", ENTRY_KEY)
    told = third.get("outcomes", outcome_ref="HELP-1").json()["outcomes"]
    assert told[0]["causal_entry_keys"] == [ENTRY_KEY]


def test_a_key_that_names_a_private_entry_of_another_branch_is_hidden_as_well(keeper, api_key):
    keeper.write("shop/vault", "draft", SECRET, shared=False, branch="draft")
    keeper.report("KEEP-3", "success", "shop/vault/draft", branch="draft")
    told = Caller(api_key, "agent/third").get("outcomes", outcome_ref="KEEP-3").json()["outcomes"]
    assert "draft" not in json.dumps([outcome["causal_entry_keys"] for outcome in told])


def test_the_same_agent_name_in_another_account_is_somebody_else(keeper, stranger):
    stranger.agent = "agent/keeper"
    stranger.headers["X-AMFS-Agent-Id"] = "agent/keeper"
    assert stranger.get("entries", status="all").json()["total"] == 0
    assert stranger.get("outcomes").json() == {"outcomes": []}
    assert stranger.get("change-sets").json()["change_sets"] == []
    assert stranger.write("shop/vault", "code", "theirs").json()["version"] == 1
    assert keeper.read("shop/vault", "code")["value"] == f"{SECRET} 2"


def test_an_expired_entry_is_gone_from_every_route_before_any_sweep(bot, account, keeper):
    acts.put(account, "soon over", key="old", by="agent/deploy-bot", ttl_at=acts.NOON)
    name = {"entity_path": "shop", "key": "old"}
    assert bot.read("shop", "old")["status"] == "not_found"
    assert bot.get("entries", status="all").json()["total"] == 0
    assert bot.post("search", {"query": "over", "status": ["all"]}).json() == []
    for route in ("history", "diff", "why"):
        assert bot.get(route, **name).status_code == 404

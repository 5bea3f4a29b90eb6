"""What was done on such tasks and what that suggests; environments; shifts; compact rows."""

from datetime import UTC, datetime, timedelta

import pytest

from outcomes.rules import actions, compact, episodes, guidance, preconditions, recommendation, shift
from outcomes.rules.actions import Asked
from outcomes.rules.episodes import Action, Episode
from outcomes.rules.shift import Lately, Rule

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ({"action": "restart", "a": "x"}, "ops:restart"),
        ({"b": "second", "a": "first"}, "ops:first"),
        ({"a": "has blanks in it", "n": 3}, "ops"),
        ({"a": "x" * 41}, "ops"),
        ({}, "ops"),
    ],
)
def test_an_action_is_named_by_its_tool_and_what_it_was_told_to_do(arguments, key):
    assert actions.key_of("ops", arguments) == key


def episode(number: int, *done: tuple[str, bool], situation: str = "", task: str = "queue stuck") -> Episode:
    last = len(done) - 1
    taken = tuple(Action(key, won, None if at == last else at + 1) for at, (key, won) in enumerate(done))
    at = NOW - timedelta(days=20 - number)
    won = bool(done) and done[-1][1]
    return Episode(number, f"o{number}", at, won, "a", task=task, situation=situation, actions=taken)


def told(past: list[Episode], **more) -> dict:
    asked = Asked("queue stuck", entity_path="shop", **more)
    return actions.priors(past, episodes.near(asked.task, asked.situation, past), asked, NOW)


def test_priors_count_what_each_action_won_and_lost_and_what_was_not_tried():
    past = [episode(1, ("ops:restart", True)), episode(2, ("ops:restart", False), ("ops:scale", True))]
    block = told(past, candidates=("ops:restart", "ops:page"))
    rows = {row["action_key"]: row for row in block["tried"]}
    assert (rows["ops:restart"]["won"], rows["ops:restart"]["lost"]) == (1, 1)
    assert rows["ops:restart"]["losing_since"] == past[1].at
    assert rows["ops:scale"]["last_3"] == ["won"]
    assert block["untried"] == ["ops:page"]
    assert block["contrasts"][0]["failed"] == ["ops:restart"]
    assert block["contrasts"][0]["resolved_with"] == "ops:scale"
    assert block["source"] == "similar_outcomes"


def test_the_record_of_a_declared_situation_comes_first_then_like_tasks_then_all():
    past = [episode(1, ("a", True), situation="S"), episode(2, ("b", True)), episode(3, ("c", True), task="other")]
    assert told(past, situation="s")["source"] == "situation_record"
    assert told(past)["source"] == "similar_outcomes"
    assert told([past[2]])["source"] == "action_stats"


def advised(past: list[Episode], candidates: tuple[str, ...] = (), **more) -> dict:
    return recommendation.recommend(told(past, candidates=candidates), candidates, **more)


def test_an_action_that_won_twice_is_suggested():
    past = [episode(n, ("ops:restart", True)) for n in range(15, 18)]
    advice = advised(past, ("ops:restart", "ops:scale"))
    assert (advice["mode"], advice["suggested_action"]) == ("act", "ops:restart")
    assert advice["plan"] == ["ops:restart", "ops:scale"]


def test_after_one_failure_the_action_that_resolved_it_is_suggested():
    past = [
        *(episode(n, ("ops:restart", True)) for n in range(5)),
        episode(18, ("ops:restart", False), ("ops:scale", True)),
    ]
    advice = advised(past, ("ops:restart", "ops:scale"))
    assert (advice["mode"], advice["suggested_action"]) == ("explore", "ops:scale")


def test_when_every_action_failed_somebody_else_is_needed():
    past = [episode(1, ("a", False)), episode(2, ("b", False))]
    assert advised(past, ("a", "b"))["mode"] == "escalate"
    assert advised(past)["mode"] == "explore"


def test_a_shift_makes_one_explore_and_nothing_known_makes_one_abstain_when_allowed():
    past = [episode(n, ("a", True)) for n in range(15, 18)]
    assert advised(past, shifted=True)["mode"] == "explore"
    assert advised([], may_abstain=True)["mode"] == "abstain"
    assert advised([], ("a",), may_abstain=False)["suggested_action"] == "a"


@pytest.mark.parametrize(
    ("demand", "verdict"),
    [
        ({"runtime": "py3.12"}, "applicable"),
        ({"runtime": "py3.*"}, "applicable"),
        ({"runtime": ["node", "py3.12"]}, "applicable"),
        ({"runtime": "node"}, "not_applicable"),
        ({"platform": "linux"}, "unknown"),
        ({"runtime": "node", "platform": "linux"}, "not_applicable"),
        ([{"runtime": "node"}, "a sentence"], "not_applicable"),
        ({"budget": "low"}, "applicable"),
        (None, "applicable"),
    ],
)
def test_a_procedure_is_for_some_environments(demand, verdict):
    assert preconditions.judge({"goal": "g", "preconditions": demand}, {"runtime": "py3.12"})[0] == verdict


def test_a_rule_turns_when_it_held_and_fails_lately():
    rule = Rule(5, 2, "contested", last_won=False, last_at=NOW - timedelta(days=1))
    assert shift.turned(rule, NOW)
    assert not shift.turned(Rule(2, 2, "contested", False, NOW), NOW)
    assert not shift.turned(Rule(5, 1, "validated", False, NOW), NOW)
    assert not shift.turned(Rule(5, 2, "contested", True, NOW), NOW)
    assert not shift.turned(Rule(5, 2, "contested", False, NOW - timedelta(days=8)), NOW)


@pytest.mark.parametrize(
    ("lately", "turned"),
    [
        ([Lately(False, "s1", False), Lately(False, "s2", False)], True),
        ([Lately(False, "s1", False), Lately(False, "s1", False)], False),
        ([Lately(False, "s1", False), Lately(False, "s2", False), Lately(True, "s3", True)], False),
        ([Lately(False, "s1", True), Lately(False, "s2", False), Lately(True, "s3", True)], True),
        ([Lately(False, "s1", False)], False),
    ],
)
def test_a_turn_needs_two_failures_of_different_sessions(lately, turned):
    assert shift.turned(Rule(5, 2, "discredited", False, NOW, tuple(lately)), NOW) is turned


def test_values_of_compact_hits_are_cut_from_the_third_on_to_a_line():
    text = '"' + "x" * 2_000 + '"'
    assert compact.shown(text, 0) == ("x" * 1_200 + compact.CUT, True)
    assert compact.shown(text, 2) == ("x" * 120 + compact.CUT, True)
    assert compact.shown('{"a": 1}', 2) == ('{"a": 1}', False)
    assert compact.shown('"short"', 1) == ("short", False)


def test_guidance_is_strong_thin_or_none():
    assert guidance.strength(["untested", "validated"]) == "strong"
    assert guidance.strength(["validated"], shifted=True) == "thin"
    assert guidance.strength(["contested"]) == "thin"
    assert guidance.strength(["untested"]) == "none" == guidance.strength([])
    assert guidance.strength([], {"tried": [{"n": 3, "p": 0.8, "won": 3}]}) == "strong"

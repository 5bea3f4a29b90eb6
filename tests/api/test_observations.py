"""POST /api/v1/observations: a user's words, and what they say about entries."""

import pytest

CORRECTION = "No, use docker compose instead of docker-compose."


def observe(caller, prompt, **more):
    return caller.post("observations", {"data": {"prompt": prompt}, **more})


def test_a_correction_is_found_and_applied_to_the_entry_named(bot):
    bot.write("ops", "compose", "docker-compose up", confidence=0.7)
    response = observe(bot, CORRECTION, entries=["ops/compose"])
    told = response.json()
    assert told["signal"] == {"type": "correction", "suggested": "docker compose", "context": CORRECTION}
    assert told["applied"][0]["confidence"] == pytest.approx(0.5)
    assert told["applied"][0]["negative_reinforcement"] == 1
    assert response["X-Change-Set"] == str(told["change_set"])


def test_an_approval_is_applied_to_all_entries_named_in_one_change_set(bot):
    bot.write("ops", "a", 1, confidence=0.5)
    bot.write("ops", "b/c", 2, confidence=0.5)
    told = observe(bot, "Perfect, that worked!", entries=["ops/a", {"entity_path": "ops", "key": "b/c"}]).json()
    assert told["signal"]["type"] == "approval"
    assert [entry["confidence"] for entry in told["applied"]] == [pytest.approx(0.6)] * 2
    assert bot.get("change-sets", kind="feedback").json()["change_sets"][0]["size"] == 2


@pytest.mark.parametrize("prompt", ["", "please run the tests", "that never worked"])
def test_words_that_say_nothing_change_nothing(bot, prompt):
    bot.write("ops", "compose", 1)
    told = observe(bot, prompt, entries=["ops/compose"]).json()
    assert told == {"signal": None, "applied": [], "change_set": None}
    assert bot.read("ops", "compose")["version"] == 1


def test_a_correction_may_write_what_it_suggests_in_the_entrys_place(bot):
    bot.write("ops", "compose", "docker-compose up")
    told = observe(bot, CORRECTION, entries=["ops/compose"], replace=True).json()
    new = told["replacement"]
    assert (new["value"], new["key"]) == ("docker compose", "compose-2")
    assert told["applied"][0]["status"] == "superseded"
    assert told["applied"][0]["superseded_by"] == "ops/compose-2"
    assert new["provenance"]["pattern_refs"] == ["ops/compose"]


def test_nothing_is_applied_without_names_unless_asked_for(bot, counted):
    bot.write("ops", "compose", 1)
    bot.get("entries/ops/compose", headers={"X-AMFS-Session": "s-1"})
    counted()
    told = observe(bot, "perfect", session_id="s-1").json()
    assert (told["signal"]["type"], told["applied"]) == ("approval", [])


def test_it_is_applied_to_what_the_session_read_last_when_asked_for(bot, helper):
    for key in ("one", "two", "three"):
        bot.write("ops", key, key, confidence=0.5)
    bot.get("entries/ops/one", headers={"X-AMFS-Session": "s-1"})
    bot.get("entries/ops/two", headers={"X-AMFS-Session": "s-2"})
    helper.get("entries/ops/three", headers={"X-AMFS-Session": "s-1"})
    # What this process has served is counted, flushed or not.
    told = observe(bot, "perfect", session_id="s-1", apply=True).json()
    assert [entry["key"] for entry in told["applied"]] == ["one"]
    assert bot.read("ops", "two")["confidence"] == 0.5


def test_what_was_read_long_before_the_last_reading_is_left_out(bot, counted, account):
    from datetime import timedelta

    from memories.models import Reading

    for key in ("old", "new"):
        bot.write("ops", key, key, confidence=0.5)
        bot.get(f"entries/ops/{key}", headers={"X-AMFS-Session": "s-1"})
    counted()
    old = Reading.objects.filter(account_id=account.pk, entry__key="old", entry__account_id=account.pk)
    moment = old.get().last_at - timedelta(minutes=5)
    Reading.objects.filter(account_id=account.pk, entry_id=old.get().entry_id).update(last_at=moment)
    told = observe(bot, "perfect", session_id="s-1", apply=True).json()
    assert [entry["key"] for entry in told["applied"]] == ["new"]


def test_with_apply_false_a_signal_is_only_told(bot):
    bot.write("ops", "compose", 1, confidence=0.5)
    told = observe(bot, "perfect", entries=["ops/compose"], apply=False).json()
    assert (told["signal"]["type"], told["applied"]) == ("approval", [])
    assert bot.read("ops", "compose")["version"] == 1


def test_an_agent_relaying_an_approval_does_not_end_a_review(bot, reviewer):
    bot.write("ops", "compose", 1, confidence=0.2)
    assert observe(bot, "perfect", entries=["ops/compose"]).json()["applied"][0]["status"] == "under_review"
    assert observe(reviewer, "perfect", entries=["ops/compose"]).json()["applied"][0]["status"] == "active"


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"entries": ["ops/nowhere"]}, 404),
        ({"entries": ["ops/compose", "ops/nowhere"]}, 404),
        ({"entries": ["a\u0000/b"]}, 422),
        ({"entries": ["ops/compose"] * 51}, 422),
        ({"entries": ["ops/compose", "ops/other"], "replace": True}, 422),
        ({"apply": True}, 422),
        ({"entries": [7]}, 422),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(bot, more, status):
    bot.write("ops", "compose", 1)
    bot.write("ops", "other", 2)
    assert observe(bot, CORRECTION, **more).status_code == status
    assert bot.read("ops", "compose")["version"] == 1


def test_words_are_at_most_so_long_and_hold_no_nul(bot):
    assert observe(bot, "x" * 100_001).status_code == 422
    assert observe(bot, "perfect\u0000").status_code == 422
    assert bot.post("observations", {"session_id": "s-1"}).status_code == 422

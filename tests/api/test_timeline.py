"""GET /agents/ID/timeline and POST /timeline/events: what happened, once, newest first."""

from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest

from senselab.accounts import services as accounts
from tests.api.conftest import Caller

BOT, HELPER = "agent/deploy-bot", "agent/oncall-helper"
READ = {"entity_path": "shop", "key": "retry", "version": 1, "author_agent_id": BOT}


def event(agent: str = HELPER, kind: str = "read", **more: Any) -> dict[str, Any]:
    return {"agent_id": agent, "event_type": kind, "summary": f"{kind} it", "details": READ, "branch": "main", **more}


def timeline(caller: Caller, agent: str = HELPER, **query: Any) -> list[dict[str, Any]]:
    return caller.get(f"agents/{agent}/timeline", **query).json()["events"]


def test_a_timeline_tells_writes_outcomes_and_what_was_posted_newest_first(bot: Caller) -> None:
    bot.write("shop", "retry", 1, confidence=0.7, memory_type="belief")
    bot.post("timeline/events", event(BOT))
    bot.report("T-1", "success", "shop/retry", "shop/never")

    ended, read, wrote = timeline(bot, BOT)

    assert [one["event_type"] for one in (ended, read, wrote)] == ["outcome", "read", "write"]
    assert wrote["details"] == {
        "entity_path": "shop", "key": "retry", "version": 1, "confidence": 0.7, "memory_type": "belief", "shared": True,
    }  # fmt: skip
    assert (wrote["summary"], wrote["agent_id"], wrote["actor_agent_id"]) == ("Wrote shop/retry v1", BOT, None)
    assert ended["details"] == {
        "outcome_ref": "T-1", "outcome_type": "success", "causal_entries": 2, "entries_updated": 1,
    }  # fmt: skip
    assert read["details"] == READ
    assert len({UUID(one["id"]) for one in (ended, read, wrote)}) == 3


def test_what_the_server_knows_by_itself_is_echoed_and_told_once(bot: Caller) -> None:
    bot.write("shop", "retry", 1)
    bot.report("T-1", "success", "shop/retry")
    told = timeline(bot, BOT)

    wrote = bot.post("timeline/events", event(BOT, "write")).json()
    ended = bot.post("timeline/events", event(BOT, "outcome", details={"outcome_ref": "T-1"})).json()

    assert (wrote["event_type"], ended["id"]) == ("write", told[0]["id"])
    assert timeline(bot, BOT) == told


def test_an_outcome_nobody_told_is_kept_as_an_event(bot: Caller) -> None:
    bot.post("timeline/events", event(BOT, "outcome", details={"outcome_ref": "elsewhere"}))

    assert [one["details"]["outcome_ref"] for one in timeline(bot, BOT)] == ["elsewhere"]


@pytest.mark.parametrize("address", [HELPER, quote(HELPER, safe="")])
def test_an_agents_id_may_be_raw_or_encoded(helper: Caller, address: str) -> None:
    helper.post("timeline/events", event())

    told = helper.get(f"agents/{address}/timeline").json()

    assert (told["agentId"], told["count"], told["has_more"], told["next_cursor"]) == (HELPER, 1, False, None)


def test_a_timeline_is_asked_by_type_branch_and_time(helper: Caller) -> None:
    for number, branch in enumerate(("main", "draft")):
        helper.write("shop", f"k{number}", 1, branch=branch)
        helper.post("timeline/events", event(branch=branch))
    newest = timeline(helper)[0]

    assert [one["event_type"] for one in timeline(helper, event_type="write")] == ["write", "write"]
    assert {one["branch"] for one in timeline(helper, branch="draft")} == {"draft"}
    assert len(timeline(helper, branch="draft")) == 2
    assert timeline(helper, since=newest["created_at"]) == [newest]
    assert newest not in timeline(helper, until=newest["created_at"])
    assert len(timeline(helper, offset=3)) == 1


def test_a_cursor_leads_through_all_sources_once(helper: Caller) -> None:
    for number in range(5):
        helper.write("shop", f"k{number}", 1)
        helper.post("timeline/events", event())
        helper.report(f"T-{number}", "success", f"shop/k{number}")
    whole = [one["id"] for one in timeline(helper)]

    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = helper.get(f"agents/{HELPER}/timeline", limit=4, **({"cursor": cursor} if cursor else {})).json()
        seen += [one["id"] for one in page["events"]]
        cursor = page["next_cursor"]

    assert seen == whole
    assert len(set(seen)) == 15


@pytest.mark.parametrize(
    ("query", "status"),
    [({"since": "notadate"}, 400), ({"cursor": "zzz"}, 400), ({"event_type": "bogus"}, 400), ({"limit": "0"}, 422)],
)
def test_what_cannot_be_asked_is_refused(helper: Caller, query: dict, status: int) -> None:
    assert helper.get(f"agents/{HELPER}/timeline", **query).status_code == status


def test_an_event_of_an_unknown_type_is_400_with_an_error(helper: Caller) -> None:
    answer = helper.post("timeline/events", {"agent_id": "a", "event_type": "bogus"})

    assert answer.status_code == 400
    assert "bogus" in answer.json()["error"]


@pytest.fixture
def reader(account) -> Caller:
    """A key that speaks for agent/oncall-helper and nobody else."""
    return Caller(accounts.create_key(account, name="bound", agent_id=HELPER))


def test_a_reader_may_report_on_the_authors_timeline_what_it_read(reader: Caller, bot: Caller) -> None:
    told = {"reader_agent_id": HELPER, "entity_path": "shop", "key": "retry", "version": 1, "direction": "inbound"}

    answer = reader.post("timeline/events", event(BOT, "cross_agent_read", details=told, actor_agent_id=HELPER))

    assert answer.status_code == 200
    (seen,) = timeline(bot, BOT)
    assert (seen["event_type"], seen["agent_id"], seen["actor_agent_id"]) == ("cross_agent_read", BOT, HELPER)


@pytest.mark.parametrize(
    "wrong",
    [
        {"event_type": "read"},
        {"event_type": "read", "actor_agent_id": HELPER},
        {"event_type": "cross_agent_read"},
        {"event_type": "cross_agent_read", "actor_agent_id": "agent/somebody"},
    ],
)
def test_nothing_else_goes_on_anothers_timeline(reader: Caller, bot: Caller, wrong: dict) -> None:
    assert reader.post("timeline/events", event(BOT) | wrong).status_code == 409
    assert timeline(bot, BOT) == []


def test_nothing_of_it_reaches_another_account(bot: Caller, stranger: Caller) -> None:
    bot.write("shop", "retry", 1)
    bot.post("timeline/events", event(BOT))

    assert timeline(stranger, BOT) == []


def test_a_timeline_costs_the_same_whatever_its_length(helper: Caller, django_assert_num_queries: Any) -> None:
    for many in (2, 10):
        for number in range(many):
            helper.write("shop", f"k{many}-{number}", 1)
            helper.report(f"T-{many}-{number}", "success", f"shop/k{many}-{number}")
            helper.post("timeline/events", event())
        with django_assert_num_queries(5):
            timeline(helper)

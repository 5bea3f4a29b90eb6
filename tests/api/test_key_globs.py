"""A key with globs: what lies outside is 403 before any look-up, and does not exist in any list, count or search."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.utils import timezone

from senselab.accounts import services as accounts
from tests.api.conftest import Caller

SHOP = [{"pattern": "shop/**"}, {"pattern": "shop"}, {"pattern": "docs/*", "permission": "read"}]


@pytest.fixture
def narrow(account) -> Caller:
    """agent/shop-bot, whose key reaches the shop, and may read the documents."""
    scopes = ("read", "write", "review")
    return Caller(accounts.create_key(account, name="shop key", scopes=scopes, globs=SHOP), "agent/shop-bot")


@pytest.fixture
def known(bot) -> None:
    """What stands there: inside, to be read only, and outside."""
    for path in ("shop/checkout", "docs/api", "vault/keys"):
        bot.write(path, "rule", "lorem ipsum", confidence=0.25)
        bot.write(path, "rule", "lorem ipsum dolor", confidence=0.2)


NAMED: dict[str, Callable[[Caller, str, str], HttpResponse]] = {
    "read": lambda who, path, key: who.get(f"entries/{path}/{key}"),
    "read by name": lambda who, path, key: who.get("entry", entity_path=path, key=key),
    "history": lambda who, path, key: who.get("history", entity_path=path, key=key),
    "history by path": lambda who, path, key: who.get(f"history/{path}/{key}"),
    "diff": lambda who, path, key: who.get("diff", entity_path=path, key=key),
    "why": lambda who, path, key: who.get("why", entity_path=path, key=key),
    "forecast": lambda who, path, key: who.get("forecast", entity_path=path, key=key),
    "quality": lambda who, path, key: who.get(f"quality/{path}/{key}"),
    "diff by body": lambda who, path, key: who.post("diff", {"entity_path": path, "key": key}),
    "event": lambda who, path, key: who.post(
        "events", {"source": "ci", "entity_path": path, "key": key, "value": 1, "event_type": "built"}
    ),
    "write": lambda who, path, key: who.write(path, key, 1),
    "commit": lambda who, path, key: who.post("commits", {"writes": [{"entity_path": path, "key": key, "value": 1}]}),
    "feedback": lambda who, path, key: who.post("feedback", {"entity_path": path, "key": key, "outcome": "rejected"}),
    "evidence": lambda who, path, key: who.post(
        "evidence", {"entity_path": path, "key": key, "evidence": {"description": "seen"}}
    ),
    "observation": lambda who, path, key: who.post(
        "observations", {"data": {"prompt": "great"}, "entries": [f"{path}/{key}"], "apply": True}
    ),
    "rollback": lambda who, path, key: who.post(
        "rollback", {"entity_path": path, "key": key, "to_version": 1, "expected_version": 2}
    ),
    "decision": lambda who, path, key: who.post(
        "review/decisions", {"items": [{"entity_path": path, "key": key, "version": 2}], "decision": "accept"}
    ),
}
READS = ("quality", "diff by body", "read", "read by name", "history", "history by path", "diff", "why", "forecast")


@pytest.mark.parametrize("call", NAMED)
def test_a_path_outside_is_forbidden_the_same_whether_it_exists_or_not(narrow, known, call):
    there, nowhere = (NAMED[call](narrow, path, "rule") for path in ("vault/keys", "vault/none"))
    assert there.status_code == nowhere.status_code == 403
    assert there.content.replace(b"vault/keys", b"vault/none") == nowhere.content


@pytest.mark.parametrize("call", NAMED)
def test_nothing_is_asked_about_a_path_outside(narrow, known, call, django_assert_max_num_queries):
    # The key, and what its agent bound itself to; never an entry.
    with django_assert_max_num_queries(2) as asked:
        NAMED[call](narrow, "vault/keys", "rule")
    assert not [query for query in asked.captured_queries if "memories_entry" in query["sql"]]


@pytest.mark.parametrize("call", READS)
def test_what_may_be_read_is_read(narrow, known, call):
    assert NAMED[call](narrow, "docs/api", "rule").status_code == 200


@pytest.mark.parametrize("call", sorted(set(NAMED) - set(READS)))
def test_what_may_only_be_read_is_not_changed(narrow, known, call):
    refused = NAMED[call](narrow, "docs/api", "rule")
    assert refused.status_code == 403
    assert "write permission" in refused.json()["detail"]


@pytest.mark.parametrize("call", NAMED)
def test_inside_everything_goes(narrow, known, call):
    assert NAMED[call](narrow, "shop/checkout", "rule").status_code in {200, 409}


def paths_in(told: Any) -> set[str]:
    if isinstance(told, dict):
        own = {told["entity_path"]} if isinstance(told.get("entity_path"), str) else set()
        return own.union(*map(paths_in, told.values()))
    return set().union(*map(paths_in, told)) if isinstance(told, list) else set()


LISTS: dict[str, Callable[[Caller], HttpResponse]] = {
    "list": lambda who: who.get("entries"),
    "versions": lambda who: who.get("entries", include_superseded="true"),
    "search": lambda who: who.post("search", {"query": "lorem"}),
    "entities": lambda who: who.get("entities"),
    "commits": lambda who: who.get("commits"),
    "review": lambda who: who.get("review"),
    "promoted": lambda who: who.get("promoted"),
    "traces": lambda who: who.get("traces"),
    "timeline": lambda who: who.get("agents/agent/deploy-bot/timeline"),
    "patterns": lambda who: who.get("patterns"),
    "cortex": lambda who: who.get("cortex/activity"),
    "tiers": lambda who: who.get("pro/tiers/entries"),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_narrow_silently(narrow, known, name):
    answer = LISTS[name](narrow)
    assert answer.status_code == 200
    assert b"vault" not in answer.content
    if name != "promoted":  # Markdown
        assert paths_in(answer.json()) <= {"shop/checkout", "docs/api"}


def test_counts_count_what_is_within(narrow, known):
    told = narrow.get("stats").json()
    assert told["total_entries"] == 2
    assert set(told["entities"]) == {"shop/checkout", "docs/api"}
    assert narrow.get("pro/tiers/distribution").json()["total"] == 2
    assert narrow.get("entries").json()["total"] == 2


def test_a_list_of_a_path_outside_is_empty(narrow, known):
    assert narrow.get("entries", entity_path="vault/keys").json() == {"entries": [], "total": 0}
    found = narrow.post("search", {"query": "lorem", "entity_path": "vault"}).json()
    assert b"vault" not in narrow.post("search", {"query": "lorem", "entity_path": "vault"}).content, found


def test_an_outcome_skips_entries_outside_as_unseen(narrow, bot, known):
    told = narrow.report("o-1", "success", "shop/checkout/rule", "vault/keys/rule", "docs/api/rule").json()
    assert [entry["entity_path"] for entry in told["entries"]] == ["shop/checkout"]
    assert bot.read("vault/keys", "rule")["outcome_count"] == 0
    assert bot.read("docs/api", "rule")["outcome_count"] == 0
    assert bot.read("shop/checkout", "rule")["outcome_count"] == 1


def test_outcomes_name_nothing_outside(narrow, bot, known):
    bot.report("o-1", "success", "shop/checkout/rule", "vault/keys/rule", entity_paths=["vault/keys", "shop/checkout"])
    bot.report("o-2", "success", "vault/keys/rule", entity_paths=["vault/keys"])
    bot.report("o-3", "success")
    answer = narrow.get("outcomes")
    assert {told["outcome_ref"] for told in answer.json()["outcomes"]} == {"o-1", "o-3"}
    assert b"vault" not in answer.content
    assert narrow.get("outcomes", entity_path="vault/keys").json() == {"outcomes": []}


def test_a_change_set_outside_is_not_there_and_a_mixed_one_is_undone_within(narrow, bot, known):
    writes = [{"entity_path": path, "key": "new", "value": 1} for path in ("shop/checkout", "vault/keys")]
    mixed = int(bot.post("commits", {"writes": writes})["X-Change-Set"])
    outside = int(bot.write("vault/keys", "other", 1)["X-Change-Set"])
    assert narrow.post(f"change-sets/{outside}/undo", {}).status_code == 404
    assert narrow.post(f"change-sets/{mixed}/undo", {}).json()["restored"] == 1
    assert bot.read("vault/keys", "new")["status"] == "active"
    assert bot.read("shop/checkout", "new")["status"] == "archived"


def test_an_entry_outside_replaces_nothing(narrow, known):
    answers = [
        narrow.post(
            "feedback",
            {"entity_path": "shop/checkout", "key": "rule", "outcome": "superseded", "superseded_by": by},
        )
        for by in ("vault/keys/rule", "vault/keys/none")
    ]
    assert [answer.status_code for answer in answers] == [403, 403]


def test_deciding_about_all_decides_about_what_is_within(narrow, bot, known):
    told = narrow.post("review/decisions", {"all": True, "filter": {}, "decision": "accept"}).json()
    assert told["done"] == 1
    assert bot.read("vault/keys", "rule")["status"] == "under_review"


def test_going_back_to_a_moment_leaves_what_may_only_be_read(narrow, known, bot):
    moment = {"agent_id": "agent/shop-bot", "target_timestamp": timezone.now().isoformat()}
    wide = Caller(bot.headers["X-AMFS-API-Key"], "agent/shop-bot")
    assert wide.write("docs/api", "late", 1).status_code == wide.write("shop/checkout", "late", 1).status_code == 200

    told = narrow.post("rollback", moment).json()

    assert (told["entries_archived"], told["entries_restored"]) == (1, 0)
    assert [wide.read(path, "late")["status"] for path in ("docs/api", "shop/checkout")] == ["active", "archived"]

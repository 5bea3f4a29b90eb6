"""Reading, listing and searching entries; keys and who they speak for."""

import pytest

from memories.checking import verify_reads
from senselab.accounts.models import ApiKey
from tests.db import acts


def test_what_is_not_there_is_said_with_200(bot):
    response = bot.get("entries/shop/none")
    assert response.status_code == 200
    assert response.json() == {"status": "not_found", "entity_path": "shop", "key": "none"}


def test_the_last_segment_is_the_key_and_a_key_with_slashes_is_read_by_query(bot):
    bot.write("a/b", "c", 1)
    bot.write("a", "b/c", 2)
    assert bot.read("a/b", "c")["value"] == 1
    assert bot.get("entry", entity_path="a", key="b/c").json()["value"] == 2


@pytest.mark.parametrize(
    "name", ["ünïcödé", "日本語", "emoji-🚀", "with space", "percent%41", "CaSe", "dots..", "plus+"]
)
def test_every_printable_character_is_kept_in_a_key(bot, name):
    bot.write("shop", name, name)
    assert bot.get("entry", entity_path="shop", key=name).json()["value"] == name


def test_two_spellings_of_one_name_are_one_entry(bot):
    bot.write("shop", "caf\u0065\u0301", 1)
    assert bot.get("entry", entity_path="shop", key="caf\u00e9").json()["value"] == 1


def test_a_read_counts_a_recall_and_says_what_it_saved(bot, helper, counted):
    bot.write("shop", "k", "some knowledge")
    response = helper.get("entries/shop/k")
    assert response.json()["recall_count"] == 0
    assert '"written_by":"agent/deploy-bot"' in response["X-SenseLab-Value"]
    counted()
    assert helper.read("shop", "k")["recall_count"] == 1


def test_a_list_is_newest_first_with_the_full_total(bot):
    for number in range(5):
        bot.write("shop", f"k{number}", number)
    told = bot.get("entries", limit=2, offset=1).json()
    assert [entry["key"] for entry in told["entries"]] == ["k3", "k2"]
    assert told["total"] == 5


def test_a_list_of_versions_counts_versions(bot):
    bot.write("shop", "k", 1)
    bot.write("shop", "k", 2)
    told = bot.get("entries", entity_path="shop", include_superseded="true", limit=1).json()
    assert (told["total"], told["entries"][0]["version"]) == (2, 1)


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"limit": 10001},
        {"offset": -1},
        {"sort": "x"},
        {"fields": "all"},
        {"status": "x"},
        {"include_superseded": "maybe"},
    ],
)
def test_a_list_refuses_what_it_does_not_know(bot, query):
    assert bot.get("entries", **query).status_code == 422


def test_a_search_finds_words_in_any_order_over_key_path_and_value(bot):
    bot.write("shop/checkout-service", "retry-pattern", {"hint": "use exponential backoff"})
    bot.write("shop/search", "other", "nothing of it")
    for query in ("backoff exponential", "pattern backoff", "checkout-service", "ERR exponential backoff"):
        assert [hit["key"] for hit in bot.post("search", {"query": query}).json()] == ["retry-pattern"]


def test_a_search_filters_by_effective_confidence_type_time_and_author(bot, helper):
    bot.write("shop", "sure", 1, confidence=0.9, memory_type="fact")
    helper.write("shop", "unsure", 1, confidence=0.4, memory_type="belief")

    def keys(**body):
        return sorted(hit["key"] for hit in bot.post("search", body).json())

    assert keys() == ["sure", "unsure"]
    assert keys(min_confidence=0.5) == ["sure"]
    assert keys(max_confidence=0.5) == ["unsure"]
    assert keys(agent_id="agent/oncall-helper") == ["unsure"]
    assert keys(memory_type="belief") == ["unsure"]
    assert keys(since="2099-01-01T00:00:00Z") == []
    assert keys(depth=1) == []
    assert keys(entity_path="sho") == []
    assert keys(entity_path="shop") == ["sure", "unsure"]


def test_descendants_are_found_when_asked_for_and_not_the_neighbours(bot):
    for path in ("shop", "shop/checkout", "shopping"):
        bot.write(path, "k", 1)
    found = bot.post("search", {"entity_path": "shop", "include_descendants": True}).json()
    assert sorted(hit["entity_path"] for hit in found) == ["shop", "shop/checkout"]


@pytest.mark.parametrize(
    "body",
    [
        {"sort_by": "x"},
        {"limit": 0},
        {"depth": 4},
        {"min_confidence": 2},
        {"query": "x" * 10001},
        {"status": ["x"]},
    ],
)
def test_a_search_refuses_what_it_does_not_know(bot, body):
    assert bot.post("search", body).status_code == 422


@pytest.mark.parametrize("query", ["'", "a & | b", "!!!", ":*", "((", "\\", "%", "\u202e"])
def test_no_query_is_a_fault(bot, query):
    bot.write("shop", "k", 1)
    assert bot.post("search", {"query": query}).status_code == 200


def test_diff_names_what_changed_by_pointer(bot):
    bot.write("shop", "k", {"max": 3, "same": 1})
    bot.write("shop", "k", {"max": 6, "same": 1, "new": True})
    told = bot.get("diff", entity_path="shop", key="k").json()
    assert (told["from"], told["to"]) == (1, 2)
    assert {change["path"]: change["operation"] for change in told["changes"]} == {"/max": "replace", "/new": "add"}
    assert bot.get("diff", entity_path="shop", key="k", **{"from": 1, "to": 9}).status_code == 404


def test_stats_count_what_lists_show(bot, counted):
    bot.write("shop", "a", 1, confidence=0.5)
    bot.write("shop/x", "b", 1, confidence=1.0, memory_type="procedure")
    bot.report("t", "success", "shop/a")
    told = bot.get("stats").json()
    assert (told["total_entries"], told["total_entities"], told["total_agents"]) == (2, 2, 1)
    assert told["outcome_linked_count"] == 1
    assert told["memory_type_counts"]["procedure"] == 1
    assert told["entities"] == {"shop": 1, "shop/x": 1}
    assert "entities" not in bot.get("stats", breakdown="false").json()


def test_stats_of_nothing_are_zero_and_not_null(bot):
    told = bot.get("stats").json()
    assert (told["confidence_avg"], told["confidence_min"], told["total_entries"], told["oldest_entry_at"]) == (
        0.0,
        0.0,
        0,
        None,
    )


def test_without_a_key_or_with_a_wrong_one_the_answer_is_the_same_401(bot):
    for key in ("", "nonsense", "sl_0123456789abcdef_wrong", "sl_" + "é" * 16 + "_x", "x" * 5000):
        bot.headers = {"X-AMFS-API-Key": key} if key.isascii() else {"Authorization": f"Bearer {key}"}
        response = bot.get("entries")
        assert response.status_code == 401
        assert response.json()["detail"] == "Invalid or missing API key"


def test_a_bearer_token_works_and_the_header_wins(bot, api_key):
    bot.headers = {"Authorization": f"Bearer {api_key}"}
    assert bot.get("entries").status_code == 200
    bot.headers["X-AMFS-API-Key"] = "wrong"
    assert bot.get("entries").status_code == 401


@pytest.mark.parametrize("change", [{"revoked_at": "2020-01-01T00:00:00Z"}, {"expires_at": "2020-01-01T00:00:00Z"}])
def test_a_revoked_or_expired_key_is_refused(bot, account, change):
    ApiKey.objects.filter(account=account).update(**change)
    assert bot.get("entries").status_code == 401


def test_a_read_key_cannot_write(bot, account):
    ApiKey.objects.filter(account=account).update(scopes=["read"])
    assert bot.get("entries").status_code == 200
    assert bot.write("shop", "k", 1).status_code == 403


def test_beyond_its_rate_a_key_waits_a_number_of_seconds(bot, account):
    ApiKey.objects.filter(account=account).update(rate_per_minute=2)
    answers = [bot.get("entries") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2]["Retry-After"]) > 0


def test_a_bound_key_reads_for_its_agent_and_nobody_else(bound):
    assert bound.get("entries").status_code == 200
    assert bound.get("entries", headers={"X-AMFS-Agent-Id": "agent/somebody"}).status_code == 403


def test_whoami_and_health(bot, client):
    told = bot.get("auth/whoami").json()
    assert told["authenticated"] is True
    assert told["scopes"] == ["read", "write"]
    for path in ("/health", "/api/v1/health"):
        assert client.get(path).json()["status"] == "ok"


def test_a_route_that_is_not_there_is_a_problem_with_detail(bot):
    response = bot.get("nothing/here")
    assert response.status_code == 404
    assert response.json()["detail"]


def test_what_a_branch_never_touched_is_read_from_main(bot, stranger):
    bot.write("shop", "retry", 1)
    read = {"entity_path": "shop", "key": "retry", "branch": "draft"}
    assert (bot.get("entry", **read).json()["value"], bot.get("entry", **read).json()["branch"]) == (1, "main")
    bot.write("shop", "retry", 2, branch="draft")
    assert (bot.get("entry", **read).json()["value"], bot.get("entry", **read).json()["branch"]) == (2, "draft")
    assert bot.read("shop", "retry")["value"] == 1
    assert stranger.get("entry", **read).json()["status"] == "not_found"


def test_the_first_write_on_a_branch_goes_on_from_mains_number(bot, account):
    for value in (1, 2, 3):
        bot.write("shop", "retry", value)
    bot.write("shop", "other", 1)
    first = bot.write("shop", "retry", 4, branch="draft")
    again = bot.write("shop", "retry", 5, branch="draft")
    new = bot.write("shop", "new", 1, branch="draft")
    assert [told.json()["version"] for told in (first, again, new)] == [4, 5, 1]
    commit = bot.post("commits", {"writes": [{"entity_path": "shop", "key": "other", "value": 2}], "branch": "draft"})
    assert [entry["version"] for entry in commit.json()["commit"]["entries"]] == [2]
    name = {"entity_path": "shop", "key": "retry"}
    assert (bot.read("shop", "retry")["version"], bot.get("entry", **name, branch="draft").json()["version"]) == (3, 5)
    history = bot.get("history", **name, branch="draft").json()
    assert [version["version"] for version in history["versions"]] == [4, 5]
    assert [step["after"] for step in bot.get("why", **name, branch="draft").json()["steps"]] == [1.0, 1.0]
    listed = bot.get("entries", branch="draft", include_superseded="true", limit="1").json()
    assert listed["total"] == 4
    tally = verify_reads.Tally()
    assert list(verify_reads.account_findings(account, tally)) == []
    assert (tally.entries, tally.versions) == (5, 8)


def test_a_write_on_a_branch_is_guarded_by_what_it_shows_of_main(bot):
    bot.write("shop", "retry", 1)
    body = {"entity_path": "shop", "key": "retry", "value": 2, "branch": "draft"}
    stale = bot.post("entries", body | {"expected_version": 0})
    assert (stale.status_code, stale.json()["current_version"]) == (412, 1)
    assert bot.post("entries", body | {"expected_version": 1}).json()["version"] == 2
    assert bot.read("shop", "retry")["version"] == 1


def test_somebody_elses_private_entry_on_main_gives_a_branch_no_number(bot, account):
    acts.put(account, 1, key="own", by="agent/other", shared=False)
    acts.put(account, 2, key="own", by="agent/other", shared=False)
    assert bot.write("shop", "own", 1, branch="draft").json()["version"] == 1


def test_a_branch_rolls_back_to_what_it_began_with(bot, reviewer):
    bot.write("shop", "retry", 1)
    for value in (2, 3):
        bot.write("shop", "retry", value, branch="draft")
    body = {"entity_path": "shop", "key": "retry", "branch": "draft", "to_version": 2, "expected_version": 3}
    answer = reviewer.post("rollback", body | {"reason": "it was right"})
    assert (answer.json()["entry"]["version"], answer.json()["entry"]["value"]) == (4, 2)


@pytest.fixture
def branched(bot, helper):
    """Main has a, b and c; on draft b was rewritten, d is new, and c is rewritten privately by helper."""
    for key in "abc":
        bot.write("shop", key, f"{key} on main")
    bot.write("shop", "b", "b on draft", branch="draft")
    bot.write("shop", "d", "d on draft", branch="draft")
    helper.write("shop", "c", "c of helper", branch="draft", shared=False)


@pytest.mark.parametrize(
    ("who", "c"), [("bot", "c on main"), ("helper", "c of helper"), ("nobody", "c on main")], ids=str
)
def test_lists_and_searches_on_a_branch_lay_it_over_main(branched, request, who, c):
    caller = request.getfixturevalue(who)
    wanted = {"a": "a on main", "b": "b on draft", "c": c, "d": "d on draft"}
    listed = caller.get("entries", branch="draft").json()
    assert {entry["key"]: entry["value"] for entry in listed["entries"]} == wanted
    assert listed["total"] == 4
    pages = [caller.get("entries", branch="draft", limit="1", offset=str(n)).json() for n in range(5)]
    assert [page["total"] for page in pages] == [4] * 5
    assert {entry["key"] for page in pages for entry in page["entries"]} == set("abcd")
    for said, keys in (
        ({}, "abcd"),
        ({"query": "main"}, "ac" if c == "c on main" else "a"),
        ({"query": "draft"}, "bd"),
    ):
        found = caller.post("search", {"branch": "draft", **said}).json()
        assert {entry["key"]: entry["value"] for entry in found} == {key: wanted[key] for key in keys}
    assert {entry["value"] for entry in caller.get("entries").json()["entries"]} == {f"{key} on main" for key in "abc"}

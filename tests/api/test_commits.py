"""POST /commits: many writes that stand or fall together, listed, and what two have in common."""

import hashlib

import pytest

WRITES = [
    {"entity_path": "shop", "key": "a", "value": {"n": 1}, "confidence": 0.5},
    {"entity_path": "shop", "key": "b", "value": 2, "memory_type": "belief"},
]


def committed(caller, *writes, **more):
    answer = caller.post("commits", {"writes": list(writes), "message": "together", **more})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_commit_writes_all_of_it_as_one_change_set(bot):
    answer = bot.post("commits", {"writes": WRITES, "message": "together"})
    told = answer.json()
    assert (told["entries_written"], told["message"]) == (2, "together")
    assert told["commit_id"] == told["commit"]["id"]
    assert len(told["commit_id"]) == 12
    assert bot.read("shop", "b")["memory_type"] == "belief"
    (change_set,) = bot.get("change-sets").json()["change_sets"]
    assert (str(change_set["id"]), change_set["size"]) == (answer["X-Change-Set"], 2)


def test_its_tree_is_the_hash_of_what_it_wrote(bot):
    commit = committed(bot, *WRITES)["commit"]
    hashes = sorted(entry["content_hash"] for entry in commit["entries"])
    assert commit["tree_hash"] == hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    assert commit["author_agent_id"] == "agent/deploy-bot"


@pytest.mark.parametrize(
    ("broken", "pointer"),
    [
        ({"entity_path": "shop", "key": ""}, "/writes/2/key"),
        ({"entity_path": "shop", "key": "c", "memory_type": "hunch"}, "/writes/2/memory_type"),
        ({"entity_path": "shop", "key": "a", "value": 3}, "/writes/2"),
        ({"entity_path": "shop", "key": "c", "branch": "draft"}, "/writes/2/branch"),
        ({"entity_path": "shop", "key": "c", "value": "\0"}, "/writes/2/value"),
    ],
    ids=["no key", "unknown type", "one name twice", "two branches", "a value that cannot be"],
)
def test_one_write_that_cannot_be_leaves_nothing_written(bot, broken, pointer):
    answer = bot.post("commits", {"writes": [*WRITES, broken]})
    assert answer.status_code == 422
    assert [place["pointer"] for place in answer.json()["errors"]] == [pointer]
    assert bot.get("entries").json()["total"] == 0
    assert bot.get("commits").json() == {"commits": [], "count": 0}


def test_a_commit_of_nothing_is_refused(bot):
    assert bot.post("commits", {"writes": []}).status_code == 422
    assert bot.post("commits", {}).status_code == 422


def test_commits_are_listed_newest_first_and_each_stands_on_the_one_before(bot):
    first, second, third = (committed(bot, {"entity_path": "shop", "key": "a", "value": n}) for n in range(3))
    told = bot.get("commits", limit=2).json()
    assert [commit["id"] for commit in told["commits"]] == [third["commit_id"], second["commit_id"]]
    assert [commit["parent_ids"] for commit in told["commits"]] == [[second["commit_id"]], [first["commit_id"]]]
    assert bot.get(f"commits/{first['commit_id']}").json() == first["commit"]
    assert bot.read("shop", "a")["version"] == 3


def test_branches_have_lines_of_their_own(bot):
    committed(bot, WRITES[0])
    draft = committed(bot, WRITES[1], branch="draft")
    assert (draft["commit"]["branch"], draft["commit"]["parent_ids"]) == ("draft", [])
    assert [commit["id"] for commit in bot.get("commits", branch="draft").json()["commits"]] == [draft["commit_id"]]


def test_the_nearest_common_commit_is_the_older_of_two_in_one_line(bot):
    ids = [committed(bot, {"entity_path": "shop", "key": "a", "value": n})["commit_id"] for n in range(3)]
    told = bot.post("merge-base", {"commit_a": ids[2], "commit_b": ids[1]}).json()
    assert told == {"ancestor_commit_id": ids[1], "commit_a": ids[2], "commit_b": ids[1]}
    assert bot.post("merge-base", {"commit_a": ids[0], "commit_b": "nope"}).json()["ancestor_commit_id"] is None


def test_what_others_kept_private_in_a_commit_is_not_told(bot, helper, stranger):
    private = {"entity_path": "shop", "key": "own", "value": "secret", "shared": False}
    hidden = committed(bot, private)
    partly = committed(bot, WRITES[0], private | {"key": "own 2"})
    assert helper.get(f"commits/{hidden['commit_id']}").status_code == 404
    seen = helper.get(f"commits/{partly['commit_id']}").json()
    assert [entry["key"] for entry in seen["entries"]] == ["a"]
    assert seen["tree_hash"] != partly["commit"]["tree_hash"]
    assert helper.get("commits").json()["count"] == 1
    assert stranger.get("commits").json()["count"] == 0
    assert bot.get("commits").json()["count"] == 2


def test_its_author_may_undo_a_commit(bot):
    answer = bot.post("commits", {"writes": WRITES})
    undone = bot.post(f"change-sets/{answer['X-Change-Set']}/undo", {}).json()
    assert undone["restored"] == 2
    assert bot.get("entries").json()["total"] == 0


def test_a_commit_sent_again_with_its_key_is_made_once(bot):
    once = {"Idempotency-Key": "c-1"}
    first, again = (bot.post("commits", {"writes": WRITES}, headers=once) for _ in range(2))
    assert first.json() == again.json()
    assert bot.read("shop", "a")["version"] == 1


def test_a_commit_over_an_entry_goes_on_from_it_and_publishes_what_was_private(bot, helper):
    bot.write("shop", "a", 0, shared=False)
    assert committed(bot, *WRITES)["commit"]["entries"][0]["version"] == 2
    assert helper.read("shop", "a")["value"] == {"n": 1}


def test_an_unknown_commit_is_404_with_a_sentence(bot):
    answer = bot.get("commits/nope")
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no such commit.")

"""What agents write is what agents read: the published client against a live server."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from amfs import AgentMemory, MemoryType
from amfs_core.exceptions import StaleWriteError
from amfs_core.models import ConflictPolicy

from tests.conftest import Server

from .conftest import Join

VALUES = [
    None,
    True,
    0,
    -0.0,
    0.1,
    1.0,
    1e16,
    2.5e-308,
    10**60,
    -(2**63) - 1,
    "",
    "plain",
    '{"looks": "like JSON"}',
    "[1, 2]",
    "null",
    "two\nlines\tand a tab",
    "日本語, العربية, e\u0301, 👩🏽‍🚀",
    [],
    {},
    [[[]], {"a": None}],
    {"b": 1, "a": {"nested": [1, 2.0, "3", False]}},
    {"": "empty name", "a/b": "slash", "ä": "umlaut"},
    "x" * 20_000,
]


def test_what_one_agent_writes_another_reads(deploy_bot: AgentMemory, oncall_helper: AgentMemory) -> None:
    before = datetime.now(UTC)
    written = deploy_bot.write("checkout", "retry-pattern", {"max_retries": 3}, confidence=0.7)

    read = oncall_helper.read("checkout", "retry-pattern")

    assert read is not None
    assert read.value == {"max_retries": 3}
    assert (read.version, read.confidence, read.evidence_status) == (1, 0.7, "untested")
    assert (read.provenance.agent_id, read.provenance.session_id) == ("deploy_bot", "session of deploy_bot")
    assert before - timedelta(minutes=1) < read.provenance.written_at < datetime.now(UTC) + timedelta(minutes=1)
    assert (read.outcome_count, read.tier, read.memory_type, read.branch) == (0, 3, MemoryType.FACT, "main")
    assert read.shared
    of_the_moment = {"recall_count", "priority_score"}
    assert read.model_dump(exclude=of_the_moment) == written.model_dump(exclude=of_the_moment)


@pytest.mark.parametrize("key", ["nothing", "nothing/at/all"])
def test_a_key_nobody_wrote_reads_as_none(oncall_helper: AgentMemory, key: str) -> None:
    assert oncall_helper.read("checkout", key) is None


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("checkout", "plain"),
        ("shop/eu/checkout", "deep-path"),
        ("checkout", "ns/sub-key"),
        ("a/b", "c/d/e"),
        ("checkout", "with space + plus"),
        ("Bücher/カート", "schlüssel-🔑"),
        ("@room/planning", "minutes:2026"),
        ("/leading", "k"),
        ("trailing/", "k"),
        ("double//slash", "k"),
        ("checkout", "50% off"),
        ("CheckOut", "Case-Kept"),
    ],
)
def test_a_name_is_found_again_as_it_was_written(deploy_bot: AgentMemory, path: str, key: str) -> None:
    deploy_bot.write(path, key, "here")

    read = deploy_bot.read(path, key)

    assert read is not None
    assert (read.entity_path, read.key, read.value) == (path, key, "here")
    assert [entry.key for entry in deploy_bot.list(path)] == [key]


def test_a_name_is_the_same_however_its_accents_were_typed(deploy_bot: AgentMemory) -> None:
    deploy_bot.write("cafe\u0301", "men\u0075\u0308", "one entry")
    deploy_bot.write("caf\u00e9", "men\u00fc", "still one entry")

    assert [entry.version for entry in deploy_bot.list("cafe\u0301")] == [2]


def test_a_slash_in_the_key_and_a_slash_in_the_path_are_two_entries(deploy_bot: AgentMemory) -> None:
    deploy_bot.write("a", "b/c", "slash in the key")
    deploy_bot.write("a/b", "c", "slash in the path")

    in_key, in_path = deploy_bot.read("a", "b/c"), deploy_bot.read("a/b", "c")

    assert in_key is not None
    assert in_path is not None
    assert (in_key.value, in_path.value) == ("slash in the key", "slash in the path")


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:24])
def test_a_value_comes_back_as_it_was_sent(deploy_bot: AgentMemory, value: object) -> None:
    deploy_bot.write("values", "v", value)

    read = deploy_bot.read("values", "v")

    assert read is not None
    # repr tells 1 from 1.0 and 0.0 from -0.0, and keeps the order of members.
    assert repr(read.value) == repr(value)


def test_the_four_types_and_the_references_come_back(deploy_bot: AgentMemory) -> None:
    for memory_type in MemoryType:
        refs = [f"patterns/{memory_type.value}", "backoff"]
        deploy_bot.write("types", memory_type.value, "v", memory_type=memory_type, pattern_refs=refs)

    listed = {entry.key: entry for entry in deploy_bot.list("types")}

    assert {key: entry.memory_type.value for key, entry in listed.items()} == {t.value: t.value for t in MemoryType}
    assert listed["belief"].provenance.pattern_refs == ["patterns/belief", "backoff"]


def test_a_file_of_source_is_marked_as_an_artifact(deploy_bot: AgentMemory) -> None:
    assert deploy_bot.write("repo", "src/app.py", "import os\n\ndef main():\n    return os.name\n").is_artifact
    assert not deploy_bot.write("repo", "finding", "main returns the name of the platform").is_artifact


def test_every_write_makes_the_next_version(deploy_bot: AgentMemory, oncall_helper: AgentMemory) -> None:
    writers = [deploy_bot, oncall_helper, deploy_bot]

    versions = [who.write("checkout", "limit", n).version for n, who in enumerate(writers)]

    assert versions == [1, 2, 3]
    newest = oncall_helper.read("checkout", "limit")
    assert newest is not None
    assert (newest.version, newest.value) == (3, 2)


def test_a_write_tells_of_its_neighbours(deploy_bot: AgentMemory) -> None:
    deploy_bot.write("checkout", "first", 1)
    assert deploy_bot.last_scope is None
    deploy_bot.write("checkout", "second", 2)
    deploy_bot.write("checkout", "third", 3)

    scope = deploy_bot.last_scope

    assert scope is not None
    assert (scope["entity_path"], scope["existing_entries"]) == ("checkout", 2)
    assert sorted(scope["keys"]) == ["first", "second"]
    assert isinstance(scope["never_read"], int)


def test_a_careful_writer_hears_that_somebody_was_faster(deploy_bot: AgentMemory, join: Join) -> None:
    careful = join("careful_bot", conflict_policy=ConflictPolicy.RAISE)
    careful.write("checkout", "limit", 10)
    careful.read("checkout", "limit")
    deploy_bot.write("checkout", "limit", 20)

    with pytest.raises(StaleWriteError):
        careful.write("checkout", "limit", 11)

    assert [entry.value for entry in careful.history("checkout", "limit")] == [10, 20]


def test_a_refusal_reaches_the_agent_in_words_and_leaves_nothing_behind(deploy_bot: AgentMemory) -> None:
    with pytest.raises(httpx.HTTPStatusError, match=r"^422 .* for POST /api/v1/entries: .*\w") as refused:
        deploy_bot.write("checkout", "too-sure", "certain", confidence=5.0)

    assert refused.value.response.headers["content-type"].startswith("application/problem+json")
    assert refused.value.response.json()["errors"][0]["pointer"].endswith("/confidence")
    assert deploy_bot.read("checkout", "too-sure") is None


def test_an_unknown_key_is_turned_away(server: Server, api_key: str) -> None:
    for wrong in ("", "not-a-key", api_key[:-1], api_key + "x"):
        answer = httpx.get(server.url + "/api/v1/stats", headers={"X-AMFS-API-Key": wrong})
        assert answer.status_code == 401
        assert answer.json()["detail"] == "Invalid or missing API key"


def test_a_bearer_token_opens_the_same_door_and_the_own_header_wins(server: Server, api_key: str) -> None:
    def stats(**headers: str) -> int:
        return httpx.get(server.url + "/api/v1/stats", headers=headers).status_code

    assert stats(Authorization=f"Bearer {api_key}") == 200
    assert stats(**{"X-AMFS-API-Key": api_key, "Authorization": "Bearer wrong"}) == 200
    assert stats(**{"X-AMFS-API-Key": "wrong", "Authorization": f"Bearer {api_key}"}) == 401


def test_health_needs_no_key_and_whoami_knows_it(server: Server, curl: httpx.Client) -> None:
    for path in ("/health", "/api/v1/health"):
        health = httpx.get(server.url + path)
        assert health.status_code == 200
        assert health.json()["status"] == "ok"
    assert curl.get("/api/v1/auth/whoami").json()["authenticated"] is True

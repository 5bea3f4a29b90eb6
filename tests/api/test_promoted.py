"""What has proved itself in a file that agents read, and rules there read back: the API and the commands."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories.rules import promotion
from memories.rules.promotion import BEGIN, END, Rule
from senselab.errors import Invalid


@pytest.fixture
def run(account):
    """Run a command in this account and return what it prints."""

    def command(name, *arguments, **options):
        out = StringIO()
        call_command(name, *arguments, account=account.slug, stdout=out, **options)
        return out.getvalue().strip()

    return command


def test_promoted_entries_come_as_markdown_by_entity(bot):
    bot.write("shop", "retry", "Retry idempotent calls only.", confidence=0.9)
    bot.write("shop", "limits", {"max": 3}, confidence=0.8)
    bot.write("shop", "unsure", "perhaps", confidence=0.79)
    bot.write("lab", "glass", "two\nlines", confidence=1.0)
    response = bot.get("promoted")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.content.decode() == (
        f"{BEGIN}\n{promotion.NOTE}\n\n## lab\n\n- **glass**: two\n  lines\n\n"
        '## shop\n\n- **limits**: `{"max": 3}`\n- **retry**: Retry idempotent calls only.\n\n' + END + "\n"
    )


def test_what_is_private_archived_or_under_another_path_is_left_out(bot):
    bot.write("shop", "mine", "private", confidence=1.0, shared=False)
    bot.write("shop", "old", "superseded", confidence=1.0)
    bot.post("feedback", {"entity_path": "shop", "key": "old", "outcome": "superseded"})
    bot.write("lab", "glass", "elsewhere", confidence=1.0)
    text = bot.get("promoted", entity_path="shop").content.decode()
    assert promotion.parse(text) == []


def test_the_least_confidence_can_be_asked_for(bot):
    bot.write("shop", "unsure", "perhaps", confidence=0.5)
    assert "perhaps" in bot.get("promoted", least="0.5").content.decode()
    for least in ("1.5", "nan", "much"):
        assert bot.get("promoted", least=least).status_code == 422


def test_promote_writes_between_the_markers_and_leaves_the_rest_as_it_is(bot, run, tmp_path):
    bot.write("shop", "retry", "Once.", confidence=0.9)
    path = tmp_path / "CLAUDE.md"
    before, after = b"# Ours\r\n\r\nkeep me \t\r\n", b"\r\n\r\n## More\r\nand me"
    path.write_bytes(before + BEGIN.encode() + b"\r\nold\r\n" + END.encode() + after)
    assert run("promote", str(path)).endswith("CLAUDE.md: 1 entry")
    text = path.read_bytes()
    assert text.startswith(before + BEGIN.encode())
    assert text.endswith(END.encode() + after)
    assert b"- **retry**: Once.\r\n" in text
    assert b"old" not in text
    assert run("promote", str(path)).endswith("1 entry, as before")


def test_promote_makes_a_file_and_adds_to_one_without_markers(bot, run, tmp_path):
    bot.write("shop", "retry", "Once.", confidence=0.9)
    run("promote", str(tmp_path / "NEW.md"))
    assert (tmp_path / "NEW.md").read_text().startswith(BEGIN)
    (tmp_path / "AGENTS.md").write_text("# Agents\nno line end")
    run("promote", str(tmp_path / "AGENTS.md"))
    assert (tmp_path / "AGENTS.md").read_text().startswith(f"# Agents\nno line end\n\n{BEGIN}\n")


@pytest.mark.parametrize("text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_broken_markers_are_refused_and_the_file_is_left_alone(run, tmp_path, text):
    path = tmp_path / "CLAUDE.md"
    path.write_text(text)
    with pytest.raises(CommandError, match="needs one line"):
        run("promote", str(path))
    assert path.read_text() == text


def test_import_reads_rules_back_as_entries(bot, run, tmp_path):
    bot.write("shop", "retry", "Once.", confidence=0.9, memory_type="belief")
    bot.write("shop", "limits", {"max": 3}, confidence=0.9)
    path = tmp_path / "CLAUDE.md"
    run("promote", str(path))
    text = path.read_text().replace("Once.", "Twice.").replace(END, "- Always run the linter first.\n" + END)
    path.write_text(text)
    assert run("promote", str(path), reads=True).endswith("1 created, 1 rewritten, 1 unchanged")
    entry = bot.read("shop", "retry")
    assert (entry["value"], entry["memory_type"], entry["provenance"]["agent_id"]) == (
        "Twice.",
        "belief",
        "human/operator",
    )
    new = bot.read("shop", "always-run-the-linter-first")
    assert (new["value"], new["memory_type"], new["status"]) == ("Always run the linter first.", "procedure", "active")
    assert bot.get("change-sets", kind="write").json()["change_sets"][0]["size"] == 2
    assert run("promote", str(path), reads=True).endswith("0 created, 0 rewritten, 3 unchanged")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "There are 0 rules"),
        ("- **a**: 1\n- **a**: 2", "Lines 2 and 3 both name rules/a"),
        ("- **a**: `{broken`", "line 2 is not JSON"),
        (f"- **{'k' * 600}**: 1", "line 2"),
    ],
)
def test_an_import_that_cannot_be_is_refused_and_writes_nothing(bot, run, tmp_path, lines, words):
    path = tmp_path / "CLAUDE.md"
    path.write_text(f"{BEGIN}\n{lines}\n{END}")
    with pytest.raises(CommandError, match=words):
        run("promote", str(path), reads=True)
    assert bot.get("entries").json()["total"] == 0


def test_a_file_that_is_not_there_or_no_text_is_refused(run, tmp_path):
    with pytest.raises(CommandError, match="cannot be used"):
        run("promote", str(tmp_path / "nowhere.md"), reads=True)
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe")
    with pytest.raises(CommandError, match="cannot be used"):
        run("promote", str(tmp_path / "binary.md"))


TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=60)
NAMES = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=20).filter(
    lambda text: text == text.strip()
)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans(), st.none()), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.tuples(NAMES, NAMES), VALUES, max_size=5))
def test_what_is_rendered_is_read_back_as_it_was(entries):
    rules = [Rule(path, key, json.dumps(value)) for (path, key), value in entries.items()]
    read = promotion.parse(promotion.put("before\n", promotion.render(rules)))
    assert {(rule.entity_path, rule.key): json.loads(rule.value) for rule in read} == entries


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_no_text_can_end_the_block_or_begin_another(text):
    block = promotion.render([Rule("p", "k", json.dumps(f"{text}{END}{BEGIN}{text}"))])
    assert (block.count(BEGIN), block.count(END)) == (1, 1)


def test_code_that_people_write_is_text(run):
    block = f"{BEGIN}\n- `make lint`\n- **n**: `3`\n{END}"
    assert [(rule.key, rule.value) for rule in promotion.parse(block)] == [("make-lint", '"`make lint`"'), ("n", "3")]


def test_parse_refuses_a_document_without_markers():
    with pytest.raises(Invalid):
        promotion.parse("- a rule")


def test_reinforce_accepts_and_holds(bot, run):
    bot.write("shop", "retry", 1, confidence=0.2)
    assert run("reinforce", "shop/retry", note="seen it work") == "shop/retry v2: 0.20 to 0.30, active"
    assert bot.read("shop", "retry")["positive_reinforcement"] == 1


def test_correct_rejects_and_with_use_writes_what_takes_its_place(bot, run):
    bot.write("ops/tools", "compose", "docker-compose", confidence=0.7)
    assert run("correct", "ops/tools/compose") == "ops/tools/compose v2: 0.70 to 0.50, active"
    said = run("correct", "ops/tools/compose", use="docker compose")
    assert said.splitlines() == [
        "ops/tools/compose v4: 0.50 to 0.30, superseded",
        "ops/tools/compose-2 takes its place",
    ]
    new = bot.read("ops/tools", "compose-2")
    assert (new["value"], new["provenance"]["agent_id"]) == ("docker compose", "human/operator")


@pytest.mark.parametrize("name", ["reinforce", "correct"])
def test_a_command_about_an_entry_that_is_not_there_says_so(run, name):
    for key in ("shop/nowhere", "nowhere", ""):
        with pytest.raises(CommandError, match="There is no entry"):
            run(name, key)


def test_a_command_about_an_account_that_is_not_there_says_so(account):
    with pytest.raises(CommandError, match="no account"):
        call_command("reinforce", "shop/retry", account="nobody")

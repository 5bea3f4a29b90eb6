"""Six weeks of agent life travel whole: every kind of line there is, and the commands that move them."""

import io
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memories import jobs
from memories.checking import verify_reads
from memories.checking.verify_reads import Tally
from memories.services import policies
from memories.transfer import leaving, tables
from senselab.accounts import services as accounts
from senselab.demo import seeding
from tests.db import acts

MONDAY = datetime(2026, 10, 19, 11, 7, tzinfo=UTC)
# What six weeks of the demo do not come to.
RARE = {"commit", "edge", "event", "trace", "evidence", "comment"}


@pytest.fixture(scope="module")
def demo(django_db_setup, django_db_blocker):
    """A small demo whose policy somebody changed; made before the wall between accounts watches."""
    with django_db_blocker.unblock():
        seeding.seed(MONDAY, share=0.1, progress=lambda day: None)
        account = accounts.find_account(seeding.SLUG)
        said = {"actor": acts.agent(), "reason": "fewer hot ones", "now": MONDAY}
        policies.save(account.pk, {"hot_capacity": 20}, expected=1, **said)
        jobs.tiers()
        yield accounts.find_account(seeding.SLUG)
        seeding.remove(account)


def test_all_of_it_travels_and_every_seal_fits_where_it_arrives(demo, db, tmp_path):
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    call_command("export_account", demo.slug, output=one, stdout=io.StringIO())
    call_command("import_account", "copy", str(one), stdout=io.StringIO())
    call_command("export_account", "copy", output=other, stdout=io.StringIO())
    assert one.read_bytes() == other.read_bytes()
    copy = accounts.find_account("copy")
    assert list(verify_reads.account_findings(copy, Tally())) == []
    kinds = Counter(json.loads(line)["line"] for line in one.read_bytes().splitlines())
    assert {table.kind for table in tables.TABLES} - set(kinds) <= RARE
    assert copy.policy_version == 2
    figures = (
        "SELECT sum(entries), sum(recalls), sum(tokens_saved) FROM (SELECT account_id, entries, recalls, tokens_saved"
        " FROM memories_counter UNION ALL SELECT account_id, entries, recalls, tokens_saved FROM memories_counterdelta"
        ") s WHERE s.account_id = %s"
    )
    assert acts.rows_of(figures, demo.pk) == acts.rows_of(figures, copy.pk)


def test_without_a_file_the_export_goes_to_standard_output(account, capfdbinary):
    acts.put(account, 1)
    call_command("export_account", account.slug)
    assert capfdbinary.readouterr().out == b"".join(leaving.export(account))


def test_on_a_terminal_both_commands_show_how_far_they_are_and_in_a_file_they_do_not(
    account, tmp_path, capsys, monkeypatch
):
    acts.put(account, 1)
    file = tmp_path / "one.jsonl"
    for force, name in (("", "plain"), ("1", "shown")):
        monkeypatch.setenv("FORCE_COLOR", force)
        call_command("export_account", account.slug, output=file, stdout=io.StringIO())
        call_command("import_account", name, str(file), stdout=io.StringIO())
        said = capsys.readouterr().err
        shown = [words in said for words in (f"Exporting {account.slug}", f"Importing {name}", "100%")]
        assert shown == [bool(force)] * 3, said


@pytest.mark.parametrize(
    ("command", "arguments", "words"),
    [
        ("export_account", ["nobody"], "no account"),
        ("import_account", ["acme", "/nowhere/at/all"], "cannot be read"),
        ("import_account", ["acme", __file__], "Line 1 is no line of an export"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_leaves_no_account(db, command, arguments, words):
    with pytest.raises(CommandError, match=words):
        call_command(command, *arguments)
    with pytest.raises(accounts.NoSuchAccount):
        accounts.find_account("acme")


def test_an_export_that_is_interrupted_leaves_the_older_file_alone(account, tmp_path: Path, monkeypatch):
    target = tmp_path / "kept.jsonl"
    target.write_text("older")

    def broken(account, begun):
        yield b"{}\n"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(leaving, "export", broken)
    with pytest.raises(CommandError, match="No space left"):
        call_command("export_account", account.slug, output=target)
    assert target.read_text() == "older"
    assert list(tmp_path.iterdir()) == [target]

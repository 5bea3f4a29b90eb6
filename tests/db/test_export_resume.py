"""An export that was interrupted goes on after what is whole, if the account is as it was; else it begins anew."""

import io

import pytest
from django.core.management import CommandError, call_command

from memories.transfer import leaving, resuming
from tests.db import acts
from tests.db.test_transfer import story as story  # noqa: PLC0414
from tests.db.test_transfer import written


@pytest.fixture
def pieces(monkeypatch):
    """How many pieces were made, and after how many somebody presses Ctrl-C."""
    made = {"count": 0, "until": None}
    whole = leaving._piece

    def counting(lines):
        if made["count"] == made["until"]:
            raise KeyboardInterrupt
        made["count"] += 1
        return whole(lines)

    monkeypatch.setattr(leaving, "_piece", counting)
    return made


def export(account, target):
    call_command("export_account", account.slug, output=target, stdout=io.StringIO())


def interrupted(account, target, pieces, until):
    pieces.update(count=0, until=until)
    with pytest.raises(CommandError, match="goes on from here"):
        export(account, target)
    pieces.update(count=0, until=None)


def test_what_was_interrupted_goes_on_and_is_the_same_in_the_end(story, tmp_path, pieces):
    target, whole = tmp_path / "one.jsonl", written(story)
    count, made = pieces["count"], []
    for until in range(1, count):
        interrupted(story, target, pieces, until)
        assert not target.exists()
        export(story, target)
        made.append(pieces["count"])
        assert target.read_bytes() == whole
        assert list(tmp_path.iterdir()) == [target]
        target.unlink()
    # The first line, and the kind at which it was interrupted, are made again; nothing that was whole before it.
    assert made == [count, *(count - until + 1 for until in range(2, count))]


def test_a_part_that_ends_within_a_line_is_gone_on_with(story, tmp_path, pieces):
    target, whole = tmp_path / "one.jsonl", written(story)
    interrupted(story, target, pieces, pieces["count"] - 1)
    (part,) = tmp_path.iterdir()
    part.write_bytes(part.read_bytes()[:-7])
    export(story, target)
    assert target.read_bytes() == whole


def test_an_account_that_changed_meanwhile_is_written_anew(story, tmp_path, pieces):
    target = tmp_path / "one.jsonl"
    interrupted(story, target, pieces, 5)
    acts.put(story, "later", key="new")
    whole = written(story)
    pieces.update(count=0)
    export(story, target)
    assert target.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [target]


def test_whatever_a_file_says_moves_the_mark(story):
    marks = [resuming.mark(story.pk)]
    assert resuming.mark(story.pk) == marks[0]
    entry = acts.put(story, 1, key="new")
    marks.append(resuming.mark(story.pk))
    for change in (
        "UPDATE memories_entry SET tier = 4 - tier WHERE account_id = %s",
        "DELETE FROM memories_reading WHERE account_id = %s",
        "UPDATE accounts_account SET policy_version = policy_version WHERE id = %s",
    ):
        acts.rows_of(f"{change} RETURNING 1", story.pk)
        marks.append(resuming.mark(story.pk))
    assert entry.version == 1
    assert len(set(marks)) == len(marks)

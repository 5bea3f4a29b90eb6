"""Bringing in what others keep: a commit nobody answered for, what cannot be taken back, and files that are damaged."""

import json
from typing import Any

import pytest

from senselab.cli import formats, moving
from senselab.cli.remote import Remote
from senselab.mcp.calling import Answered, Unreachable

WRITES = [{"entity_path": "shop", "key": f"k{number}", "value": number} for number in range(2)]


class Flaky(Remote):
    """A server whose answers to commits get lost when `lost` says so; it stores each commit of one key once."""

    lost: set[int] = set()
    undoes = True

    def __call__(self, method: str, path: str, *, query: Any = None, body: Any = None, once: str = "") -> Answered:
        self.calls.append((path, once))
        if path.endswith("/undo"):
            return Answered(200, b'{"left": []}') if self.undoes else Answered(403, b'{"detail": "not you"}')
        self.stored.setdefault(once or len(self.calls), len(self.stored) + 1)
        if len(self.calls) in self.lost:
            raise Unreachable("timed out")
        number = self.stored[once]
        return Answered(200, json.dumps({"commit_id": f"c{number}", "change_set": number}).encode())


@pytest.fixture
def flaky(monkeypatch) -> Flaky:
    monkeypatch.setattr(moving, "BATCH", 1)
    monkeypatch.setattr(Flaky, "calls", [], raising=False)
    monkeypatch.setattr(Flaky, "stored", {}, raising=False)
    monkeypatch.setattr(Flaky, "lost", set())
    monkeypatch.setattr(Flaky, "undoes", True)
    return Flaky("http://nowhere")


def test_a_commit_whose_answer_got_lost_is_asked_for_once_more_and_stored_once(flaky):
    Flaky.lost = {1}
    assert moving.commit(flaky, WRITES, "import") == ["c1", "c2"]
    assert len(flaky.stored) == 2
    assert flaky.calls[0] == flaky.calls[1] != flaky.calls[2]


def test_what_may_be_stored_is_named_and_what_is_stored_is_taken_back(flaky, capsys):
    Flaky.lost = {2, 3}
    with pytest.raises(Unreachable):
        moving.commit(flaky, WRITES, "import of x")
    assert flaky.calls[-1][0] == "change-sets/1/undo"
    said = capsys.readouterr().err
    assert "shop/k1 may be stored" in said
    assert "'import of x'" in said


def test_what_could_not_be_undone_is_named_and_the_first_error_stays(flaky, capsys):
    Flaky.lost, Flaky.undoes = {2, 3}, False
    with pytest.raises(Unreachable):
        moving.commit(flaky, WRITES, "import")
    assert "Change set 1 of this import could not be undone: not you" in capsys.readouterr().err


def test_a_line_of_a_snapshot_that_is_no_json_is_refused_by_its_number(tmp_path):
    source = tmp_path / "all.jsonl"
    source.write_text('{"entity_path": "shop", "key": "a", "value": 1}\n\n{"entity_path": \n')
    with pytest.raises(formats.NotThat, match="Line 3 of"):
        list(formats.snapshot(source, ""))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("snapshot", '{"entity_path": ["shop"], "key": "a"}'),
        ("snapshot", '{"entity_path": "shop", "key": {"a": 1}}'),
        ("mcp-memory", '{"type": "entity", "name": ["a"]}'),
        ("mcp-memory", '{"type": "relation", "from": ["a"]}'),
    ],
)
def test_a_row_of_another_shape_is_said_to_be_none(tmp_path, kind, text):
    source = tmp_path / "all.jsonl"
    source.write_text(text)
    assert [row.write for row in formats.FORMATS[kind](source, "")] == [None]


def test_a_file_of_another_shape_is_refused(tmp_path):
    source = tmp_path / "all.json"
    source.write_text("5")
    with pytest.raises(formats.NotThat):
        list(formats.mem0(source, ""))

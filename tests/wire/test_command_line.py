"""`senselab` against a live server: every command, how each ends, and what others keep brought in."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from senselab.cli import formats, moving, remote
from senselab.cli.app import app
from tests.conftest import Server

SAMPLES = Path(__file__).parent / "samples"
Run = Callable[..., Result]


@pytest.fixture
def run(server: Server, review_key: str, tmp_path: Path) -> Run:
    """Return `run("write", "shop", ...)`: what the command printed and how it ended."""
    environment = {
        "SENSELAB_URL": server.url,
        "SENSELAB_KEY": review_key,
        "SENSELAB_AGENT": "agent/terminal",
        "XDG_CONFIG_HOME": str(tmp_path),
        "COLUMNS": "200",
    }

    def ran(*arguments: str, input: str | None = None, **more: str) -> Result:
        return CliRunner().invoke(app, list(arguments), env=environment | more, input=input)

    return ran


def told(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_what_is_written_is_read_found_compared_and_explained(run):
    first = told(run("write", "shop", "retry", '{"max": 3}', "--confidence", "0.6", "--json"))
    assert (first["version"], first["value"], first["provenance"]["agent_id"]) == (1, {"max": 3}, "agent/terminal")
    run("write", "shop", "retry", "-", input='{"max": 6}')
    assert told(run("read", "shop", "retry", "--json"))["value"] == {"max": 6}
    assert "shop/retry  v2" in run("read", "shop", "retry").stdout
    assert [entry["key"] for entry in told(run("search", "retry", "--path", "shop", "--json"))] == ["retry"]
    assert told(run("history", "shop", "retry", "--json"))["version_count"] == 2
    assert told(run("diff", "shop", "retry", "--json"))["changes"][0]["path"] == "/max"
    assert "/max: 3 → 6" in run("diff", "shop", "retry").stdout
    assert told(run("why", "shop", "retry", "--json"))["steps"]
    assert "confidence 0." in run("why", "shop", "retry").stdout


def test_outcomes_and_verdicts_move_it_and_a_rollback_takes_it_back(run):
    run("write", "shop", "retry", "3")
    moved = told(run("outcome", "deploy-1", "success", "shop/retry", "--verified-by", "ci", "--json"))
    assert moved["affected_entries"] == 1
    assert "shop/retyr  is unknown here" in run("outcome", "deploy-2", "success", "shop/retyr").stdout
    up = told(run("reinforce", "shop", "retry", "--json"))["entry"]["confidence"]
    down = told(run("correct", "shop", "retry", "--note", "no", "--json"))["entry"]["confidence"]
    assert down < up
    assert "changes" in json.loads(run("rollback", "shop", "retry", "--to", "1", "--preview").stdout)
    back = told(run("rollback", "shop", "retry", "--to", "1", "--reason", "it was better", "--json"))
    assert back["entry"]["version"] == 5
    assert run("rollback", "shop", "retry", "--to", "1", "--expect", "2").exit_code == 1


def test_review_is_listed_and_decided(run):
    run("write", "shop", "odd", "x", "--confidence", "0.1")
    assert [item["key"] for item in told(run("review", "list", "--json"))["items"]] == ["odd"]
    assert told(run("review", "decide", "accept", "shop", "odd", "--reason", "looked", "--json"))["done"]
    assert told(run("review", "list", "--json"))["items"] == []


def test_what_is_trusted_most_is_printed_as_markdown(run):
    run("write", "shop", "sure", "Retry twice.", "--confidence", "0.95")
    assert "Retry twice." in run("promote").stdout
    assert "Retry twice." in told(run("promote", "--json"))["markdown"]


def test_login_keeps_a_good_key_for_its_owner_alone(run, server, review_key, tmp_path):
    nothing = {"SENSELAB_URL": "", "SENSELAB_KEY": "", "SENSELAB_AGENT": ""}
    assert run("login", server.url, "--with-key", "sl_no_no", **nothing).exit_code == 1
    assert not (tmp_path / "senselab").exists()
    assert told(run("login", server.url, "--with-key", review_key, "--json", **nothing))["authenticated"]
    kept = tmp_path / "senselab" / "credentials.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    status = told(run("status", "--json", **nothing))
    assert (status["url"], status["status"]) == (server.url, "ok")


def test_each_ending_has_its_number(run):
    assert run("read", "shop", "never").exit_code == 1
    assert run("write", "shop", "", "1").exit_code == 1
    assert run("write", "shop").exit_code == 2
    assert run("mcp").exit_code == 2
    assert run("status", SENSELAB_URL="http://127.0.0.1:9").exit_code == 3
    assert "Cannot reach" in run("status", SENSELAB_URL="http://127.0.0.1:9").stderr
    assert run("status", SENSELAB_URL="nonsense").exit_code == 3


def test_everything_the_key_may_see_goes_out_and_comes_in_elsewhere(run, tmp_path, monkeypatch):
    monkeypatch.setattr(moving, "PAGE", 2)
    for n in range(5):
        run("write", "shop", f"k{n}", str(n))
    run("write", "shop", "own", "1", "--private")
    out = tmp_path / "all.jsonl"
    assert told(run("export", "--out", str(out), "--json"))["written"] == 6
    assert len(run("export", SENSELAB_AGENT="agent/other").stdout.splitlines()) == 5
    report = told(run("import", "snapshot", str(out), "--path", "copy", "--json"))
    assert (len(report["rows"]), len(report["commits"])) == (6, 1)
    assert told(run("read", "copy/shop", "k4", "--json"))["value"] == 4


IMPORTS = {
    "snapshot": ("snapshot.json", "old/service", "retry", {"max": 6}),
    "mem0": ("mem0.json", "mem0/shop", "deploys-go-out-on-tuesdays-0a1b2c3d", None),
    "mcp-memory": ("memory.jsonl", "mcp-memory/service", "checkout-service", None),
    "ccmem": ("notes", "ccmem/deploys", "fridays", "Never deploy on a Friday afternoon."),
    "claude-md": ("CLAUDE.md", "claude-md/testing", "never-sleep-in-a-test", "Never sleep in a test."),
}


@pytest.mark.parametrize("kind", IMPORTS)
def test_what_others_keep_comes_in_after_a_dry_run_that_writes_nothing(run, kind):
    name, path, key, value = IMPORTS[kind]
    dry = told(run("import", kind, str(SAMPLES / name), "--dry-run", "--json"))
    assert {row["result"] for row in dry["rows"]} == {"could be written"}
    assert told(run("search", "", "--json")) == []
    report = told(run("import", kind, str(SAMPLES / name), "--json"))
    assert {row["result"] for row in report["rows"]} == {"written"}
    read = told(run("read", path, key, "--json"))
    assert value is None or read["value"] == value
    assert len(report["commits"]) == 1


def test_every_format_that_is_read_is_tried(run):
    assert set(IMPORTS) == set(formats.FORMATS) == {kind.value for kind in moving.Kind}


def test_one_row_that_cannot_be_stops_all_unless_it_may_be_skipped(run, tmp_path):
    source = tmp_path / "memory.jsonl"
    source.write_text((SAMPLES / "memory.jsonl").read_text() + '{"type": "relation", "from": "nobody"}\n')
    stopped = run("import", "mcp-memory", str(source), "--json")
    assert stopped.exit_code == 1
    assert told(run("search", "", "--json")) == []
    report = told(run("import", "mcp-memory", str(source), "--skip", "--json"))
    assert sorted(row["result"] for row in report["rows"]) == ["skipped", "written", "written"]
    assert run("import", "mem0", str(SAMPLES / "CLAUDE.md")).exit_code == 2


def test_an_import_of_several_commits_that_fails_leaves_nothing_of_it(run, tmp_path, monkeypatch):
    monkeypatch.setattr(moving, "BATCH", 2)
    rows = [{"entity_path": "shop", "key": f"k{n}", "value": n} for n in range(4)]
    source = tmp_path / "bad.jsonl"
    # The server alone knows that this one cannot be.
    rows.append({"entity_path": "shop", "key": "bad", "value": "\0"})
    source.write_text("\n".join(map(json.dumps, rows)))
    assert run("import", "snapshot", str(source)).exit_code == 1
    assert told(run("search", "", "--json")) == []


def test_the_credentials_of_nobody_are_no_fault(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert remote.kept() == {}
    (tmp_path / "senselab").mkdir()
    (tmp_path / "senselab" / "credentials.json").write_text("not json")
    assert remote.chosen(None, None, None).url == remote.USUAL

"""Which lines of a CLAUDE.md are rules."""

from senselab.cli.formats import claude_md


def rules(tmp_path, text):
    source = tmp_path / "CLAUDE.md"
    source.write_text(text)
    return [(row.place, row.write["entity_path"], row.write["value"]) for row in claude_md(source, "")]


def test_items_below_a_heading_are_rules_and_lists_in_code_are_not(tmp_path):
    text = "## Testing\n- run it\n```sh\n- not a rule\n# nor a heading\n```\n1. look at it\n"
    assert rules(tmp_path, text) == [
        ("line 2", "claude-md/testing", "run it"),
        ("line 7", "claude-md/testing", "look at it"),
    ]

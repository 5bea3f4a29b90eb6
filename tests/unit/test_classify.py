"""Artifacts are working files; prose about code is a finding."""

import json

import pytest

from memories.rules.classify import is_artifact


@pytest.mark.parametrize(
    "key",
    ["main.py", "src/pages/Insights.tsx", "config.YAML", "a/b/.env.json", "notes.md ", "Makefile.toml", ".py", "x.c"],
)
def test_a_key_that_names_a_source_or_configuration_file_is_an_artifact(key):
    assert is_artifact(key, '"short"')


@pytest.mark.parametrize(
    "key", ["pattern-retry", "main.py/notes", "py", "v1.2", "risk.pyx", "a.b", "decision-json", "release.2026", "c"]
)
def test_other_keys_are_not(key):
    assert not is_artifact(key, '"short"')


@pytest.mark.parametrize(
    "text",
    [
        "def retry(call):\n    return call()",
        "    async def fetch(self):\n        pass",
        "class Retry(Base):\n    pass",
        "class Retry:\n    attempts = 3",
        "public class Main {\n  int x;\n}",
        "function add(a, b) {\n  return a + b\n}",
        "export default async function () {}",
        "export const limit = 12345678",
        "import os\nimport sys\nprint(1)",
        "from pathlib import Path\nprint(Path())",
        "import React from 'react'\n\n",
        "#include <stdio.h>\nint main() {}",
        "#!/bin/sh\nset -e\nexec make run",
        "package main\n\nfunc main() {}",
        "fn main() { println!(1); }",
        "CREATE TABLE users (id int);",
        "create table if not exists users (id int)",
        "<!DOCTYPE html>\n<html></html>",
        '<?xml version="1.0"?>\n<a></a>',
        "/* a */\nconst a = 1\nconst b = 2",
        "<div>\n  <p>hello hello</p>\n</div>",
        "if (ready) {\n  start();\n}\n",
        "let a = require('a');\nlet b = 2;",
    ],
)
def test_text_that_reads_like_code_is_an_artifact(text):
    assert is_artifact("pattern-x", json.dumps(text))


@pytest.mark.parametrize(
    "text",
    [
        "def x()",  # too short to be worth it
        "Import the CSV before noon, then run the checks.",
        "Class imbalance in the training data:\nuse weights.",
        "class action lawsuits are out of scope here",
        "Create table reservations early in the week",
        "From now on import only what is needed.",
        "The retry helper is `def retry(call):`, used everywhere.",
        "Use packages/*/src; the arrow => means leads to.",
        "function of time, not of place, so caches hold",
        "Return to the previous version; then deploy;",
        "export default settings as CSV when asked to",
        "package managers differ per team and machine",
        "<span>x</span> is how it is shown in the page",
        "}",
        "A JSON brace at the end of a long sentence is fine\n}",
        "Never print(1) in production code, log it instead.",
    ],
)
def test_prose_is_not(text):
    assert not is_artifact("pattern-x", json.dumps(text))


@pytest.mark.parametrize("value", ["null", "12", "[1]", '{"code":"def f(x):\\n  return x  # 123456"}', "[]"])
def test_values_that_are_no_string_are_not(value):
    assert not is_artifact("pattern-x", value)


def test_only_the_head_of_a_long_value_is_read():
    assert not is_artifact("k", json.dumps("prose " * 1000 + "\ndef f(x):\n"))
    assert is_artifact("k", json.dumps("prose\ndef f(x):\n" + "prose " * 1000))

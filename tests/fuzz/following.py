"""Lets atheris, which follows the branches that are taken, choose the texts for our parsers.

`python -m tests.fuzz.following`; the arguments are libFuzzer's: -runs, -seed, -max_total_time and a folder for what was
worth keeping.
"""

import sys

import atheris

with atheris.instrument_imports(include=["memories", "outcomes", "senselab"]):
    from tests.fuzz import parsers

atheris.Setup(sys.argv, parsers.one)
atheris.Fuzz()

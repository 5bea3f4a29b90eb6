"""What is kept of a past task, so that tasks like it are found."""

from collections.abc import Sequence

from outcomes.rules import terms

CHARACTERS = 2_000
MOST_TERMS, MOST_PATHS = 64, 32
# A longer term finds no other task, and would not fit an index row.
LONGEST = 120


def text_of(task: str | None, situation: str | None) -> str:
    """Return the words of a task: what was asked, and the kind of task it was declared to be."""
    return " ".join(part[:CHARACTERS] for part in (situation, task) if part)


def terms_of(task: str | None, situation: str | None) -> list[str]:
    """Return the terms a task is found by."""
    found = terms.asked(text_of(task, situation), most=MOST_TERMS)
    return [term for term in found if len(term) <= LONGEST]


def paths_of(entity_paths: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Return the entities a task was about: those named, else those of the entries it relied on, else '' for none."""
    named = list(entity_paths) or [key.rpartition("/")[0] for key in keys if "/" in key]
    return list(dict.fromkeys(named))[:MOST_PATHS] or [""]

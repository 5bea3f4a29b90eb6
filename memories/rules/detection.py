"""Feedback read from a user's words (RULES.md 3): corrections, which name what to use, and approvals.

A false signal costs an entry its confidence, a missed one costs nothing, so doubt means that nothing was said. Quotes
and code are somebody else's words: nothing in them is a signal, but a suggestion may stand in them (use `docker
compose` instead). The patterns stand in phrases.py.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memories.rules import phrases


class SignalType(StrEnum):
    """What a user's words say about what an agent did."""

    CORRECTION = "correction"
    APPROVAL = "approval"


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal; a correction has what it suggests and the sentence it stands in."""

    type: SignalType
    suggested: str | None = None
    context: str | None = None


_MOST_WORDS: Final = 5
_MASK: Final = re.compile("\ue000(\\d+)\ue001")
# What a user says stands at the beginning; what follows this is a pasted log.
_LONGEST: Final = 20_000
# A longer sentence is a dump, not a verdict; reading it closely would take its length squared.
_LONGEST_SENTENCE: Final = 600
_CUT: Final = re.compile(r"[,;:.!?)\]}\u2026]+$")


def detect_feedback(observation: str) -> Signal | None:
    """Return the correction or else the approval in a user's words, None when there is neither."""
    text, alien = _masked(observation[:_LONGEST])
    if phrases.SARCASM.search(text):
        return None
    sentences = list(_sentences(text))
    for sentence in sentences:
        if signal := _correction(sentence, alien):
            return signal
    if phrases.BAD_NEWS.search(text) and not phrases.OVERCOME.search(text):
        return None
    verdicts = [verdict for sentence in sentences for verdict in _approvals(sentence)]
    return Signal(SignalType.APPROVAL) if verdicts and all(verdicts) else None


def _masked(observation: str) -> tuple[str, list[str]]:
    """Return the user's own words, each piece of code or quotation as one word that stands for it, and the pieces."""
    alien: list[str] = []

    def hide(match: re.Match[str]) -> str:
        alien.append(match.group())
        return f"\ue000{len(alien) - 1}\ue001"

    text = observation.replace("\ue000", " ").replace("\ue001", " ")
    return re.sub("(?<=\\w)\u2019(?=\\w)", "'", phrases.ALIEN.sub(hide, text)), alien


def _sentences(text: str) -> Iterator[str]:
    """Yield sentences; a bare "No." belongs to the one after it."""
    held = ""
    for match in phrases.SENTENCE.finditer(text):
        sentence = held + match.group().strip()
        held = ""
        if phrases.ANSWERS_NO.fullmatch(sentence):
            held = sentence + " "
        elif sentence and len(sentence) <= _LONGEST_SENTENCE:
            yield sentence


def _correction(sentence: str, alien: list[str]) -> Signal | None:
    for pattern in phrases.CORRECTIONS:
        for match in pattern.finditer(sentence):
            suggested = _suggestion(sentence[match.start("X") :], alien)
            if suggested and _is_correction(sentence[: match.start()], match.group()):
                return Signal(SignalType.CORRECTION, suggested, _unmasked(sentence, alien))
    return None


def _is_correction(before: str, words: str) -> bool:
    """Tell whether what stands before the words of a correction leaves it one."""
    if phrases.CONDITION.search(before):
        return False
    clause = phrases.CLAUSE.split(before)[-1]
    if words.lower().startswith("prefer") and phrases.ASKS_FOR_PREFERENCE.search(clause):
        return False
    return phrases.NO_CORRECTION.search(clause) is None


def _suggestion(rest: str, alien: list[str]) -> str:
    """Return what is suggested: up to five words, to instead, of, now, over or punctuation; "" for nothing usable."""
    if phrases.NO_SUGGESTION.match(rest):
        return ""
    words: list[str] = []
    for word in rest.split()[:_MOST_WORDS]:
        bare = _CUT.sub("", word)
        if not bare or bare.lower() in phrases.ENDS_X or bare.startswith("("):
            break
        words.append(bare)
        if bare != word:
            break
    while words and words[-1].lower() in phrases.TRAILING:
        words.pop()
    return " ".join(_unquoted(word, alien) for word in words)


def _unquoted(word: str, alien: list[str]) -> str:
    match = _MASK.fullmatch(word)
    return (
        _unmasked(word, alien) if match is None else alien[int(match.group(1))].strip("`\"'\u201c\u201d\u00ab\u00bb ")
    )


def _unmasked(text: str, alien: list[str]) -> str:
    return _MASK.sub(lambda match: alien[int(match.group(1))], text)


def _approvals(sentence: str) -> Iterator[bool]:
    """Yield, for each word of approval in a sentence, whether it is meant."""
    for pattern in phrases.APPROVALS:
        for match in pattern.finditer(sentence):
            yield _is_meant(sentence, match.start(), match.end())


def _is_meant(sentence: str, start: int, end: int) -> bool:
    before = phrases.ANSWERS_NO.sub("", sentence[:start])
    after = sentence[end:]
    if phrases.NO_APPROVAL_BEFORE.search(before) or phrases.NO_APPROVAL_AFTER.search(after):
        return False
    if sentence.endswith("?"):
        return phrases.OPENS_A_QUESTION.fullmatch(before) is not None and after.lstrip()[:1] in {
            ",",
            "!",
            "-",
            "\u2014",
        }
    return phrases.PROPER_NAME.search(sentence, max(0, start - 2), end + 2) is None

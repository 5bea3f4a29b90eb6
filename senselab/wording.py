"""Words for people: times, numbers and names as the pages show them. Pure text in, text out; no markup, no clock."""

from __future__ import annotations

import math
import unicodedata
from datetime import UTC, datetime

from senselab import lookalikes

MINUTE, HOUR, DAY = 60, 3600, 86_400
NONE = "—"
MINUS = "\u2212"
TO = "\u2013"

LABELS = {
    "untested": "Untested",
    "validated": "Validated",
    "contested": "Contested",
    "discredited": "Discredited",
    "under_review": "Under review",
}
KEY_PREFIXES = {
    "pattern-": "pattern",
    "risk-": "risk",
    "decision-": "decision",
    "task-summary-": "task summary",
}
STANDINGS = {
    1: "Production, validated",
    2: "Production, observed",
    3: "Development",
    4: "Written by hand",
}
TIERS = {1: "Hot", 2: "Warm", 3: "Archive"}
GOOD_OUTCOMES = frozenset({"success", "clean_deploy"})

# Format characters that belong to ordinary text: they shape Persian, Hindi and emoji and mislead nobody inside a word.
JOINERS = frozenset("\u200c\u200d")


def label(word: str) -> str:
    """Return a word of the domain as people read it: "under_review" is "Under review"."""
    return LABELS.get(word) or word.replace("_", " ").capitalize()


def key_label(key: str) -> str:
    """Return the label that a well-known prefix gives an entry key, or ""."""
    return next((word for prefix, word in KEY_PREFIXES.items() if key.startswith(prefix)), "")


def below(path: str, chosen: str | None) -> str:
    """Return what of a path lies below a chosen one: "payments" of "shop/payments" below "shop", "" of itself."""
    if path == chosen:
        return ""
    return path.removeprefix(f"{chosen.rstrip('/')}/") if chosen else path


def elapsed(seconds: float) -> str:
    """Return a span of time in one short unit: "now", "5 min", "31 h", "77 d", "3 y"."""
    span = abs(seconds)
    if span < MINUTE:
        return "now"
    if span < HOUR:
        return f"{int(span // MINUTE)} min"
    if span < 2 * DAY:
        return f"{int(span // HOUR)} h"
    if span < 730 * DAY:
        return f"{int(span // DAY)} d"
    return f"{int(span // (365.25 * DAY))} y"


def ago(moment: datetime | None, now: datetime) -> str:
    """Return how long ago `moment` was, "in 4 d" when it is still to come, or a dash without one."""
    if moment is None:
        return NONE
    seconds = (now - moment).total_seconds()
    words = elapsed(seconds)
    return f"in {words}" if seconds <= -MINUTE else words


def day(moment: datetime | None, now: datetime) -> str:
    """Return the day in UTC, "26 Nov", with its year when that is not the present one."""
    if moment is None:
        return NONE
    then = moment.astimezone(UTC)
    year = "" if then.year == now.astimezone(UTC).year else f" {then.year}"
    return f"{then.day} {then:%b}{year}"


def clock(moment: datetime | None, now: datetime) -> str:
    """Return day and time of day in UTC: "26 Nov 09:53"."""
    return NONE if moment is None else f"{day(moment, now)} {moment.astimezone(UTC):%H:%M}"


def fixed(value: float | None, digits: int) -> str:
    """Return a number with exactly `digits` decimals, a true minus sign, and a dash for what is no number."""
    if value is None or not math.isfinite(value):
        return NONE
    words = f"{value:.{digits}f}"
    # A fall of 0.001 shown with two digits is no "-0.00".
    return words.lstrip("-") if not words.strip("-0.") else words.replace("-", MINUS)


def trimmed(value: float | None, digits: int = 3) -> str:
    """Return a number with at most `digits` decimals: "2", "0.8", "1.711"."""
    words = fixed(value, digits)
    return words.rstrip("0").rstrip(".") if "." in words else words


def grouped(value: float | None) -> str:
    """Return a number with its thousands apart: "1,284"."""
    return NONE if value is None else f"{value:,}".replace("-", MINUS)


def percent(value: float | None, digits: int = 0) -> str:
    """Return a share of 0..1 as "87 %"."""
    return NONE if value is None else f"{fixed(value * 100, digits)} %"


def signed(value: float | None, digits: int = 0) -> str:
    """Return a number with its sign: "+1", a true minus for less, "0" for none."""
    if value is None:
        return NONE
    words = fixed(value, digits)
    return words if words.startswith(MINUS) or not words.strip("0.") else f"+{words}"


def misleads(char: str, before: str, after: str) -> bool:
    """Say whether a character could make a name look like another: controls, direction overrides, invisible ones."""
    if char in JOINERS:
        return not (before.isalpha() or unicodedata.category(before or " ")[0] in "MS") or not after
    if char in "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0":
        return True
    if 0xFE00 <= ord(char) <= 0xFE0F:
        return not before or before.isalnum()
    category = unicodedata.category(char)
    return category in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} or (category == "Zs" and char != " ")


def escaped(char: str) -> str:
    """Return a character as an escape people can look up: "\\u202e"."""
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\u{{{code:x}}}"


def character_name(char: str) -> str:
    """Return code point and name: "U+202E RIGHT-TO-LEFT OVERRIDE"."""
    return f"U+{ord(char):04X} {unicodedata.name(char, 'control character')}"


def marked(text: str, keep: str = "", *, is_name: bool = False) -> list[tuple[bool, str]]:
    """Split `text` into runs of plain text (False) and single misleading characters (True).

    Characters in `keep` count as plain; pages that wrap text keep its line breaks and tabs. In a name letters mislead
    as well that pass for others.
    """
    runs: list[tuple[bool, str]] = []
    start, alike = 0, lookalikes.places(text) if is_name else frozenset()
    for at, char in enumerate(text):
        if char.isascii() and char.isprintable():
            continue
        strange = at in alike or misleads(char, text[at - 1 : at], text[at + 1 : at + 2])
        if char in keep or not strange:
            continue
        if at > start:
            runs.append((False, text[start:at]))
        runs.append((True, char))
        start = at + 1
    if start < len(text):
        runs.append((False, text[start:]))
    return runs


def initials(name: str) -> str:
    """Return one or two letters for an avatar: "Mira Kovač" is "MK"."""
    words = [word for word in name.replace(".", " ").replace("_", " ").replace("-", " ").split() if word[0].isalnum()]
    if not words:
        return "?"
    letters = words[0][0] + (words[-1][0] if len(words) > 1 else words[0][1:2])
    return letters.upper()


def cut(text: str, limit: int) -> str:
    """Return `text` in at most `limit` characters, an ellipsis standing for the rest."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"

"""Text as words: accents and case folded, names taken apart, scripts without spaces cut into pairs of signs.

What is written and what is asked for go through the same functions, so that they meet.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# A longer word is none; both sides are cut here, so that a long token is still found by itself.
LONGEST = 80
# Letters that no decomposition turns into plain ones.
PLAIN = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "\u0131": "i", "æ": "ae",
     "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ð": "d", "Ð": "D"}
)  # fmt: skip
MARKS = re.compile("[\u0300-\u036f]+")
HALVES = re.compile("[\ud800-\udfff]+")
APOSTROPHES = re.compile("(?<=[^\\W_])['\u2019](?:s\\b|(?=[^\\W_]))")
ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.")
BLANKS = frozenset("nrtbf")
# Han, kana, Hangul, Thai, Lao, Khmer, Burmese: written without spaces, or with words that endings cling to.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
UNSPACED += "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
# What holds together without a blank: `ERR_CONN_4711`, `checkout-service`, `a.b.C`, but no path.
CHUNK = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+(?:[_.:@+-]{{1,2}}[^\W_{UNSPACED}]+)*")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
SEPARATORS = re.compile(r"[_.:@+-]+")
IS_UNSPACED = re.compile(rf"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class Chunk:
    """What holds together in a text: its parts in order, and the whole without its joints ('' when it has one part).

    `unspaced` parts are pairs of signs, each beginning with the second sign of the one before.
    """

    parts: tuple[str, ...]
    whole: str = ""
    unspaced: bool = False


def fold(text: str) -> str:
    """Return a text without accents, its case kept: Häuser and Hauser are the same afterwards."""
    if text.isascii():
        return text
    split = unicodedata.normalize("NFKD", HALVES.sub(" ", text).translate(PLAIN))
    return unicodedata.normalize("NFC", MARKS.sub("", split))


def spoken(value: str) -> str:
    """Return the text that a JSON text stands for, whole or cut: what is escaped is what it means."""
    return ESCAPES.sub(_unescaped, value) if "\\" in value else value


def chunks(text: str) -> Iterator[Chunk]:
    """Return what holds together in a text, in order, folded."""
    return map(chunk, pieces(text))


def pieces(text: str) -> list[str]:
    """Return the same as it stands, not taken apart yet."""
    folded = fold(text)
    if "'" in folded or "\u2019" in folded:
        folded = APOSTROPHES.sub("", folded)
    found: list[str] = CHUNK.findall(folded)
    return found


def chunk(text: str) -> Chunk:
    """Return a piece of a text taken apart."""
    # Words come again and again; what is longer than one does not, and would fill the memory.
    return _known(text) if len(text) <= LONGEST else _taken_apart(text)


def _taken_apart(text: str) -> Chunk:
    if IS_UNSPACED.match(text):
        pairs = [text[place : place + 2] for place in range(len(text) - 1)]
        return Chunk(tuple(pairs or [text]), unspaced=True)
    if text.isalnum() and (text.islower() or text[1:].islower() or not text.isascii()):
        return Chunk((_word(text),))
    pieces = [piece for part in SEPARATORS.split(text) for piece in _humps(part)]
    parts = tuple(_word(piece) for piece in pieces if piece)
    return Chunk(parts, _word("".join(parts)) if len(parts) > 1 else "")


def _humps(part: str) -> list[str]:
    """Return the words of camelCase."""
    return [part] if part.islower() or part.isdigit() or (part.isupper() and part.isalpha()) else CAMEL.split(part)


_known = lru_cache(maxsize=20_000)(_taken_apart)


def _word(text: str) -> str:
    return text.casefold()[:LONGEST]


def _unescaped(found: re.Match[str]) -> str:
    escape = found[0]
    if escape[1] == "u" and len(escape) > 2:
        return str(json.loads(f'"{escape}"'))
    return " " if escape[1] in BLANKS else escape[1]

"""JSON pointers (RFC 6901) to places in a JSON text."""

import json
import re
from collections.abc import Sequence

# A string that never ends reaches to the end of the text, so that no broken text is walked twice.
STRING = r'"(?:[^"\\]++|\\.)*+"?'
_TOKEN = re.compile(rf"({STRING})|([\[{{])|([\]}}])|(,)", re.DOTALL)
# What no answer and no table can hold; a pointer to it shows a replacement.
_UNSPEAKABLE = re.compile(r"[\x00\ud800-\udfff]")
_LONGEST_TOKEN = 256


def escape(token: str) -> str:
    """Return one reference token as it stands in a pointer; NUL and half a surrogate pair become U+FFFD."""
    return _UNSPEAKABLE.sub("\ufffd", token.replace("~", "~0").replace("/", "~1"))


def join(base: str, tokens: Sequence[str | int]) -> str:
    """Return the pointer that leads from the base through keys and indexes."""
    return base + "".join("/" + (str(token) if isinstance(token, int) else escape(token)) for token in tokens)


def pointer_at(text: str, offset: int, base: str = "") -> str:
    """Return the pointer to the value of a JSON text that the character at `offset` belongs to.

    A place in an object's key points to the member of that name; a bracket points to what it opens. The text may be
    broken from there on. Very long keys are cut, as this is for people to find the place.
    """
    # An index, the JSON text of a key, or None in an object before its key.
    path: list[str | int | None] = []
    for token in _TOKEN.finditer(text):
        if token.start() > offset or (token.start() == offset and token.group(2)):
            break
        string, opens, closes, _comma = token.groups()
        if opens:
            path.append(0 if opens == "[" else None)
        elif closes:
            path[-1:] = []
        elif string and path and path[-1] is None:
            path[-1] = string
        elif not string and path:
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else None
    return join(base, [step if isinstance(step, int) else _key(step) for step in path if step is not None])


def _key(string: str) -> str:
    try:
        key = str(json.loads(string, strict=False))
    except ValueError:
        key = string.strip('"')
    return key if len(key) <= _LONGEST_TOKEN else key[:_LONGEST_TOKEN] + "\u2026"

"""What may be a name, and what a value: everything that is stored passes here."""

import re
import unicodedata

from memories.rules.jsontexts import VALUE_BYTES, VALUE_NESTING, check_value
from memories.rules.refusals import NameRefused, Refused, ValueRefused, ValueTooLarge

__all__ = [
    "KEY_BYTES",
    "NAME_BYTES",
    "PATH_BYTES",
    "VALUE_BYTES",
    "VALUE_NESTING",
    "NameRefused",
    "Refused",
    "ValueRefused",
    "ValueTooLarge",
    "check_value",
    "clean_key",
    "clean_name",
    "clean_path",
]

PATH_BYTES = 1024
KEY_BYTES = 512
NAME_BYTES = 256

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# NFC leaves at least a third of a text's bytes, so what is much longer can be refused unread.
_WORTH_NORMALISING = 4


def clean_path(text: object, *, pointer: str = "/entity_path") -> str:
    """Return an entity path in NFC.

    :raises NameRefused: it is not a text of 1 to 1024 UTF-8 bytes without control characters and lone surrogates.
    """
    return _clean(text, pointer=pointer, limit=PATH_BYTES)


def clean_key(text: object, *, pointer: str = "/key") -> str:
    """Return a key in NFC.

    :raises NameRefused: it is not a text of 1 to 512 UTF-8 bytes without control characters and lone surrogates.
    """
    return _clean(text, pointer=pointer, limit=KEY_BYTES)


def clean_name(text: object, *, pointer: str = "/agent_id") -> str:
    """Return the name of an agent, a session or a branch in NFC.

    :raises NameRefused: it is not a text of 1 to 256 UTF-8 bytes without control characters and lone surrogates.
    """
    return _clean(text, pointer=pointer, limit=NAME_BYTES)


def _clean(text: object, *, pointer: str, limit: int) -> str:
    if not isinstance(text, str):
        raise NameRefused(pointer, "A text is expected here.")
    if text == "":
        raise NameRefused(pointer, "This must not be empty.")
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    if len(text) > _WORTH_NORMALISING * limit:
        raise NameRefused(pointer, f"This is longer than the {limit} bytes in UTF-8 that are allowed.")
    _refuse_characters(text, pointer)
    normal = unicodedata.normalize("NFC", text)
    size = len(normal.encode("utf-8"))
    if size > limit:
        raise NameRefused(pointer, f"This is {size} bytes long in UTF-8; {limit} are allowed.")
    return normal


def _refuse_characters(text: str, pointer: str) -> None:
    if surrogate := _SURROGATE.search(text):
        raise NameRefused(pointer, f"Character {surrogate.start() + 1} is half of a surrogate pair.")
    if control := _CONTROL.search(text):
        code = ord(control.group())
        raise NameRefused(pointer, f"Character {control.start() + 1} is a control character (U+{code:04X}).")


def clean_reference(text: object, place: int, pointer: str = "/pattern_refs") -> str:
    """Return a reference in NFC: an entry key, or any other name of something.

    :raises NameRefused: it is not a text of at most a path, a slash and a key.
    """
    return _clean(text, pointer=f"{pointer}/{place}", limit=PATH_BYTES + 1 + KEY_BYTES)

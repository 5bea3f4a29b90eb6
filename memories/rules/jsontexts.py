"""What may be a value: JSON text, kept as it was sent."""

import re

import msgspec

from memories.rules.pointers import STRING, pointer_at
from memories.rules.refusals import ValueRefused, ValueTooLarge

VALUE_BYTES = 1024 * 1024
VALUE_NESTING = 100
INTEGER_DIGITS = 100

_WHITE = " \t\r\n"
_BRACKETS = re.compile(rf"{STRING}|([\[{{])|([\]}}])", re.DOTALL)
_BETWEEN_BRACKETS = re.compile(rf'{STRING}|[^\[\]{{}}"]++', re.DOTALL)
# Only numbers with an exponent or very many digits can be out of range; most values have neither.
_SUSPICIOUS = re.compile(r"[0-9][eE]|[0-9]{101}")
_SUSPECTS = re.compile(
    rf"{STRING}"
    r"|-?([0-9]++)((?:\.[0-9]++)?[eE][+-]?([0-9]++))"
    r"|(?<![0-9.])-?([0-9]{101,}+)((?:\.[0-9]++)?)",
    re.DOTALL,
)
# Backslashes stand in strings alone, so escapes can be read without strings; a proper pair is taken in one bite.
_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u(?:(0000)|([dD][89a-fA-F][0-9a-fA-F]{2}))|\\.",
    re.DOTALL,
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONSTANTS = re.compile(rf"{STRING}|(NaN|-?Infinity)", re.DOTALL)


def check_value(text: str | bytes, *, pointer: str = "/value") -> str:
    """Return a JSON text to store: as sent, without white space around it.

    Numbers, key order and spelling stay. A typical value takes a few microseconds; what looks odd is read closely.

    :raises ValueTooLarge: it has more than 1 MiB in UTF-8 (status 413).
    :raises ValueRefused: it is not JSON, holds NaN, Infinity, NUL or a lone surrogate (escaped or not, in keys as
        well), nests deeper than 100, has an integer of more than 100 digits or a number beyond the finite doubles;
        the pointer names the place.
    """
    json_text = _as_text(text, pointer).strip(_WHITE)
    try:
        msgspec.json.decode(json_text)
    except (msgspec.DecodeError, RecursionError) as error:
        _look_closely(json_text, pointer)
        raise _why_malformed(json_text, pointer, str(error)) from error
    _look_closely(json_text, pointer)
    return json_text


def _as_text(text: str | bytes, pointer: str) -> str:
    """Return the text, refusing what has no UTF-8 form or too long a one."""
    if isinstance(text, bytes):
        _refuse_size(len(text), pointer)
        try:
            return text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueRefused(pointer, f"Byte {error.start + 1} of this is not UTF-8.") from error
    _refuse_size(len(text), pointer)
    if not text.isascii():
        _refuse_size(len(text.encode("utf-8", "surrogatepass")), pointer)
        if lone := _SURROGATE.search(text):
            raise _lone_surrogate(text, lone.start(), pointer)
    return text


def _refuse_size(size: int, pointer: str) -> None:
    if size > VALUE_BYTES:
        raise ValueTooLarge(pointer, "A value has at most 1 MiB in UTF-8.", 413)


def _look_closely(text: str, pointer: str) -> None:
    """Refuse what is JSON and yet not taken; each kind costs next to nothing where nothing hints at it."""
    if "\\u" in text:
        _refuse_escapes(text, pointer)
    if text.count("[") + text.count("{") > VALUE_NESTING and _may_nest_deeply(text):
        _refuse_nesting(text, pointer)
    if _SUSPICIOUS.search(text):
        _refuse_numbers(text, pointer)


def _refuse_escapes(text: str, pointer: str) -> None:
    for escape in _ESCAPES.finditer(text):
        if escape.group(1):
            raise _nul(text, escape.start(), pointer)
        if escape.group(2):
            raise _lone_surrogate(text, escape.start(), pointer)


def _nul(text: str, offset: int, pointer: str) -> ValueRefused:
    return ValueRefused(pointer_at(text, offset, pointer), "NUL (U+0000) cannot be stored.")


def _lone_surrogate(text: str, offset: int, pointer: str) -> ValueRefused:
    return ValueRefused(pointer_at(text, offset, pointer), "Half of a surrogate pair cannot be stored.")


def _may_nest_deeply(text: str) -> bool:
    """Tell whether brackets are left when the innermost ones have been taken away as often as may be."""
    brackets = _BETWEEN_BRACKETS.sub("", text).replace("{", "[").replace("}", "]")
    for _ in range(VALUE_NESTING):
        brackets = brackets.replace("[]", "")
        if not brackets:
            return False
    return True


def _refuse_nesting(text: str, pointer: str) -> None:
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        opens, closes = bracket.groups()
        depth += 1 if opens else -1 if closes else 0
        if depth > VALUE_NESTING:
            place = pointer_at(text, bracket.start(), pointer)
            raise ValueRefused(place, f"A value nests at most {VALUE_NESTING} levels deep.")


def _refuse_numbers(text: str, pointer: str) -> None:
    for number in _SUSPECTS.finditer(text):
        exponential, _, exponent, long, fraction = number.groups()
        if (exponential or long) and (detail := _out_of_range(number.group(), exponent, long, fraction)):
            raise ValueRefused(pointer_at(text, number.start(), pointer), detail)


def _out_of_range(number: str, exponent: str | None, long: str | None, fraction: str | None) -> str:
    """Return what is wrong with a number, "" for nothing."""
    if long and not fraction:
        return f"An integer has at most {INTEGER_DIGITS} digits."
    if exponent and len(exponent) > INTEGER_DIGITS:
        return f"An exponent has at most {INTEGER_DIGITS} digits."
    return "This number is beyond what a double can hold." if abs(float(number)) == float("inf") else ""


def _why_malformed(text: str, pointer: str, error: str) -> ValueRefused:
    """Return the refusal of a text that is not JSON, naming the usual reasons."""
    if "\0" in text:
        return _nul(text, text.index("\0"), pointer)
    for constant in _CONSTANTS.finditer(text):
        if constant.group(1):
            place = pointer_at(text, constant.start(), pointer)
            return ValueRefused(place, f"{constant.group(1)} is not a JSON number.")
    reason = error.removeprefix("JSON is malformed: ")
    return ValueRefused(pointer, f"This is not JSON: {reason[:1].lower()}{reason[1:]}.")

"""Values: stored as sent, or refused with a pointer to the place."""

import contextlib
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.names import Refused, ValueRefused, ValueTooLarge, check_value
from memories.rules.pointers import pointer_at

MIB = 1024 * 1024


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "-0",
        "1.0",
        "1e-999",
        "1.7976931348623157e308",
        "9" * 100,
        "-" + "9" * 100,
        "0." + "1" * 5000,
        '{"b":1,"a":[1.50, 2E+3]}',
        '"tab\\tnew\\nline"',
        '"\\ud83d\\ude00"',
        '"\\\\u0000"',
        '"NaN"',
        '"1e999"',
        '"\\\\ud800"',
        '"' + "9" * 200 + '"',
        "[" * 100 + "]" * 100,
        json.dumps("[" * 300),
        json.dumps(["]", {"{": "["}] * 60),
        '"\x7f\u2028"',
        '{"a":1,"a":2}',
        '{"":{"":0}}',
    ],
)
def test_a_good_value_is_kept_as_it_was_sent(text):
    assert check_value(text) == text
    assert check_value(f" \n{text}\t".encode()) == text


@pytest.mark.parametrize(
    ("text", "pointer", "why"),
    [
        ("[1,NaN]", "/value/1", "NaN is not"),
        ('{"a":{"b":-Infinity}}', "/value/a/b", "-Infinity is not"),
        ('{"n":1e999}', "/value/n", "double"),
        ("-1e400", "/value", "double"),
        ("[" + "1" * 310 + ".5]", "/value/0", "double"),
        ('{"a":[0,' + "9" * 101 + "]}", "/value/a/1", "100 digits"),
        ("9" * 5000, "/value", "100 digits"),
        ("0e" + "1" * 101, "/value", "Exponents|exponent"),
        ('{"a":["x","\\u0000"]}', "/value/a/1", "NUL"),
        ('{"a":{"k\\u0000":1}}', "/value/a/k\ufffd", "NUL"),
        ('"a\0"', "/value", "NUL"),
        ('{"a/b":{"m~n":"\\ud800"}}', "/value/a~1b/m~0n", "surrogate"),
        ('["\\udc00\\ud800"]', "/value/0", "surrogate"),
        ('["\\ud800\\u0041"]', "/value/0", "surrogate"),
        ('{"\\uD800":1}', "/value/\ufffd", "surrogate"),
        ('{"a":["b\ud800"]}', "/value/a/0", "surrogate"),
        ("[" * 101 + "]" * 101, "/value" + "/0" * 100, "100 levels"),
        ('{"":' * 101 + "1" + "}" * 101, "/value" + "/" * 100, "100 levels"),
        ("[" * 50_000, "/value" + "/0" * 100, "100 levels"),
        ("[[],[[]]," + "[" * 100 + "]" * 100 + "]", "/value/2" + "/0" * 99, "100 levels"),
        ("", "/value", "not JSON"),
        ("[1,]", "/value", "not JSON"),
        ("{'a':1}", "/value", "not JSON"),
        ("1 2", "/value", "not JSON"),
        ("01", "/value", "not JSON"),
        ('"a\nb"', "/value", "not JSON"),
        (b'"\xff"', "/value", "Byte 2"),
        (b'"\xed\xa0\x80"', "/value", "UTF-8"),
    ],
)
def test_a_bad_value_is_refused_with_its_place(text, pointer, why):
    with pytest.raises(ValueRefused, match=why) as refused:
        check_value(text)
    assert (refused.value.pointer, refused.value.status) == (pointer, 422)


@pytest.mark.parametrize("letter", ["x", "é", "🙂"])
def test_a_value_has_a_mebibyte_of_utf8(letter):
    size = len(letter.encode())
    most = '"' + letter * ((MIB - 2) // size) + '"'
    assert check_value(most) == most
    for form in (most.replace('"', '" ', 1) + " " * 4, most[:-1] + letter + '"'):
        with pytest.raises(ValueTooLarge) as refused:
            check_value(form if form.endswith('"') else form + " " * size)
        assert refused.value.status == 413


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
numbers = st.integers(-(10**100) + 1, 10**100 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=15,
)


@given(values, st.booleans())
def test_whatever_json_can_say_is_taken(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert check_value(text) == text
    assert check_value(text.encode()) == text


@given(st.text('"\\u0d8{}[],:19eE. \n-DCd', max_size=40))
def test_what_is_taken_is_json_that_can_be_stored(noise):
    try:
        text = check_value(noise)
    except Refused:
        return
    parsed = json.dumps(json.loads(text), ensure_ascii=False)
    parsed.encode()
    assert "\\u0000" not in parsed
    assert msgspec.json.decode(text) is not Ellipsis


@given(values)
def test_a_pointer_leads_to_the_place(value):
    marked = {"deep": [1, {"a/b": [value, {"~": "\0"}]}]}
    text = json.dumps(marked)
    with pytest.raises(ValueRefused) as refused:
        check_value(text)
    assert refused.value.pointer == "/value/deep/1/a~1b/1/~0"


def test_a_long_key_is_cut_in_a_pointer():
    pointer = pointer_at(json.dumps({"k" * 1000: "\0"}), 1010)
    assert pointer == "/" + "k" * 256 + "\u2026"


@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * (MIB // 2 - 2),
        '"' * (MIB - 1),
        "[" + "1," * (MIB // 2 - 10) + "1e999]",
        "[" + "[]," * (MIB // 3 - 2) + "1]",
        "[" * MIB,
        "1e" * (MIB // 2),
        "\\" * MIB,
        "{" + ",".join(f'"k{n}":1' for n in range(70_000)) + ',"\\u0000":1}',
        '"' + "\\u00e9" * (MIB // 6 - 3) + '\\ud800"',
    ],
    ids=range(9),
)
def test_the_worst_values_are_taken_or_refused_and_come_to_an_end(text):
    with contextlib.suppress(Refused):
        assert check_value(text) == text

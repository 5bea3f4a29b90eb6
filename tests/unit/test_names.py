"""Names: what may be one, byte for byte."""

import pytest

from memories.rules.names import NameRefused, clean_key, clean_name, clean_path

KEPT = [
    "a",
    "repo/service/",
    "//",
    "Über uns",
    "日本語",
    "a b",
    " ",
    "🙂",
    "👩‍💻",
    "a.b-c_d~e",
    "\u00a0",
    "\u202e",
    "%2F",
    "A",
    "\ufffd",
]


@pytest.mark.parametrize("text", KEPT)
@pytest.mark.parametrize("clean", [clean_path, clean_key, clean_name])
def test_every_printable_character_is_kept(clean, text):
    assert clean(text) == text


def test_names_are_nfc():
    assert clean_key("e\u0301") == "\u00e9"
    assert clean_path("A\u030a/\u1112\u1161\u11ab") == "\u00c5/\ud55c"


@pytest.mark.parametrize(("clean", "limit"), [(clean_path, 1024), (clean_key, 512), (clean_name, 256)])
def test_limits_are_bytes_in_utf8_after_nfc(clean, limit):
    assert clean("x" * limit) == "x" * limit
    assert clean("é" * (limit // 2)) == "é" * (limit // 2)
    assert clean("e\u0301" * (limit // 2)) == "é" * (limit // 2)
    for long in ("x" * (limit + 1), "é" * (limit // 2) + "x", "🙂" * (limit // 4 + 1), "x" * 5_000_000):
        with pytest.raises(NameRefused, match=str(limit)):
            clean(long)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("a\0b", "Character 2 is a control character .U.0000"),
        ("a\nb", "control"),
        ("\x7f", "U.007F"),
        ("é\x85", "U.0085"),
        ("a\ud800", "Character 2 is half of a surrogate pair"),
        ("\udc00\ud800", "surrogate"),
        (None, "text is expected"),
        (7, "text is expected"),
        (b"a", "text is expected"),
        (["a"], "text is expected"),
    ],
)
def test_the_rest_is_refused_with_its_place(text, why):
    with pytest.raises(NameRefused, match=why) as refused:
        clean_key(text, pointer="/causal_entry_keys/2")
    assert (refused.value.pointer, refused.value.status) == ("/causal_entry_keys/2", 422)

"""The parsers that are ours read any text or refuse it by name; `make fuzz` has atheris look for what these miss."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import parsers

# What is written nearly as it should be, so that texts made of these get beyond the first look.
SEEDS = (
    "shop/checkout-service", "**", "*/?", "/", " ", "\n", "\0", "\ud800", "\u202e", "\u0430", "\u0130", "\ufb01",
    "2026-11-30", "2026-13-45", "T09:00:00", "+23:59", "0001-01-01", "9999-12-31", "Z", '"7"', "W/", "*", "9" * 12,
    '{"a":', "[", "]", "}", '"', "\\", "\\ud800", "1e400", "-0", "0.1", "null", '{"line":"entry"}', "---", ": ",
    "last week", "3 days ago", "no, use ", " instead of ", "perfect", "not ", "sl_0123456789abcdef_", "Bearer ", "=",
    "ghp_" + "a1B2" * 9, "AKIA" + "A1B2" * 4, "password=", "=1+1", "::ffff:1.2.3.4", "!!python/object:x", "&a [*a]",
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.one_of(st.sampled_from(SEEDS), st.text(max_size=3))).map("".join))


@pytest.mark.parametrize("parser", parsers.PARSERS.values(), ids=parsers.PARSERS)
def test_a_parser_reads_any_text_or_refuses_it_by_name(parser):
    @settings(max_examples=400)
    @given(TEXTS)
    def reads(text: str) -> None:
        parser(text)

    reads()


def test_the_first_byte_chooses_the_parser():
    parsers.one(b"")
    for number in range(256):
        parsers.one(bytes([number]) + b"shop")

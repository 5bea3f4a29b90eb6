"""Pieces of two texts as markup."""

from senselab import difftext

PIECES = [("equal", "at "), ("remove", "most"), ("equal", " "), ("remove", "3"), ("add", "6"), ("equal", " times")]


def test_woven_shows_both_and_each_side_its_own():
    assert difftext.woven([("equal", "a "), ("remove", "b"), ("add", "c")]) == "a <del>b</del><ins>c</ins>"
    assert difftext.old_side([("equal", "a "), ("remove", "b"), ("add", "c")]) == "a <del>b</del>"
    assert difftext.new_side([("equal", "a "), ("remove", "b"), ("add", "c")]) == "a <ins>c</ins>"


def test_words_that_change_one_after_the_other_are_one_phrase():
    assert difftext.phrases(PIECES) == [("equal", "at "), ("remove", "most 3"), ("add", " 6"), ("equal", " times")]


def test_phrases_keep_both_texts():
    for kept in ("remove", "add"):
        texts = [
            "".join(text for kind, text in pieces if kind in {"equal", kept})
            for pieces in (PIECES, difftext.phrases(PIECES))
        ]
        assert texts[0] == texts[1]


def test_a_line_break_that_stayed_parts_phrases():
    pieces = [("remove", "a"), ("equal", "\n"), ("remove", "b")]
    assert difftext.phrases(pieces) == pieces


def test_space_at_the_end_of_both_is_unchanged():
    assert difftext.phrases([("remove", "a "), ("add", "b "), ("equal", "c")]) == [
        ("remove", "a"),
        ("add", "b"),
        ("equal", " "),
        ("equal", "c"),
    ]


def test_unchanged_stretches_keep_only_what_stands_beside_a_change():
    shown = difftext.woven([("equal", "x" * 1_000), ("add", "new"), ("equal", "y" * 1_000)])
    assert shown == (
        '<span class="cut"> … 940 characters unchanged … </span>'
        + "x" * 60
        + "<ins>new</ins>"
        + "y" * 60
        + '<span class="cut"> … 940 characters unchanged … </span>'
    )


def test_everything_is_escaped():
    assert (
        difftext.woven([("equal", "<b>"), ("remove", "<i>"), ("add", "&")])
        == "&lt;b&gt;<del>&lt;i&gt;</del><ins>&amp;</ins>"
    )

"""What differs: paths that lead to the places, words that make both texts, and costs that stay bounded."""

import json
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.alignment import align
from memories.rules.claims import same_claim
from memories.rules.diff import Change, Piece, diff, word_diff

CASES = [
    ("1", "1.0", []),
    ('{"a":1,"b":2}', '{"b":2e0,"a":1}', []),
    ('{"a":1}', '{"a":2}', [("/a", "replace", "1", "2")]),
    ('{"a":1}', '{"b":1}', [("/a", "remove", "1", None), ("/b", "add", None, "1")]),
    ('{"a":true}', '{"a":1}', [("/a", "replace", "true", "1")]),
    ('{"a":null}', "{}", [("/a", "remove", "null", None)]),
    ('{"a":1.50}', '{"a":[1.50]}', [("/a", "replace", "1.50", "[1.50]")]),
    ('{"a":12345678901234567890}', '{"a":12345678901234567891}', [
        ("/a", "replace", "12345678901234567890", "12345678901234567891")
    ]),
    ('{"a":{"x":[1,{"y":2}]}}', '{"a":{"x":[1,{"y":3}]}}', [("/a/x/1/y", "replace", "2", "3")]),
    ("[1,2,3]", "[1,3]", [("/1", "remove", "2", None)]),
    ("[1,3]", "[1,2,3]", [("/1", "add", None, "2")]),
    ("[1,2,3,4]", "[0,1,2,4]", [("/0", "add", None, "0"), ("/2", "remove", "3", None)]),
    ('[{"n":1},{"n":2}]', '[{"n":0},{"n":1},{"n":2}]', [("/0", "add", None, '{"n":0}')]),
    ('[{"n":1,"m":1}]', '[{"n":2,"m":1}]', [("/0/n", "replace", "1", "2")]),
    ('{"a/b":{"m~n":1}}', '{"a/b":{"m~n":2}}', [("/a~1b/m~0n", "replace", "1", "2")]),
    ('"old"', '"new"', [("", "replace", '"old"', '"new"')]),
    ("[1]", '{"0":1}', [("", "replace", "[1]", '{"0":1}')]),
    ('{"a":"é"}', '{"a":"\\u00fc"}', [("/a", "replace", '"é"', '"ü"')]),
    ('{"":1}', '{"":2}', [("/", "replace", "1", "2")]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "changes"), CASES)
def test_each_difference_has_its_path_and_both_texts(old, new, changes):
    assert diff(old, new) == [Change(*change) for change in changes]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1e300, "a", "b c", ""]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b/c", ""]), inner, max_size=3),
    max_leaves=12,
)


@given(values)
def test_a_value_does_not_differ_from_itself(value):
    assert diff(json.dumps(value), json.dumps(value, indent=1)) == []


@given(values, values)
def test_values_differ_exactly_when_their_claims_do_and_the_new_parts_are_the_new_values(old, new):
    before, after = json.dumps(old), json.dumps(new)
    changes = diff(before, after)
    assert (changes == []) == same_claim(before, after)
    for change in changes:
        assert (change.old is None, change.new is None) == (change.operation == "add", change.operation == "remove")
        if change.new is not None:
            assert json.loads(change.new) == found(new, change.path)


def found(value, path: str):
    for token in path.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def test_words_that_changed_stand_out():
    assert word_diff("Retry the call three times", "Retry the payment call five times") == [
        Piece("equal", "Retry the "),
        Piece("add", "payment "),
        Piece("equal", "call "),
        Piece("remove", "three"),
        Piece("add", "five"),
        Piece("equal", " times"),
    ]


def test_scripts_without_spaces_go_letter_by_letter():
    assert word_diff("東京都", "東京府") == [Piece("equal", "東京"), Piece("remove", "都"), Piece("add", "府")]


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        ("", "", []),
        ("", "a", [Piece("add", "a")]),
        ("a", "", [Piece("remove", "a")]),
        ("a", "a", [Piece("equal", "a")]),
        ("a\nb\n", "a\nc\n", [Piece("equal", "a\n"), Piece("remove", "b"), Piece("add", "c"), Piece("equal", "\n")]),
    ],
)
def test_the_ends_of_texts_are_no_special_case(old, new, pieces):
    assert word_diff(old, new) == pieces


@given(st.text("ab .\n東", max_size=60), st.text("ab .\n東", max_size=60))
def test_pieces_make_both_texts(old, new):
    pieces = word_diff(old, new)
    assert "".join(piece.text for piece in pieces if piece.operation != "add") == old
    assert "".join(piece.text for piece in pieces if piece.operation != "remove") == new
    assert all(a.operation != b.operation for a, b in pairwise(pieces))


@given(st.lists(st.integers(0, 4), max_size=25), st.lists(st.integers(0, 4), max_size=25), st.integers(0, 400))
def test_what_lies_between_blocks_is_equal_whatever_the_budget(old, new, steps):
    a = b = 0
    for block in align(old, new, steps=steps):
        assert old[a : block.old_start] == new[b : block.new_start]
        assert (block.old_start, block.new_start) != (block.old_end, block.new_end)
        a, b = block.old_end, block.new_end
    assert old[a:] == new[b:]


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
def test_as_little_as_possible_differs(old, new):
    blocks = align(old, new)
    kept = len(old) - sum(block.old_end - block.old_start for block in blocks)
    assert kept == longest_common(old, new)


def longest_common(old, new) -> int:
    rows = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, x in enumerate(old):
        for j, y in enumerate(new):
            rows[i + 1][j + 1] = rows[i][j] + 1 if x == y else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


def test_a_long_text_with_many_small_edits_is_still_told_in_detail():
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefgh", k=5)) for _ in range(40_000)]
    edited = [word if chance.random() > 0.01 else "CHANGED" for word in words]
    old, new = (". ".join(" ".join(text[i : i + 12]) for i in range(0, 40_000, 12)) for text in (words, edited))
    pieces = word_diff(old, new)
    assert sum(len(piece.text) for piece in pieces if piece.operation == "remove") < len(old) * 0.02


def test_words_added_to_a_very_long_text_are_all_that_differs():
    old = "word " * 200_000
    assert word_diff(old, old + "more") == [Piece("equal", old), Piece("add", "more")]


def texts(size: int = 1024 * 1024) -> dict[str, tuple[str, str]]:
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefgh", k=5)) for _ in range(3000)]
    return {
        "words": tuple(" ".join(chance.choices(words, k=size // 6)) for _ in range(2)),
        "signs": (".," * (size // 2), ",." * (size // 2)),
        "letters": ("東" * (size // 3), "京" * (size // 3)),
        "lines": ("\n" * size, "\n" * (size - 1) + "a"),
        "shuffled": tuple("\n".join(map(str, chance.sample(range(100_000), 100_000))) for _ in range(2)),
    }


@pytest.mark.parametrize("kind", ["words", "signs", "letters", "lines", "shuffled"])
def test_the_worst_texts_come_to_an_end(kind):
    old, new = texts()[kind]
    pieces = word_diff(old, new)
    assert "".join(piece.text for piece in pieces if piece.operation != "add") == old


def wide(step: int) -> str:
    return json.dumps({f"key-{n}": n * step for n in range(10_000)})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (wide(1), wide(2)),
        ("[" * 100 + "1" + "]" * 100, "[" * 100 + "2" + "]" * 100),
        (json.dumps("a " * 500_000), json.dumps("b " * 500_000)),
        (json.dumps([*range(10_000)]), json.dumps([*range(5_000), *range(5_001, 10_001)])),
        (json.dumps([*range(10_000)]), json.dumps([*range(10_000, 0, -1)])),
        ("[" + "1," * 500_000 + "1]", "[" + "2," * 500_000 + "1]"),
    ],
    ids=["10,000 keys", "100 levels", "1 MiB string", "long array", "reversed array", "half a million elements"],
)
def test_the_worst_values_come_to_an_end(old, new):
    assert diff(old, new)


def test_a_change_deep_in_a_long_array_is_one_change():
    rows = [{"id": n, "tags": ["a", "b"]} for n in range(5000)]
    edited = [{"id": 5001, "tags": []}, *rows[:4000], {"id": 4000, "tags": ["a", "c"]}, *rows[4001:]]
    assert diff(json.dumps(rows), json.dumps(edited)) == [
        Change("/0", "add", None, '{"id":5001,"tags":[]}'),
        Change("/4001/tags/1", "replace", '"b"', '"c"'),
    ]

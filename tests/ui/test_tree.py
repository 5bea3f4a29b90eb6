"""The tree of entities: nested for the page, and folded when it is large."""

from memories.figures import Totals
from memories.places import Child, Level, Places
from memories.ui import tree


def of(paths, chosen):
    return tree.of(Places(sum(sums.entries for sums in paths.values()), False, paths), chosen)


def lines(made: tree.Tree) -> list[str]:
    return [twig.place.path for twig in made.twigs]


def test_lists_open_and_close_in_pairs():
    made = of({path: Totals(entries=1) for path in ("a/b/c", "a/b/d", "a/e", "f", "g/h")}, "a/b")
    assert lines(made) == ["a", "a/b", "a/b/c", "a/b/d", "a/e", "f", "g", "g/h"]
    assert [twig.place.path for twig in made.twigs if twig.opens] == ["a", "a/b", "g"]
    assert {twig.place.path: len(twig.closes) for twig in made.twigs if twig.closes} == {
        "a/b/d": 1,
        "a/e": 1,
        "g/h": 1,
    }
    assert [twig.place.path for twig in made.twigs if twig.is_current] == ["a/b"]


def test_a_place_counts_all_below_it_and_the_tree_each_entry_once():
    made = of({"a": Totals(entries=2), "a/b": Totals(entries=3)}, None)
    assert [twig.place.entries for twig in made.twigs] == [5, 3]
    assert made.entries == 5


def test_a_large_tree_unfolds_only_the_way_to_the_chosen_place():
    paths = {f"p{n:02}/q{m:02}/r": Totals(entries=1) for n in range(20) for m in range(20)}
    assert lines(of(paths, None)) == [f"p{n:02}" for n in range(20)]
    shown = lines(of(paths, "p03/q07"))
    assert [path for path in shown if path.startswith("p03/")] == [
        *(f"p03/q{m:02}" for m in range(8)), "p03/q07/r", *(f"p03/q{m:02}" for m in range(8, 20)),
    ]  # fmt: skip
    assert len(shown) == 20 + 20 + 1


def test_thousands_of_places_at_the_top_are_cut_but_never_the_chosen_one():
    paths = {f"p{n:04}": Totals(entries=1) for n in range(1_000)}
    made = of(paths, "p0900")
    assert len(made.twigs) == 201
    assert lines(made)[-1] == "p0900"
    assert made.left_out == 799


def test_odd_paths_make_no_odd_tree():
    made = of({path: Totals(entries=1) for path in ("/a", "b//c", "b/", "日本/語")}, "b/")
    assert sum(twig.opens for twig in made.twigs) == sum(len(twig.closes) for twig in made.twigs)
    assert made.entries == 4


def test_of_too_many_paths_only_the_levels_on_the_way_are_there():
    top = Level((Child("a", 9, True), Child("b", 1, False)), 1_000)
    levels = {
        "": top,
        "a": Level((Child("x", 2, False), Child("y", 7, True)), 2),
        "a/y": Level((Child("z", 7, False),), 1),
    }
    made = tree.of(Places(10, False, {}, levels), "a/y")
    assert [(twig.place.path, twig.place.entries) for twig in made.twigs] == [
        ("a", 9), ("a/x", 2), ("a/y", 7), ("a/y/z", 7), ("b", 1),
    ]  # fmt: skip
    assert [twig.place.path for twig in made.twigs if twig.opens] == ["a", "a/y"]
    assert [twig.place.path for twig in made.twigs if twig.is_current] == ["a/y"]
    assert (made.entries, made.left_out) == (10, 998)
    assert sum(len(twig.closes) for twig in made.twigs) == 2

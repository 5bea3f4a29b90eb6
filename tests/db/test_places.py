"""Where entries lie: the levels of a large account are what all its paths would give, folded or not."""

import pytest

from memories import figures, places
from memories.ui import tree
from memories.viewers import person
from tests.db import acts

PATHS = ("a", "a/b/c", "a/b/d", "a/e", "f", "g/h", "/odd", "b//c", "日本/語", "zz/y/x/w")


@pytest.fixture
def viewer(account):
    return person(account)


def lines(viewer, chosen):
    made = tree.of(places.of(viewer, chosen=chosen), chosen)
    return [(twig.place.path, twig.place.entries) for twig in made.twigs], made.entries, made.left_out


def expected(viewer, chosen):
    on_the_way = set(places.above(chosen))
    whole, entries, left_out = lines(viewer, chosen)
    return [one for one in whole if "/" not in one[0] or one[0].rpartition("/")[0] in on_the_way], entries, left_out


@pytest.mark.parametrize("chosen", ["", "a", "a/b", "a/b/c", "f", "zz/y", "b/", "nowhere", "nowhere/at/all"])
def test_the_levels_on_the_way_are_what_all_paths_give(account, viewer, monkeypatch, chosen):
    for path in PATHS:
        acts.fill(account, 2, path=path)
    for turn in range(3):
        monkeypatch.setattr(places, "WHOLE", 300)
        told = expected(viewer, chosen)
        monkeypatch.setattr(places, "WHOLE", 0)
        assert lines(viewer, chosen) == told, turn
        if turn == 0:
            figures.fold(account.pk)
        # Two paths more and one that there was, not folded yet.
        acts.put(account, turn, path="a/b/new", key=f"k{turn}")
        acts.put(account, turn, path=f"late-{turn}", key="k")


def test_of_a_level_with_very_many_places_the_first_and_the_chosen_one_come(account, viewer, monkeypatch):
    monkeypatch.setattr(places, "WHOLE", 0)
    for n in range(places.SIBLINGS + 20):
        acts.fill(account, 1, path=f"p{n:03}")
    figures.fold(account.pk)
    found = places.of(viewer, chosen="p215").levels
    assert [child.name for child in found[""].children] == [*(f"p{n:03}" for n in range(places.SIBLINGS)), "p215"]
    assert found[""].count == places.SIBLINGS + 20
    assert found["p215"].count == 0


def test_levels_are_read_once_until_they_are_folded(account, viewer, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(places, "WHOLE", 0)
    acts.fill(account, 3, path="a/b")
    figures.fold(account.pk)
    places.levels(viewer, "main", "a")
    acts.put(account, 1, path="a/c", key="new")
    with django_assert_num_queries(1):
        assert [child.name for child in places.levels(viewer, "main", "a")["a"].children] == ["b", "c"]

"""Places that answers hold while they stream."""

import pytest

from senselab.errors import Busy, TooMany
from senselab.holding import Places


def open_places(most: int = 3, each: int = 2) -> Places:
    return Places("exports", most, each)


def test_one_holder_takes_its_share_and_no_more():
    places = open_places()
    held = [places.hold(iter([b"a"]), "one") for _ in range(2)]
    with pytest.raises(TooMany, match="2 exports of yours"):
        places.take("one")
    places.take("another")
    assert [b"".join(one) for one in held] == [b"a", b"a"]


def test_when_all_are_taken_anybody_is_told_so():
    places = open_places()
    for holder in ("one", "one", "another"):
        places.take(holder)
    with pytest.raises(Busy) as refused:
        places.take("third")
    assert (refused.value.status, refused.value.retry) == (503, 5)


def test_a_place_is_free_again_when_the_answer_ends_however_it_does():
    places, ended = open_places(1, 1), []

    def pieces():
        try:
            yield b"a"
            yield b"b"
        finally:
            ended.append(True)

    begun = places.hold(pieces(), "one")
    next(begun)
    begun.close()
    begun.close()
    assert ended == [True]
    never_asked = places.hold(pieces(), "one")
    del never_asked
    places.take("one")

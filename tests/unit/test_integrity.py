"""Hashes: as the published client recomputes them, and seals that show tampering."""

import json
from datetime import UTC, timedelta, timezone

import pytest
from amfs_core.hashing import content_hash as theirs
from amfs_core.hashing import integrity_chain_hash, verify_entries
from amfs_core.models import MemoryEntry, Provenance
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.integrity import canonical_state, chain, chains, content_hash, digest, seal
from tests.unit.rules_cast import NOON

VALUES = [
    "null",
    "true",
    "1",
    "1.0",
    "1e5",
    '"é"',
    '{"b":[1,2],"a":{"x":null}}',
    "12345678901234567890123",
    "0.1",
    '""',
]


@pytest.mark.parametrize("text", VALUES)
def test_the_content_hash_is_the_clients(text):
    assert content_hash(text) == theirs(json.loads(text))


def test_the_chain_is_the_clients():
    assert chain("ab", None) == integrity_chain_hash("ab", None)
    assert chain("ab", "cd") == integrity_chain_hash("ab", "cd")


def entries(hashes: list[str | None], values: list) -> list[MemoryEntry]:
    links = chains(hashes)
    return [
        MemoryEntry(
            entity_path="repo",
            key="k",
            version=number,
            value=value,
            provenance=Provenance(agent_id="a", session_id="s", written_at=NOON),
            content_hash=content,
            integrity_chain=link,
        )
        for number, (content, link, value) in enumerate(zip(hashes, links, values, strict=True), 1)
    ]


def test_the_client_verifies_a_history_with_outcomes_and_an_erasure():
    texts = ['{"a":1}', '{"a":1}', '"new"', '"new"', '"new"']
    hashes = [content_hash(text) for text in texts]
    values = [json.loads(text) for text in texts]
    assert verify_entries(entries(hashes, values)).is_clean
    erased = [hashes[0], hashes[1], None, hashes[3], hashes[4]]
    assert verify_entries(entries(erased, [*values[:2], None, *values[3:]])).is_clean


def test_the_client_sees_a_changed_value_and_a_broken_chain():
    hashes = [content_hash("1"), content_hash("2")]
    assert verify_entries(entries(hashes, [1, 3])).corrupted
    broken = entries(hashes, [1, 2])
    broken[1].integrity_chain = chain(hashes[1], None)
    assert verify_entries(broken).chain_breaks


STATE = {"confidence": 0.7, "number": 3, "status": "active", "ttl_at": None, "validators": ["a", "b"], "at": NOON}


def sealed(state=STATE, *, previous=b"", names=b"n", content=b"c") -> bytes:
    return seal(previous, state, names, content)


def test_a_seal_does_not_depend_on_the_order_or_the_time_zone():
    elsewhere = NOON.astimezone(timezone(timedelta(hours=5)))
    assert sealed() == sealed(dict(reversed(STATE.items()))) == sealed(STATE | {"at": elsewhere})
    assert len(sealed()) == 32


@pytest.mark.parametrize(
    "change",
    [
        {"confidence": 0.7000000000000001},
        {"confidence": None},
        {"number": 4},
        {"number": 3.0},
        {"number": True},
        {"number": "3"},
        {"status": "archived"},
        {"ttl_at": NOON},
        {"validators": ["b", "a"]},
        {"at": NOON + timedelta(microseconds=1)},
        {"more": 1},
    ],
)
def test_a_seal_shows_every_change_of_the_state(change):
    assert sealed(STATE | change) != sealed()


def test_a_seal_covers_predecessor_names_and_content():
    seals = {
        sealed(),
        sealed(previous=b"p"),
        sealed(names=b"m"),
        sealed(content=b"d"),
        sealed(names=b"nc", content=b""),
    }
    assert len(seals) == 5


@pytest.mark.parametrize("value", [b"x", object(), {1: 2}, NOON.replace(tzinfo=None), {1, 2}])
def test_a_seal_refuses_what_has_no_one_form(value):
    with pytest.raises(TypeError):
        sealed({"x": value})


def test_minus_zero_is_zero():
    assert canonical_state({"x": -0.0}) == canonical_state({"x": 0.0})


def test_a_digest_tells_lists_apart():
    assert digest(b"s", "ab", "c") != digest(b"s", "a", "bc") != digest(b"s", "abc")
    assert digest(b"s", "ab") != digest(b"sa", "b")
    assert len(digest(b"", "")) == 32


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.datetimes(timezones=st.just(UTC)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def typed(value):
    if isinstance(value, dict):
        return {name: typed(part) for name, part in value.items()}
    return [typed(part) for part in value] if isinstance(value, list) else (type(value), value)


@given(plain, plain)
def test_two_states_are_written_alike_only_if_they_are_alike(a, b):
    assert (canonical_state({"x": a}) == canonical_state({"x": b})) == (typed(a) == typed(b))

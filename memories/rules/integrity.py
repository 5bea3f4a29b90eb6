"""Hashes by which tampering shows: the SDK's over values, and the seal over every version.

The SDK (amfs_core.hashing) takes all versions of a name (entity_path + "/" + key, whatever their branch or owner) in
the order of their numbers. For each version with a content_hash it compares that with the hash of the value; then,
if both this version and the one before have an integrity_chain, it compares this chain with
sha256(content_hash + previous chain). So every version, those of outcomes and feedback included, needs a chain of its
own over its predecessor's, though its claim and content_hash be the same; `chains` computes them. A version without
content_hash (erased) counts as valid and starts the chain anew after it.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any

_SEAL = b"senselab seal 1\n"


def canonical_json(value: Any) -> str:
    """Return a JSON value with sorted keys, compact separators and ASCII only, as the SDK writes it to hash it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def content_hash(value_text: str) -> str:
    """Return the SHA-256, in hex, of a JSON text's value in canonical form (contract.md 3.15).

    Numbers are what Python's json makes of them, as in the SDK: 1.0 and 1 have different hashes.
    """
    return hashlib.sha256(canonical_json(json.loads(value_text)).encode("ascii")).hexdigest()


def chain(content: str, previous: str | None) -> str:
    """Return the integrity_chain, in hex, of a version whose predecessor's is `previous` (None for the first)."""
    return hashlib.sha256((content + (previous or "")).encode("ascii")).hexdigest()


def chains(contents: Iterable[str | None]) -> list[str | None]:
    """Return the integrity_chain of each version of a history, given their content hashes oldest first."""
    links: list[str | None] = []
    for content in contents:
        links.append(None if content is None else chain(content, links[-1] if links else None))
    return links


def digest(salt: bytes, *texts: str) -> bytes:
    """Return the 32-byte SHA-256 of a salt and texts, each with its length, so that no two lists share it."""
    return hashlib.sha256(_framed(salt, *[text.encode() for text in texts])).digest()


def seal(previous_seal: bytes, state: Mapping[str, Any], names_digest: bytes, content_digest: bytes) -> bytes:
    """Return the 32-byte seal of a version over its predecessor's seal (b"" for the first) and its state.

    The state is written down as one text whatever its order: floats by repr, moments in UTC with microseconds. The
    names and the content enter as digests, so that they can be erased while the seal still verifies.

    :raises TypeError: the state holds something that has no one way of being written down.
    """
    covered = canonical_state(state).encode("ascii")
    return hashlib.sha256(_SEAL + _framed(previous_seal, covered, names_digest, content_digest)).digest()


def canonical_state(state: Mapping[str, Any]) -> str:
    """Return a state as text that depends on nothing but its content.

    :raises TypeError: it holds something other than None, booleans, numbers, texts, moments, sequences and mappings.
    """
    return _written(state)


def _written(value: Any) -> str:
    """Return the canonical JSON of a value, each number and moment marked by its kind; two kinds never look alike."""
    # A seal covers some thirty values and a night a million seals: what is of a kind exactly takes the short way.
    write = _EXACTLY.get(type(value))
    if write is not None:
        return write(value)
    for kind, write in _KINDS:
        if isinstance(value, kind):
            return write(value)
    raise TypeError(f"a seal cannot cover a {type(value).__name__}")


def _text(value: str) -> str:
    return encode_basestring_ascii(str(value))


def _integer(value: int) -> str:
    return f'{{"int":"{int(value)}"}}'


def _float(value: float) -> str:
    return f'{{"float":"{value + 0.0!r}"}}'  # 0.0 and -0.0 are one number to whoever compares them


def _sequence(values: Iterable[Any]) -> str:
    return f"[{','.join([_written(value) for value in values])}]"


def _mapping(values: Mapping[str, Any]) -> str:
    pairs = [f"{beginning}{_written(values[name])}]" for name, beginning in _in_order(tuple(values))]
    return f'{{"map":[{",".join(pairs)}]}}'


@lru_cache(maxsize=64)
def _in_order(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the names of a mapping sorted, each with how its pair begins; those of a state are always the same."""
    return [(name, f"[{_text(name)},") for name in sorted(names, key=_name)]


def _moment(value: datetime) -> str:
    if value.tzinfo is None:
        raise TypeError("a seal covers only moments that name their time zone")
    return f'{{"at":"{value.astimezone(UTC).isoformat(timespec="microseconds")}"}}'


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError("the names in a state are texts")
    return str(name)


_EXACTLY: dict[type, Callable[[Any], str]] = {
    type(None): lambda value: "null",
    bool: lambda value: "true" if value else "false",
    str: encode_basestring_ascii,
    int: _integer,
    float: _float,
    datetime: _moment,
    list: _sequence,
    tuple: _sequence,
    dict: _mapping,
}
# Enumerations are texts, and whatever else descends from a kind is of it.
_KINDS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (str, _text),
    (list, _sequence),
    (tuple, _sequence),
    (int, _integer),
    (float, _float),
    (datetime, _moment),
    (Mapping, _mapping),
)


def _framed(*parts: bytes) -> bytes:
    """Return all parts as one, each with its length before it."""
    return b"".join([piece for part in parts for piece in (len(part).to_bytes(8, "big"), part)])

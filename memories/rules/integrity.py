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
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
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
    sha = hashlib.sha256(_framed(salt))
    for text in texts:
        sha.update(_framed(text.encode("utf-8")))
    return sha.digest()


def seal(previous_seal: bytes, state: Mapping[str, Any], names_digest: bytes, content_digest: bytes) -> bytes:
    """Return the 32-byte seal of a version over its predecessor's seal (b"" for the first) and its state.

    The state is written down as one text whatever its order: floats by repr, moments in UTC with microseconds. The
    names and the content enter as digests, so that they can be erased while the seal still verifies.

    :raises TypeError: the state holds something that has no one way of being written down.
    """
    parts = (previous_seal, canonical_state(state).encode("ascii"), names_digest, content_digest)
    return hashlib.sha256(_SEAL + b"".join(map(_framed, parts))).digest()


def canonical_state(state: Mapping[str, Any]) -> str:
    """Return a state as text that depends on nothing but its content.

    :raises TypeError: it holds something other than None, booleans, numbers, texts, moments, sequences and mappings.
    """
    return canonical_json(_plain(state))


def _plain(value: Any) -> Any:
    # Most of a state is texts and numbers, and asking for a mapping is the slow question: it comes last.
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if not isinstance(value, int | float | datetime) and isinstance(value, Mapping):
        return {"map": [[_name(name), _plain(value[name])] for name in sorted(value, key=_name)]}
    return _number_or_moment(value)


def _number_or_moment(value: Any) -> dict[str, str]:
    if isinstance(value, int):
        return {"int": str(int(value))}
    if isinstance(value, float):
        return {"float": repr(value + 0.0)}  # 0.0 and -0.0 are one number to whoever compares them
    if isinstance(value, datetime):
        return {"at": _moment(value)}
    raise TypeError(f"a seal cannot cover a {type(value).__name__}")


def _moment(value: datetime) -> str:
    if value.tzinfo is None:
        raise TypeError("a seal covers only moments that name their time zone")
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError("the names in a state are texts")
    return str(name)


def _framed(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big") + part

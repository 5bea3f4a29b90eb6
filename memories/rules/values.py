"""A value as it came in: checked, kept as the text it was, and with what is derived from it once."""

from dataclasses import dataclass

from memories.rules import claims, classify, integrity, jsontexts


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON text that may be stored; `digest` is equal for values that make the same claim."""

    text: str
    digest: bytes
    content_hash: str
    is_artifact: bool


def read_value(raw: bytes | str, *, key: str) -> Value:
    """Return a value fit to be stored.

    :raises Refused: it is too large, too deep, not finite, or holds what no text may hold; with the place.
    """
    text = jsontexts.check_value(raw)
    return Value(text, claims.claim_digest(text), integrity.content_hash(text), classify.is_artifact(key, text))

"""Holding what is written to the account's rule about keys and tokens, before anything of it is stored."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memories import screening
from memories.rules.kinds import SecretsRule
from memories.rules.policy import Policy
from memories.rules.refusals import Refused
from memories.rules.values import Value, read_value

BEFORE = frozenset({SecretsRule.REDACT, SecretsRule.REFUSE})


def acts_before(policy: Policy) -> bool:
    """Tell whether values are looked through before they are stored."""
    return policy.secrets in BEFORE


def kept(value: Value, policy: Policy, *, key: str, pointer: str = "/value") -> Value:
    """Return a value as it may be stored.

    :raises Refused: it holds a key or a token and the account refuses those, or it cannot be looked through in time.
    """
    if not acts_before(policy):
        return value
    text = kept_text(value.text, policy, pointer=pointer)
    return value if text == value.text else read_value(text, key=key)


def kept_references(references: Sequence[Mapping[str, Any]], policy: Policy) -> Sequence[Mapping[str, Any]]:
    """Return references to artifacts as they may be stored.

    :raises Refused: as of a value.
    """
    if not references or not acts_before(policy):
        return references
    told: list[dict[str, Any]] = json.loads(
        kept_text(json.dumps(references, ensure_ascii=False), policy, pointer="/artifact_refs")
    )
    return told


def kept_text(text: str, policy: Policy, *, pointer: str) -> str:
    """Return a JSON text as it may be stored.

    :raises Refused: as of a value.
    """
    try:
        found = screening.hits(text)
    except screening.TooSlow as error:
        words = (
            "This takes too long to look through for keys and tokens; nothing was stored. Write it in smaller parts."
        )
        raise Refused(pointer, words) from error
    if not found:
        return text
    if policy.secrets == SecretsRule.REFUSE:
        raise Refused(
            pointer, f"{told(screening.kinds(found))}, which this account stores nowhere. Nothing was stored."
        )
    return screening.redacted(text, found)


def told(kinds: Sequence[str]) -> str:
    """Return what was found in words, by its kinds alone."""
    return f"It seems to hold a key or token ({', '.join(kinds)})"

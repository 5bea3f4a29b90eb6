"""Holding a write to the contracts of the agent that writes it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import msgspec

from memories.rules import contracts
from memories.rules.contracts import Contract, Said
from memories.rules.values import Value
from memories.services.writing import KEEP, Draft


def held(draft: Draft, kept: Sequence[Contract], now: datetime) -> Draft:
    """Return a draft with the time to live that its agent's contracts give it.

    :raises Broken: it breaks one.
    """
    if not kept:
        return draft
    given = None if draft.ttl_at is KEEP else draft.ttl_at
    said = Said(draft.entity_path, draft.key, draft.confidence, fields_of(draft.value), given)
    ttl_at = contracts.ttl_kept(kept, said, now)
    return draft if ttl_at == given else replace(draft, ttl_at=ttl_at)


def fields_of(value: Value) -> frozenset[str] | None:
    """Return the names in a value that is an object, None of any other."""
    if not value.text.lstrip().startswith("{"):
        return None
    return frozenset(msgspec.json.decode(value.text, type=dict[str, msgspec.Raw]))

"""What entries are found by from now on, for each move that changes a claim."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from memories.rules import wordings
from memories.services.acts import Move

STOOD = f"""
    SELECT c.id, left(c.value, {wordings.CHARACTERS}) FROM memories_claim c
     WHERE c.account_id = %s AND c.id = ANY(%s)
"""


def rows(account_id: int, moves: Sequence[Move]) -> list[dict[str, Any]]:
    """Return the words of each claim that moves make current; what claims say that stood before is looked up."""
    again = [move.claim.id for move in moves if move.claim and move.claim.id is not None]
    said = _said(account_id, again) if again else {}
    found = []
    for index, move in enumerate(moves):
        if move.claim is not None:
            claim = move.claim
            value = said.get(claim.id, "") if claim.id is not None else claim.value or ""
            path, key = (move.head.entity_path, move.head.key) if move.head else (move.entity_path, move.key)
            words = wordings.kept(path, key, value)
            found.append({"i": index, "words": words.words, "stems": words.stems, "name": words.name})
    return found


def _said(account_id: int, claim_ids: Sequence[int]) -> dict[int | None, str]:
    with connection.cursor() as cursor:
        cursor.execute(STOOD, [account_id, list(claim_ids)])
        return dict(cursor.fetchall())

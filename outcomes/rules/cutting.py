"""Where a ranked list ends: what is far from the query, and what the best answer makes needless (contract.md 3.9)."""

from collections.abc import Sequence
from dataclasses import dataclass

LEAST_SEMANTIC = 0.15
PEER_SCORE, KEYWORD_LEAD = 0.85, 0.2


@dataclass(frozen=True, slots=True)
class Ranked:
    """What deciding needs of a hit."""

    score: float
    semantic: float
    relevance: float
    keyword: float
    status: str
    rescued: bool = False
    failing: bool = False
    # Whether it did well on a task like this one, whatever words it shares with it.
    proven: bool = False


def far(hits: Sequence[Ranked]) -> set[int]:
    """Return the places of the hits that are not about the query; the first always stays."""
    return {at for at, hit in enumerate(hits) if at and _is_far(hit)}


def _is_far(hit: Ranked) -> bool:
    return hit.semantic < LEAST_SEMANTIC and hit.keyword <= 0 and not hit.proven


def needless(hits: Sequence[Ranked], *, shifted: bool = False) -> set[int]:
    """Return the places that adaptive k leaves out: when the first hit is validated, peers that add nothing to it.

    Under a regime shift in the query's scope contested and locally failing peers go as well.
    """
    if not hits or hits[0].status != "validated":
        return set()
    return {at for at, hit in enumerate(hits) if at and not _adds(hit, hits[0], shifted)}


def _adds(hit: Ranked, top: Ranked, shifted: bool) -> bool:
    if shifted and (hit.status == "contested" or hit.failing):
        return False
    as_good = (hit.status == "validated" or hit.rescued) and hit.score >= PEER_SCORE * top.score
    return as_good or hit.relevance > top.relevance or hit.keyword > top.keyword + KEYWORD_LEAD

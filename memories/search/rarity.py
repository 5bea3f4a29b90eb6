"""How rare words are, from what PostgreSQL sampled: enough to look for the rare ones first, and free at a million."""

import math
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from django.db import connection

from memories.rules.wordings import Term
from senselab import pipeline
from senselab.pipeline import Query

# What was sampled changes as slowly as the table does.
KEPT_SECONDS = 300.0
# Share of entries of a word that the sample did not note: below the rarest that it did.
UNNOTED = 0.001
# So many stems are remembered.
REMEMBERED = 50_000

SAMPLED = """
    SELECT s.most_common_elems::text::text[], s.most_common_elem_freqs::float8[],
           (SELECT greatest(k.reltuples, 0) FROM pg_class k WHERE k.oid = 'memories_entrytext'::regclass)
      FROM pg_stats s
     WHERE s.schemaname = ANY(current_schemas(false)) AND s.tablename = 'memories_entrytext' AND s.attname = 'words'
"""
STEMS = """
    SELECT w, coalesce((ts_lexize('pg_catalog.english_stem', w))[1], w) FROM unnest(%s::text[]) AS w
"""


@dataclass(frozen=True, slots=True)
class Rarity:
    """In what share of all entries each common word stands, and how many entries there are."""

    shares: Mapping[str, float] = field(default_factory=dict)
    entries: float = 0.0

    def share(self, term: Term, stems: Mapping[str, str]) -> float:
        """Return in what share of entries a term may stand at most."""
        noted = [max(self._of(word), self._of(stems.get(word, word))) for word in term.words]
        return min(noted) if noted else 1.0

    def _of(self, word: str) -> float:
        return self.shares.get(word, min(UNNOTED, 0.5))

    def weight(self, share: float) -> float:
        """Return how much a word of this share tells."""
        return math.log(1 + 1 / max(share, 1e-6))


_lock = Lock()
_known: tuple[float, Rarity] | None = None
_stems: dict[str, str] = {}


def sampled() -> Rarity:
    """Return how rare words are; asked for anew every few minutes."""
    global _known  # noqa: PLW0603
    with _lock:
        if _known is not None and time.monotonic() - _known[0] < KEPT_SECONDS:
            return _known[1]
    found = _ask()
    with _lock:
        _known = (time.monotonic(), found)
    return found


def forget() -> None:
    """Ask anew the next time."""
    global _known  # noqa: PLW0603
    with _lock:
        _known = None


def unstemmed(words: Iterable[str]) -> Query | None:
    """Return the statement for the stems of those words that are not remembered, None when all are."""
    asked = [word for word in words if word not in _stems]
    return (STEMS, [asked]) if asked else None


def remember(found: Iterable[tuple[str, str]]) -> None:
    """Keep stems, rows of `unstemmed`, for the next time: they never change."""
    if len(_stems) > REMEMBERED:
        _stems.clear()
    _stems.update(found)


def stems(words: Collection[str]) -> dict[str, str]:
    """Return the stems of plain words, as the database has them; asked for only where they are not remembered."""
    query = unstemmed(words)
    if query is None:
        return {word: _stems.get(word, word) for word in words}
    (found,) = pipeline.fetch(query)
    told = {word: _stems.get(word, word) for word in words} | dict(found)
    remember(dict(found).items())
    return told


def _ask() -> Rarity:
    with connection.cursor() as cursor:
        cursor.execute(SAMPLED)
        row = cursor.fetchone()
    if row is None or row[0] is None:
        return Rarity()
    words, shares, entries = row
    # Behind the shares of words stand the least, the greatest and that of null.
    return Rarity(dict(zip(words, shares, strict=False)), float(entries))

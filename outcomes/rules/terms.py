"""The terms of a text, compared for equality: words without accents and endings, identifiers whole and in parts."""

from functools import lru_cache
from itertools import chain

from memories.rules import folding
from memories.rules.wordings import FILLERS

LETTERS = 4_000
_ENDINGS = (
    ("ies", "y", 5),
    ("ied", "y", 5),
    ("sses", "ss", 5),
    ("ing", "", 6),
    ("edly", "", 7),
    ("ed", "", 5),
    ("s", "", 4),
)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return a word without the commonest English endings."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending, instead, least in _ENDINGS:
        if len(word) >= least and word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def all_terms(text: str) -> list[str]:
    """Return the terms of a text in their order, repeated as they are, fillers among them."""
    return list(chain.from_iterable(map(_of_piece, folding.pieces(text[:LETTERS]))))


def _terms(piece: str) -> tuple[str, ...]:
    if piece.isascii() and (piece.isdigit() or (piece.isalnum() and (piece.islower() or piece[1:].islower()))):
        # One word, as most are; an identifier is seldom met twice.
        return (stem(piece.lower()[: folding.LONGEST]),)
    chunk = folding.chunk(piece)
    if chunk.unspaced:
        return chunk.parts
    stems = tuple(map(stem, chunk.parts))
    return (chunk.whole, *stems) if chunk.whole else stems


_known = lru_cache(maxsize=65_536)(_terms)


def _of_piece(piece: str) -> tuple[str, ...]:
    # What is longer than a word does not come again.
    return _known(piece) if len(piece) <= folding.LONGEST else _terms(piece)


FILLER_STEMS = FILLERS | {stem(word) for word in FILLERS}


def asked(query: str, *, most: int = 64) -> tuple[str, ...]:
    """Return the distinct terms a query asks for, without fillers unless it has nothing else."""
    found = list(dict.fromkeys(all_terms(query)))
    meant = [term for term in found if term not in FILLER_STEMS]
    return tuple((meant or found)[:most])


@lru_cache(maxsize=8_192)
def of_task(text: str) -> frozenset[str]:
    """Return what a task is about, kept for the next time it is compared."""
    return frozenset(asked(text, most=256))


def jaccard(left: int, right: int) -> float:
    """Return the overlap of two sets, each given as the bits of an integer."""
    either = (left | right).bit_count()
    return (left & right).bit_count() / either if either else 0.0

"""The terms of a text, compared for equality: words without accents and endings, identifiers whole and in parts."""

from functools import lru_cache
from itertools import chain

from memories.rules import folding
from memories.rules.wordings import FILLERS

LETTERS = 4_000
# So many words are remembered with their terms.
REMEMBERED = 65_536
# What stands in no piece of an ASCII text (folding.CHUNK).
GAPS = str.maketrans({sign: " " for sign in map(chr, range(128)) if not sign.isalnum() and sign not in "_.:@+-"})
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
    text = text[:LETTERS]
    # Most texts are cut at once; apostrophes and accents need a look at each. No loop of ours runs over the words.
    plain = text.isascii() and "'" not in text
    found = text.translate(GAPS).split() if plain else folding.pieces(text)
    return list(chain.from_iterable(map(_known.__getitem__, found)))


def _terms(piece: str) -> tuple[str, ...]:
    if piece.isascii() and (piece.isdigit() or (piece.isalnum() and (piece.islower() or piece[1:].islower()))):
        # One word, as most are; an identifier is seldom met twice.
        return (stem(piece.lower()[: folding.LONGEST]),)
    chunk = folding.chunk(piece)
    if chunk.unspaced:
        return chunk.parts
    stems = tuple(map(stem, chunk.parts))
    return (chunk.whole, *stems) if chunk.whole else stems


class Known(dict[str, tuple[str, ...]]):
    """The terms of what stands between gaps, by what it is: words come again and again."""

    def __missing__(self, found: str) -> tuple[str, ...]:
        made = tuple(term for piece in folding.CHUNK.findall(found) for term in _terms(piece))
        # What is longer than a word does not come again.
        if len(found) <= folding.LONGEST:
            if len(self) >= REMEMBERED:
                self.clear()
            self[found] = made
        return made


_known = Known()


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

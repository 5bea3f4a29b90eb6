"""What is kept of an entry to be found by, and what a query asks for, both as PostgreSQL reads them.

Kept, in one tsvector: every word as it is (A in the names, B in the value), identifiers whole as well as in parts,
pairs of signs of scripts without spaces; and, added by the database (D), English stems of plain words. A query is
written in the same words, a stem it needs marked as `~word~`; `memories_asked` in the database puts the stem there.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from memories.rules.folding import Chunk, chunks, fold, spoken

# Of a value so many characters are found by; of a query so many different terms count.
CHARACTERS = 65_536
TERMS = 64
# PostgreSQL keeps no more places of a word, and none further on.
PLACES, LAST_PLACE = 250, 16_383
SHORTEST_PREFIX = 2
PLAIN = re.compile(r"[a-z]+")
# A term is a phrase in quotes or what stands between blanks; minus before it excludes, star after it means a prefix.
TERM = re.compile(r'(?<!\S)(-?)(?:"([^"]*)"?|“([^”]*)”?|(\S+))|(?:"([^"]*)"?)|(\S+)')
# Words that say nothing alone, of the two languages that agents here are asked in most.
FILLER_WORDS = """
    a about after all also am an and any are as at be because been but by can could did do does for from had has have
    he her his how i if in into is it its just me my no not of on or our she should so some than that the their them
    then there these they this those to too us was we were what when where which who why will with would you your
    aber als am an auch auf aus bei bin bis das dem den der des die dies diese du ein eine einem einen einer es fur hat
    hatte ich ihr im in ist kann mein mich mit nach nicht noch nur oder sein sich sie sind so und um uns unser vom von
    vor war warum was wenn wer wie wir wird wo zu zum zur
"""
FILLERS = frozenset(FILLER_WORDS.split())


@dataclass(frozen=True, slots=True)
class Words:
    """What an entry is found by: a tsvector, plain words that have stems, and its folded name for parts of words."""

    words: str
    stems: str
    name: str


@dataclass(frozen=True, slots=True)
class Term:
    """One thing a query asks for, as a tsquery; `text` is what it was read from, folded."""

    query: str
    text: str
    words: tuple[str, ...]
    excluded: bool = False
    # Whether it is one plain word, which may say nothing alone; whether it was put in quotes.
    plain: bool = False
    exact: bool = False

    @property
    def is_filler(self) -> bool:
        return self.plain and self.words[0] in FILLERS


@dataclass(frozen=True, slots=True)
class Asked:
    """A query read: what it wants and what it does not want."""

    terms: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms or self.excluded)

    @property
    def all(self) -> str:
        """Return the tsquery of what has every term."""
        return _without(" & ".join(term.query for term in self.terms), self.excluded)

    @property
    def any(self) -> str:
        """Return the tsquery of what has one of the terms."""
        return self.any_of(self.terms)

    def any_of(self, terms: Iterable[Term]) -> str:
        """Return the tsquery of what has one of these terms, and none that is excluded."""
        wanted = " | ".join(term.query for term in terms)
        return _without(f"({wanted})" if wanted else "", self.excluded)

    @property
    def prefixes(self) -> str:
        """Return the tsquery of what has words that begin so for every term; exact ones stay as they are."""
        parts = (" & ".join(f"{_leaf(word)}:*" for word in term.words) for term in self.terms if not term.exact)
        return _without(" & ".join([*parts, *(term.query for term in self.terms if term.exact)]), self.excluded)

    @property
    def parts(self) -> list[str]:
        """Return what stands in a name that has every term in it, folded; nothing where that is not what was meant."""
        return [] if self.excluded or any(term.exact for term in self.terms) else [term.text for term in self.terms]


def kept(entity_path: str, key: str, value: str) -> Words:
    """Return what an entry is found by; `value` is JSON text."""
    names, said = list(chunks(f"{entity_path} / {key}")), list(chunks(spoken(value[:CHARACTERS])))
    places: dict[str, list[str]] = {}
    last = _place(names, "A", 0, places)
    _place(said, "B", last, places)
    words = " ".join(f"'{word}':{','.join(at[:PLACES])}" for word, at in places.items())
    stems = " ".join(word for word in places if PLAIN.fullmatch(word))
    return Words(words, stems, fold(f"{entity_path}/{key}").casefold())


@lru_cache(maxsize=256)
def asked(query: str) -> Asked:
    """Return what a query asks for: its first terms, each once, fillers left out where anything else is asked."""
    found: dict[tuple[str, bool], Term] = {}
    for match in TERM.finditer(query):
        term = _term(match)
        if term is not None:
            found.setdefault((term.query, term.excluded), term)
        if len(found) == TERMS:
            break
    terms = [term for term in found.values() if not term.excluded]
    telling = [term for term in terms if not term.is_filler] or terms
    return Asked(tuple(telling), tuple(term for term in found.values() if term.excluded))


def _place(found: list[Chunk], weight: str, last: int, places: dict[str, list[str]]) -> int:
    """Note where each word stands and return the last place."""
    for chunk in found:
        first = min(last + 1, LAST_PLACE)
        for part in chunk.parts:
            last += last < LAST_PLACE
            places.setdefault(part, []).append(f"{last}{weight}")
        if chunk.whole:
            places.setdefault(chunk.whole, []).extend((f"{first}{weight}", f"{last}{weight}"))
        elif chunk.unspaced and len(chunk.parts[-1]) > 1:
            # The last sign begins no pair; alone it must be found as well.
            places.setdefault(chunk.parts[-1][-1], []).append(f"{last}{weight}")
    return last


def _term(match: re.Match[str]) -> Term | None:
    minus, phrase, curly, word, inner, rest = match.groups()
    quoted = next((text for text in (phrase, curly, inner) if text is not None), None)
    text = quoted if quoted is not None else word or rest or ""
    found = list(chunks(text))
    if not found:
        return None
    words = tuple(part for chunk in found for part in chunk.parts)
    folded = fold(text).casefold().strip()
    if quoted is not None:
        return Term(_phrase(words), folded, words, bool(minus), exact=True)
    if text.endswith("*") and len(words[-1]) >= SHORTEST_PREFIX:
        query = _followed([*map(_leaf, words[:-1]), f"{_leaf(words[-1])}:*"])
        return Term(query, folded.rstrip("*"), words, bool(minus))
    query = " & ".join(map(_of_chunk, found))
    plain = len(words) == 1 and not found[0].unspaced
    return Term(f"({query})" if len(found) > 1 else query, folded, words, bool(minus), plain)


def _of_chunk(chunk: Chunk) -> str:
    if chunk.unspaced:
        return _followed(list(map(_leaf, chunk.parts))) if len(chunk.parts[0]) > 1 else f"{_leaf(chunk.parts[0])}:*"
    if chunk.whole:
        return f"({_leaf(chunk.whole)} | {_phrase(chunk.parts)})"
    (word,) = chunk.parts
    return f"({_leaf(word)} | '~{word}~')" if PLAIN.fullmatch(word) and len(word) > 2 else _leaf(word)


def _phrase(words: Iterable[str]) -> str:
    """Return the tsquery of words one after the other, exactly as they are."""
    return _followed([f"{_leaf(word)}:AB" for word in words])


def _followed(leaves: list[str]) -> str:
    return f"({' <-> '.join(leaves)})" if len(leaves) > 1 else leaves[0]


def _leaf(word: str) -> str:
    return f"'{word}'"


def _without(wanted: str, excluded: Iterable[Term]) -> str:
    parts = [wanted] if wanted else []
    return " & ".join([*parts, *(f"!{term.query}" for term in excluded)])

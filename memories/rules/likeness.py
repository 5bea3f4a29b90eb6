"""Whether two claims about one entity say nearly the same, or the opposite: by their words, and told in words.

The same: nearly all words, in nearly the same order, or vectors that point the same way. The opposite: the same
subject, but one negates it, uses the opposite word, or names another number.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memories.rules.folding import Chunk, chunks
from memories.rules.wordings import FILLERS

SAME, OPPOSITE = "same", "opposite"
# Share of words that two claims have in common; of pairs of words, one after the other; cosine of their vectors.
WORDS, PAIRS, COSINE = 0.75, 0.55, 0.92
# Share of the words of the subject; where only a number differs everything else has to be the same.
SUBJECT, SUBJECT_OF_NUMBERS = 0.6, 0.8
FEWEST = 2
CHARACTERS = 2_000
NEGATION_WORDS = """
    not no never dont cannot cant wont isnt arent doesnt didnt shouldnt mustnt neither nor none without avoid nicht
    kein keine keinen nie niemals ohne
"""
NEGATIONS = frozenset(NEGATION_WORDS.split())
OPPOSED = (
    ("always", "never"), ("enable", "disable"), ("enabled", "disabled"), ("on", "off"), ("true", "false"),
    ("allow", "deny"), ("allow", "forbid"), ("allowed", "forbidden"), ("before", "after"), ("increase", "decrease"),
    ("raise", "lower"), ("work", "fail"), ("succeed", "fail"), ("up", "down"), ("start", "stop"), ("add", "remove"),
    ("accept", "reject"), ("required", "optional"), ("fast", "slow"), ("sync", "async"), ("more", "less"),
    ("high", "low"), ("open", "closed"), ("first", "last"), ("keep", "delete"), ("good", "bad"), ("minimum", "maximum"),
    ("immer", "nie"), ("vor", "nach"), ("erlaubt", "verboten"), ("an", "aus"),
)  # fmt: skip
PREFIXES = ("un", "in", "dis", "non", "im", "ir")
OPPOSITES: dict[str, set[str]] = {}
for _one, _other in OPPOSED:
    OPPOSITES.setdefault(_one, set()).add(_other)
    OPPOSITES.setdefault(_other, set()).add(_one)


@dataclass(frozen=True, slots=True)
class Likeness:
    """How two claims are alike: `kind`, how surely (0..1), and why, in words."""

    kind: str
    score: float
    why: str


@dataclass(frozen=True)
class Said:
    """A claim as words."""

    text: str

    @cached_property
    def parts(self) -> list[Chunk]:
        return list(chunks(self.text[:CHARACTERS]))

    @cached_property
    def words(self) -> list[str]:
        return [word for chunk in self.parts for word in _words_of(chunk)]

    @cached_property
    def telling(self) -> list[str]:
        return [word for word in self.words if word not in FILLERS]

    @cached_property
    def pairs(self) -> set[tuple[str, str]]:
        return set(zip(self.telling, self.telling[1:], strict=False))

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(word for word in self.words if word[0].isdigit())

    @cached_property
    def negations(self) -> frozenset[str]:
        return frozenset(self.words) & NEGATIONS

    @cached_property
    def subject(self) -> frozenset[str]:
        """Return the words it is about."""
        return frozenset(self.words) - FILLERS - NEGATIONS - self.numbers - OPPOSITES.keys()


def compare(one: Said, other: Said, *, cosine: float | None = None) -> Likeness | None:
    """Return how two claims about one entity are alike, None when they are not."""
    if one.words == other.words:
        return Likeness(SAME, 1.0, "Both say the same words.") if one.words else None
    return _opposite(one, other) or _same(one, other, cosine)


def _opposite(one: Said, other: Said) -> Likeness | None:
    opposed = list(_opposed(one, other))
    # Opposite words are what is said of the subject, not the subject.
    said = {word for pair in opposed for word in pair}
    mine, theirs = one.subject - said, other.subject - said
    about = share(mine, theirs)
    if about < SUBJECT or len(mine & theirs) < FEWEST:
        return None
    for word, against in opposed:
        return Likeness(OPPOSITE, about, f"One says {word}, the other {against}.")
    if bool(one.negations) != bool(other.negations):
        (negation, *_) = sorted(one.negations or other.negations)
        return Likeness(OPPOSITE, about, f"Only one says {negation}.")
    ours, others = sorted(one.numbers - other.numbers), sorted(other.numbers - one.numbers)
    if about >= SUBJECT_OF_NUMBERS and ours and others:
        return Likeness(OPPOSITE, about, f"One says {ours[0]}, the other {others[0]}.")
    return None


def _opposed(one: Said, other: Said) -> Iterable[tuple[str, str]]:
    mine, theirs = set(one.words), set(other.words)
    for word in sorted(mine - theirs):
        against = OPPOSITES.get(word, set()) | {f"{prefix}{word}" for prefix in PREFIXES}
        against |= {word[len(prefix) :] for prefix in PREFIXES if word.startswith(prefix) and len(word) > 5}
        for found in sorted(against & (theirs - mine)):
            yield word, found


def _same(one: Said, other: Said, cosine: float | None) -> Likeness | None:
    words, pairs = share(set(one.telling), set(other.telling)), share(one.pairs, other.pairs)
    if words >= WORDS and pairs >= PAIRS:
        return Likeness(SAME, words, f"They share {words:.0%} of their words.")
    if cosine is not None and cosine >= COSINE:
        return Likeness(SAME, cosine, "They mean nearly the same.")
    return None


def share(one: Set[Any], other: Set[Any]) -> float:
    """Return the share of what is in either that is in both."""
    return len(one & other) / len(one | other) if one or other else 0.0


def _words_of(chunk: Chunk) -> Iterable[str]:
    # A name is one word: ERR_CONN_4711 is no number, and ERR_CONN_4712 another thing.
    if chunk.whole:
        return (chunk.whole,)
    return chunk.parts if chunk.unspaced else (_singular(chunk.parts[0]),)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word

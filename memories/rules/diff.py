"""What differs between two JSON values, by path, and between two texts, word by word."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from memories.rules.alignment import Block, align
from memories.rules.claims import exact_number
from memories.rules.pointers import escape

# What the search for changed words may cost, all lines together.
_STEPS: Final = 300_000
# More sentences are only compared from both ends.
_MOST_SENTENCES: Final = 300_000
# Longer stretches of changed text likewise.
_LONGEST: Final = 1_000_000
# More differences than this in one array or object are told as one: the whole was replaced.
MOST_DIFFERENCES: Final = 20_000


class Change(NamedTuple):
    """One difference: a JSON pointer, add, remove or replace, and the JSON texts (None where there is none).

    Pointers lead through the new value; the last index of a removal is that in the old one.
    """

    path: str
    operation: str
    old: str | None
    new: str | None


class Piece(NamedTuple):
    """A stretch of text: equal, remove or add."""

    operation: str
    text: str


class _Number:
    """A number with fraction or exponent, as it was written and as it is compared."""

    __slots__ = ("exact", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.exact = exact_number(text)


class _Numbers(dict[str, _Number]):
    """Numbers by their spelling, each made once."""

    def __missing__(self, text: str) -> _Number:
        number = self[text] = _Number(text)
        return number


def diff(old: str, new: str) -> list[Change]:
    """Return what differs between two JSON texts, in the order of the new one.

    The spelling of numbers and the order of keys make no difference. Array elements are lined up where that is cheap,
    and an element that changed is looked into.

    :raises ValueError: one of them is not JSON.
    """
    if old == new:
        return []
    read = _Numbers().__getitem__
    ours, theirs = json.loads(old, parse_float=read), json.loads(new, parse_float=read)
    return [
        Change("", change.operation, old, new) if change.path == "" else change
        for change in _Trees().changes("", ours, theirs)
    ]


class _Trees:
    """Two values whose equal parts have equal tokens, so that each part is compared once."""

    def __init__(self) -> None:
        self._shapes: dict[Any, tuple[str, int]] = {}
        self._tokens: dict[int, tuple[str, int]] = {}

    def token(self, node: Any) -> Any:
        kind = type(node)
        if kind is str or kind is int:
            return node
        if kind is list or kind is dict:
            return self._container(node)
        # An exact number is an integer or a text no stored string can be; words must not equal 0 and 1.
        return node.exact if kind is _Number else (repr(node),)

    def _container(self, node: Any) -> tuple[str, int]:
        if not node:
            return (repr(node), 0)
        token = self._tokens.get(id(node))
        if token is None:
            if isinstance(node, list):
                shape: Any = tuple(map(self.token, node))
            else:
                shape = frozenset((name, self.token(part)) for name, part in node.items())
            token = self._shapes.setdefault(shape, ("#", len(self._shapes)))
            self._tokens[id(node)] = token
        return token

    def changes(self, path: str, old: Any, new: Any) -> Iterator[Change]:
        if self.token(old) == self.token(new):
            return
        if isinstance(old, dict) and isinstance(new, dict):
            yield from self._in_object(path, old, new)
        elif isinstance(old, list) and isinstance(new, list):
            yield from self._in_array(path, old, new)
        else:
            yield _replaced(path, old, new)

    def _in_object(self, path: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
        gone = [name for name in old if name not in new]
        if len(gone) + len(new) > MOST_DIFFERENCES:
            changed = sum(name not in old or self.token(old[name]) != self.token(new[name]) for name in new)
            if len(gone) + changed > MOST_DIFFERENCES:
                yield _replaced(path, old, new)
                return
        for name in gone:
            yield Change(f"{path}/{escape(name)}", "remove", _text(old[name]), None)
        for name, part in new.items():
            place = f"{path}/{escape(name)}"
            if name in old:
                yield from self.changes(place, old[name], part)
            else:
                yield Change(place, "add", None, _text(part))

    def _in_array(self, path: str, old: list[Any], new: list[Any]) -> Iterator[Change]:
        blocks = align([*map(self.token, old)], [*map(self.token, new)])
        if sum(max(block.old_end - block.old_start, block.new_end - block.new_start) for block in blocks) > (
            MOST_DIFFERENCES
        ):
            yield _replaced(path, old, new)
            return
        for block in blocks:
            yield from self._in_block(path, old, new, block)

    def _in_block(self, path: str, old: list[Any], new: list[Any], block: Block) -> Iterator[Change]:
        """Yield the differences in a stretch of an array: as many as there are on both sides are taken for changed."""
        both = min(block.old_end - block.old_start, block.new_end - block.new_start)
        for i in range(both):
            at = block.new_start + i
            yield from self.changes(f"{path}/{at}", old[block.old_start + i], new[at])
        for at in range(block.old_start + both, block.old_end):
            yield Change(f"{path}/{at}", "remove", _text(old[at]), None)
        for at in range(block.new_start + both, block.new_end):
            yield Change(f"{path}/{at}", "add", None, _text(new[at]))


def _replaced(path: str, old: Any, new: Any) -> Change:
    if path == "":
        # The whole of a value is at hand as it was sent.
        return Change(path, "replace", None, None)
    return Change(path, "replace", _text(old), _text(new))


def _text(node: Any) -> str:
    """Return a part as JSON text, numbers as they were written."""
    # No stored string holds NUL, so what stands between two is a number on its way through the encoder.
    text = json.dumps(node, ensure_ascii=False, separators=(",", ":"), default=lambda number: f"\0{number.text}\0")
    return _BETWEEN_NULS.sub(r"\1", text)


_BETWEEN_NULS = re.compile(r'"\\u0000([^"\\]*)\\u0000"')

_SENTENCES = re.compile(r"[^\n.!?;]*+[\n.!?;]++\s*+|[^\n.!?;]++")
# Words, runs of white space, and single signs; scripts without spaces go letter by letter.
_WORDS = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]+|[^\S\n]+|[\s\S]")


def word_diff(old: str, new: str) -> list[Piece]:
    """Return the pieces that make two texts of one: joined without what is added they are the old, without what is
    removed the new. Lines and sentences are lined up first, then the words within those that changed; very different
    texts cost no more, they are told in larger pieces.
    """
    if old == new:
        return [Piece("equal", old)] if old else []
    return _joined(_sentence_pieces(_SENTENCES.findall(old), _SENTENCES.findall(new)))


def _sentence_pieces(ours: list[str], theirs: list[str]) -> Iterator[Piece]:
    at = 0
    blocks = align(ours, theirs, steps=_STEPS if len(ours) + len(theirs) <= _MOST_SENTENCES else 0)
    for block in blocks:
        yield Piece("equal", "".join(ours[at : block.old_start]))
        removed = "".join(ours[block.old_start : block.old_end])
        added = "".join(theirs[block.new_start : block.new_end])
        yield from _word_pieces(removed, added, steps=_STEPS // len(blocks))
        at = block.old_end
    yield Piece("equal", "".join(ours[at:]))


def _word_pieces(old: str, new: str, *, steps: int) -> Iterator[Piece]:
    if not old or not new:
        yield from (Piece("remove", old), Piece("add", new))
        return
    ours, theirs = _WORDS.findall(old), _WORDS.findall(new)
    at = 0
    for block in align(ours, theirs, steps=steps if len(old) + len(new) <= _LONGEST else 0):
        yield Piece("equal", "".join(ours[at : block.old_start]))
        yield Piece("remove", "".join(ours[block.old_start : block.old_end]))
        yield Piece("add", "".join(theirs[block.new_start : block.new_end]))
        at = block.old_end
    yield Piece("equal", "".join(ours[at:]))


def _joined(pieces: Iterator[Piece]) -> list[Piece]:
    """Return pieces without empty ones, neighbours of one kind made one."""
    joined: list[Piece] = []
    for piece in pieces:
        if piece.text and joined and joined[-1].operation == piece.operation:
            joined[-1] = Piece(piece.operation, joined[-1].text + piece.text)
        elif piece.text:
            joined.append(piece)
    return joined

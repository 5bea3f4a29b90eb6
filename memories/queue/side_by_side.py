"""Two JSON values line by line, beside each other, what is the same folded away. Pure.

Key order and the spelling of numbers make no difference, so the newer value is laid out in the older one's order.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memories.rules import diff
from memories.rules.alignment import Block, align
from memories.rules.claims import exact_number
from memories.rules.diff import Piece
from senselab import jsontext
from senselab.jsontext import Fields, Node, Number

# Longer values take seconds to lay out; their differences by path are told all the same.
LONGEST_JSON = 300_000
LINES_SHOWN = 400
CONTEXT = 3
LONGEST_FOLD = 200
# So many characters are compared word by word; what is beyond is told line by line.
WORDS_BUDGET = 60_000
# Lines with less in common than this are told as two.
ALIKE = 0.3


class Text(NamedTuple):
    """A line: as it is shown, and what it is compared by."""

    shown: str
    token: Any


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a value, in pieces, and its number from 1."""

    number: int
    pieces: list[Piece]


@dataclass(frozen=True, slots=True)
class Pair:
    """A line on each side, or on one only; unless `changed` they say the same."""

    old: Line | None
    new: Line | None
    changed: bool


@dataclass(frozen=True, slots=True)
class Section:
    """Lines that stand together. `folded` says how many unchanged lines are folded, 0 for lines to be seen at once.

    A fold of more than 200 lines holds none of them.
    """

    pairs: list[Pair]
    folded: int = 0


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All sections in order; `left_out` is how many lines that differ are not among them."""

    sections: list[Section]
    left_out: int


def side_by_side(old: str, new: str) -> SideBySide | None:
    """Return two JSON texts beside each other; None when they are too long to be laid out (texts never are).

    :raises ValueError: one of them is not JSON.
    """
    is_text = old.startswith('"') and new.startswith('"')
    if not is_text and max(len(old), len(new)) > LONGEST_JSON:
        return None
    ours, theirs = jsontext.parse(old), jsontext.parse(new)
    before, after = lines(ours), lines(in_order_of(theirs, ours))
    blocks = align([line.token for line in before], [line.token for line in after])
    return Layout(before, after).laid_out(blocks)


def in_order_of(node: Node, model: Node) -> Node:
    """Return a value with the keys it shares with another in that one's order, its own keys where they stood."""
    if isinstance(node, list) and isinstance(model, list) and len(node) == len(model):
        return [in_order_of(item, other) for item, other in zip(node, model, strict=True)]
    if not isinstance(node, Fields) or not isinstance(model, Fields):
        return node
    # Of a key that appears twice the last counts.
    own, others = dict(node.pairs), dict(model.pairs)
    shared = iter([name for name in others if name in own])
    ordered = [next(shared) if name in others else name for name in own]
    return Fields([(name, in_order_of(own[name], others.get(name))) for name in ordered])


def lines(node: Node) -> list[Text]:
    """Return a value as lines: a text as its own lines, anything else as indented JSON."""
    if isinstance(node, str):
        return [Text(line, line) for line in node.split("\n")]
    found: list[Text] = []
    add_lines(found, node, "", "", "")
    return found


def add_lines(found: list[Text], node: Node, indent: str, label: str, comma: str) -> None:
    """Add a value as indented JSON; a comma behind a line makes no difference."""
    if jsontext.small(node):
        found.append(Text(f"{indent}{label}{jsontext.plain(node)}{comma}", (indent, label, token(node))))
        return
    opening, closing = "{}" if isinstance(node, Fields) else "[]"
    found.append(Text(f"{indent}{label}{opening}", (indent, label, opening)))
    items: Sequence[tuple[str | None, Node]] = (
        node.pairs if isinstance(node, Fields) else [(None, item) for item in node]  # type: ignore[union-attr]
    )
    last = len(items) - 1
    for at, (name, value) in enumerate(items):
        named = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
        add_lines(found, value, indent + "  ", named, "," if at < last else "")
    found.append(Text(f"{indent}{closing}{comma}", (indent, closing)))


def token(node: Node) -> Any:
    """Return what a small value is compared by: the spelling of a number makes no difference, true is not 1."""
    if isinstance(node, list):
        return tuple(token(item) for item in node)
    if isinstance(node, Number):
        return ("number", exact_number(node.text))
    return (type(node).__name__, node if isinstance(node, str | bool) else None)


class Layout:
    """Two lists of lines on their way to sections."""

    def __init__(self, old: list[Text], new: list[Text]) -> None:
        self.old, self.new = old, new
        self.sections: list[Section] = []
        self.shown = self.left_out = 0
        self.words = WORDS_BUDGET

    def laid_out(self, blocks: list[Block]) -> SideBySide:
        at, to = 0, 0
        for block in blocks:
            self.unchanged(at, block.old_start, to, is_first=at == 0 and to == 0)
            self.changed(block)
            at, to = block.old_end, block.new_end
        self.unchanged(at, len(self.old), to, is_last=True)
        return SideBySide(self.sections, self.left_out)

    def unchanged(self, start: int, end: int, new_start: int, *, is_first: bool = False, is_last: bool = False) -> None:
        """Add equal lines: some beside each change, the others folded."""
        count = end - start
        head, tail = 0 if is_first else CONTEXT, 0 if is_last else CONTEXT
        folded = count - head - tail
        if folded <= 1:
            self.equal(start, new_start, count)
            return
        self.equal(start, new_start, head)
        held = self.pairs(start + head, new_start + head, folded) if folded <= LONGEST_FOLD else []
        self.sections.append(Section(held, folded))
        self.equal(end - tail, new_start + count - tail, tail)

    def equal(self, start: int, new_start: int, count: int) -> None:
        if count and self.shown < LINES_SHOWN:
            self.add(self.pairs(start, new_start, count))

    def pairs(self, start: int, new_start: int, count: int) -> list[Pair]:
        return [
            Pair(plain(start + i, self.old[start + i]), plain(new_start + i, self.new[new_start + i]), changed=False)
            for i in range(count)
        ]

    def changed(self, block: Block) -> None:
        """Add lines that differ: as many as there are on both sides stand beside each other."""
        ours, theirs = range(block.old_start, block.old_end), range(block.new_start, block.new_end)
        room = max(0, LINES_SHOWN - self.shown)
        longer = max(len(ours), len(theirs))
        self.left_out += max(0, longer - room)
        self.shown += min(longer, room)
        self.add([self.pair(ours[i : i + 1], theirs[i : i + 1]) for i in range(min(longer, room))])

    def pair(self, ours: range, theirs: range) -> Pair:
        if ours and theirs:
            a, b = ours[0], theirs[0]
            pieces = self.compared(self.old[a].shown, self.new[b].shown)
            return Pair(Line(a + 1, pieces), Line(b + 1, pieces), changed=True)
        old = plain(ours[0], self.old[ours[0]]) if ours else None
        new = plain(theirs[0], self.new[theirs[0]]) if theirs else None
        return Pair(old, new, changed=True)

    def compared(self, old: str, new: str) -> list[Piece]:
        self.words -= len(old) + len(new)
        return (
            words(old, new) if self.words > 0 or self.words + len(old) + len(new) == WORDS_BUDGET else whole(old, new)
        )

    def add(self, pairs: list[Pair]) -> None:
        if not pairs:
            return
        if self.sections and not self.sections[-1].folded:
            self.sections[-1].pairs.extend(pairs)
        else:
            self.sections.append(Section(pairs))


def plain(at: int, text: Text) -> Line:
    return Line(at + 1, [Piece("equal", text.shown)])


def whole(old: str, new: str) -> list[Piece]:
    return [Piece("remove", old), Piece("add", new)]


def words(old: str, new: str) -> list[Piece]:
    """Return the pieces of two texts; when they have little in common, one for each."""
    pieces = diff.word_diff(old, new)
    same = sum(len(piece.text) for piece in pieces if piece.operation == "equal")
    return pieces if same >= ALIKE * min(len(old), len(new)) else whole(old, new)

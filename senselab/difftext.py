"""Two texts made one: what was taken away, what was added, and unchanged stretches folded. Escaped HTML throughout.

Pieces are (operation, text) pairs, the operation equal, remove or add.
"""

from collections.abc import Sequence

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from senselab import jsontext, wording

Pieces = Sequence[tuple[str, str]]

# An unchanged stretch keeps so many characters beside a change; shorter ones stay whole.
BESIDE = 60
WHOLE = 3 * BESIDE
LONGEST_CHANGE = 2_000
TAGS = {"remove": "del", "add": "ins"}


def woven(pieces: Pieces) -> SafeString:
    """Return both texts as one: removed words struck out, added ones after them."""
    return joined(pieces, {"remove", "add"})


def old_side(pieces: Pieces) -> SafeString:
    """Return the older text, with what is gone from the newer one marked."""
    return joined(pieces, {"remove"})


def new_side(pieces: Pieces) -> SafeString:
    """Return the newer text, with what the older one lacks marked."""
    return joined(pieces, {"add"})


def joined(pieces: Pieces, kept: set[str]) -> SafeString:
    shown = [(operation, text) for operation, text in phrases(pieces) if operation == "equal" or operation in kept]
    last = len(shown) - 1
    is_mixed = last > 0
    parts = [
        changed(operation, text)
        if operation in TAGS
        else folded(text, ends=(is_mixed and at > 0, is_mixed and at < last))
        for at, (operation, text) in enumerate(shown)
    ]
    return mark_safe("".join(parts))


def phrases(pieces: Pieces) -> list[tuple[str, str]]:
    """Return the pieces with words that changed one after the other made one: a space that stayed parts nothing."""
    found: list[tuple[str, str]] = []
    old = new = ""
    for at, (operation, text) in enumerate(pieces):
        is_gap = bool(old or new) and text.isspace() and "\n" not in text and at + 1 < len(pieces)
        if operation == "equal" and not is_gap:
            found += [*parted(old, new), (operation, text)]
            old = new = ""
        else:
            old += text if operation != "add" else ""
            new += text if operation != "remove" else ""
    return [*found, *parted(old, new)]


def parted(old: str, new: str) -> list[tuple[str, str]]:
    """Return what was replaced by what, white space at the end of both as unchanged."""
    same = len(old) - len(old.rstrip()) if old and new else 0
    while same and not new.endswith(old[-same:]):
        same -= 1
    tail = old[len(old) - same :]
    parts = [("remove", old[: len(old) - same]), ("add", new[: len(new) - same]), ("equal", tail)]
    return [part for part in parts if part[1]]


def changed(operation: str, text: str) -> SafeString:
    return format_html("<{0}>{1}</{0}>", TAGS[operation], jsontext.marked(text, limit=LONGEST_CHANGE))


def folded(text: str, ends: tuple[bool, bool]) -> SafeString:
    """Return unchanged text; of a long one only what stands beside a change, which is at its (left, right) end."""
    left, right = (BESIDE if end else 0 for end in ends)
    if not any(ends):
        left = WHOLE
    if len(text) <= max(WHOLE, left + right):
        return jsontext.marked(text)
    rest = format_html(
        '<span class="cut"> … {} characters unchanged … </span>', wording.grouped(len(text) - left - right)
    )
    return jsontext.marked(text[:left]) + rest + (jsontext.marked(text[-right:]) if right else SafeString(""))

"""Which entry an entry key means to those who see another entry."""

from memories import heads
from memories.heads import Head
from memories.viewers import Viewer

NAMED = """
    e.branch = %s AND e.owner = ANY(%s)
    AND (e.entity_path, e.key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
"""


def known(account_id: int, head: Head, entry_key: str, *, viewer: Viewer | None = None) -> Head | None:
    """Return the entry of a key that all who see `head` know: its owner's private one first, the shortest key first.

    With a viewer it lies within the globs of their key, too.
    """
    splits = [(entry_key[:at], entry_key[at + 1 :]) for at, letter in enumerate(entry_key) if letter == "/"]
    parameters = [head.branch, ["", head.owner], [path for path, _ in splits], [key for _, key in splits]]
    found = heads.read(account_id, NAMED, parameters)
    if viewer is not None:
        found = [other for other in found if viewer.reaches_path(other.entity_path)]
    return max(found, key=lambda other: (other.owner != "", len(other.entity_path)), default=None)

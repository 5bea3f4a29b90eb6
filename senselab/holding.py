"""Answers that stream hold a place for as long as they last: so many in a process, and so many of one holder.

Threads and snapshots of the database are few; whoever takes all there are keeps out others, not only themselves.
"""

import threading
from collections import Counter
from collections.abc import Hashable, Iterator

from senselab.errors import Busy, TooMany


class Places:
    """So many places in this process, of which one holder has at most `each`; `what` they are for, in words."""

    def __init__(self, what: str, most: int, each: int) -> None:
        self.what, self.most, self.each = what, max(1, most), max(1, each)
        self._lock = threading.Lock()
        self._held: Counter[Hashable] = Counter()

    def take(self, holder: Hashable) -> None:
        """Take a place.

        :raises TooMany: this holder has as many as one may have.
        :raises Busy: there is none left.
        """
        with self._lock:
            if self._held[holder] >= self.each:
                raise TooMany(f"{self.each} {self.what} of yours are open already; close one first.")
            if self._held.total() >= self.most:
                raise Busy(f"All {self.what} this server keeps open are taken; try again.")
            self._held[holder] += 1

    def leave(self, holder: Hashable) -> None:
        with self._lock:
            self._held[holder] -= 1
            if self._held[holder] <= 0:
                del self._held[holder]

    def hold(self, pieces: Iterator[bytes], holder: Hashable) -> "Held":
        """Return the pieces of an answer with a place for as long as they last.

        :raises TooMany: as `take` does; so does Busy.
        """
        self.take(holder)
        return Held(pieces, self, holder)


class Held:
    """Pieces and the place they hold, which is free again however they end, even if nobody asked for the first."""

    def __init__(self, pieces: Iterator[bytes], places: Places, holder: Hashable) -> None:
        self.pieces, self.places, self.holder = pieces, places, holder
        self.held = True

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return next(self.pieces)

    def close(self) -> None:
        if not self.held:
            return
        self.held = False
        try:
            close = getattr(self.pieces, "close", None)
            if close is not None:
                close()
        finally:
            self.places.leave(self.holder)

    __del__ = close


# An export reads a whole account as of one moment, for as long as somebody reads it.
exports = Places("exports", 4, 2)

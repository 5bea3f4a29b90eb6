"""Which entity paths a key reaches: globs compiled once, to equalities and ranges where they can be, else to a pattern.

`*` alone is every path; `**` any depth; `*` one segment; `?` one character; a glob matches the whole path or nothing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from senselab.errors import Invalid

PERMISSIONS = ("read", "write", "read_write")
MOST = 50
GLOB_BYTES = 1024
_WILD = re.compile(r"(\*+|\?)")


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern of entity paths, and what may be done there: read, write or read_write."""

    pattern: str
    permission: str = "read_write"

    def told(self) -> dict[str, str]:
        return {"pattern": self.pattern, "permission": self.permission}


def clean(given: Iterable[Glob | Mapping[str, Any]], *, pointer: str = "/globs") -> list[Glob]:
    """Return globs that can be kept with a key.

    :raises Invalid: there are more than 50, one is no pattern of a path, or its permission is none.
    """
    globs = [one if isinstance(one, Glob) else Glob(one.get("pattern", ""), _permission(one)) for one in given]
    if len(globs) > MOST:
        raise Invalid(f"A key takes at most {MOST} patterns.", pointer)
    for place, glob in enumerate(globs):
        if glob.permission not in PERMISSIONS:
            raise Invalid(f"A permission is one of {', '.join(PERMISSIONS)}.", f"{pointer}/{place}/permission")
        text = glob.pattern
        if not isinstance(text, str) or not text or len(text.encode(errors="replace")) > GLOB_BYTES or _odd(text):
            words = f"A pattern is 1 to {GLOB_BYTES} bytes of text without control characters."
            raise Invalid(words, f"{pointer}/{place}/pattern")
    return globs


def _permission(given: Mapping[str, Any]) -> str:
    return str(given.get("permission") or "read_write")


def _odd(text: str) -> bool:
    return re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", text) is not None


@dataclass(frozen=True, slots=True)
class Reach:
    """Some globs as one condition: the paths named whole, those below a prefix, and a pattern for the rest."""

    exact: tuple[str, ...]
    below: tuple[str, ...]
    pattern: str
    matcher: re.Pattern[str]

    def holds(self, path: str) -> bool:
        return self.matcher.fullmatch(path) is not None

    def sql(self, column: str, name: str) -> str:
        """Return the condition on a column; the values it binds are those of `values` under the same name."""
        parts = [f"{column} = ANY(%({name}_exact)s)"] if self.exact else []
        for place in range(len(self.below)):
            below = f"%({name}_below_{place})s"
            # The range finds the paths down an index; starts_with holds whatever the database's collation.
            parts.append(
                f"({column} >= {below} AND {column} < %({name}_beyond_{place})s AND starts_with({column}, {below}))"
            )
        if self.pattern:
            parts.append(f"{column} ~ %({name}_pattern)s")
        return f"({' OR '.join(parts)})" if parts else "FALSE"

    def values(self, name: str) -> dict[str, Any]:
        bound: dict[str, Any] = {f"{name}_exact": list(self.exact)} if self.exact else {}
        for place, prefix in enumerate(self.below):
            # '0' is the character after '/'.
            bound |= {f"{name}_below_{place}": f"{prefix}/", f"{name}_beyond_{place}": f"{prefix}0"}
        return bound | ({f"{name}_pattern": self.pattern} if self.pattern else {})

    @property
    def entry_key_pattern(self) -> str:
        """Return what PostgreSQL matches with the paths within reach and the entry keys below them."""
        return f"^(?:{self.matcher.pattern})(?:/.*)?$"

    def of_entry_key(self, entry_key: str) -> bool:
        """Tell whether a path and a key within reach can be what an entry key stands for."""
        return any(self.holds(entry_key[:at]) for at, letter in enumerate(entry_key) if letter == "/")


@dataclass(frozen=True, slots=True)
class Grant:
    """What a key with globs reaches: for reading and for writing; None is everything."""

    read: Reach | None
    write: Reach | None


EVERYTHING = Grant(None, None)


@lru_cache(maxsize=1024)
def grant_of(stored: str) -> Grant:
    """Return what the globs kept with a key, as JSON, let it reach; without any it reaches everything."""
    if stored == "[]":
        return EVERYTHING
    globs = [Glob(**one) for one in msgspec.json.decode(stored)]
    return Grant(reach(globs, "read"), reach(globs, "write"))


def reach(globs: Iterable[Glob], permission: str) -> Reach | None:
    """Return where globs permit reading or writing, None for everywhere."""
    patterns = [glob.pattern for glob in globs if glob.permission in {permission, "read_write"}]
    if any(pattern in {"*", "**"} for pattern in patterns):
        return None
    exact, below, wild = [], [], []
    for pattern in dict.fromkeys(patterns):
        prefix = pattern.removesuffix("/**")
        if not _WILD.search(pattern):
            exact.append(pattern)
        elif prefix != pattern and prefix and not _WILD.search(prefix):
            below.append(prefix)
        else:
            wild.append(pattern)
    whole = "|".join(translated(pattern) for pattern in dict.fromkeys(patterns)) or r"[^\s\S]"
    rest = f"^(?:{'|'.join(translated(pattern) for pattern in wild)})$" if wild else ""
    return Reach(tuple(exact), tuple(below), rest, re.compile(whole, re.DOTALL))


def translated(pattern: str) -> str:
    """Return a glob as a regular expression that Python and PostgreSQL read alike."""
    return "".join(_part(part) for part in _WILD.split(pattern))


def _part(text: str) -> str:
    if text.startswith("**"):
        return ".*"
    if text in {"*", "?"}:
        return "[^/]*" if text == "*" else "[^/]"
    # A backslash before anything but a letter or a digit makes it stand for itself, in both.
    return "".join(f"\\{letter}" if letter.isascii() and not letter.isalnum() else letter for letter in text)

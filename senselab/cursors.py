"""Cursors: where a list goes on, opaque to the one who carries it."""

import base64
import binascii
import json
import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from senselab.errors import Refusal


class BadCursor(Refusal):
    """A cursor nobody here made."""

    status = 400
    title = "Bad cursor"


def make(*values: Any) -> str:
    """Return a cursor for a row's sort values, safe in a URL."""
    return packed(values)


def make_after(moment: datetime, key: object) -> str:
    """Return a cursor as the public client makes one itself, of a row's moment and id."""
    return packed({"t": moment.isoformat(), "k": str(key)})


def packed(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=").decode()


def read(cursor: str, *kinds: Callable[[Any], Any]) -> list[Any]:
    """Return the values of a cursor, each through its kind.

    :raises BadCursor: it is not one of those we make.
    """
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if isinstance(values, dict):
            values = [values.get("t"), values.get("k")]
        if not isinstance(values, list) or len(values) != len(kinds):
            raise BadCursor("This cursor cannot be read.")
        return [kept(kind(value)) for kind, value in zip(kinds, values, strict=True)]
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error) as error:
        raise BadCursor("This cursor cannot be read.") from error


def kept(value: Any) -> Any:
    """Return a value that PostgreSQL can compare with.

    :raises ValueError: a number beyond 64 bits or not finite, a moment without a time zone, a text with NUL.
    """
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("beyond 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not finite")
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError("no time zone")
    if isinstance(value, str) and "\0" in value:
        raise ValueError("NUL")
    return value

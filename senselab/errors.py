"""Named refusals: what the product says no to, with the status and the words that go out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a request something is wrong: a JSON pointer and one sentence."""

    pointer: str
    detail: str


class Refusal(Exception):
    """Something the product will not do; `str` is one sentence for the caller."""

    status = 422
    title = "Refused"
    # After how many seconds it is worth asking again, where it is.
    retry: int | None = None

    def __init__(self, detail: str, *, places: Sequence[Place] = (), extra: Mapping[str, Any] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.places = tuple(places)
        self.extra = dict(extra or {})


class Invalid(Refusal):
    """A value that cannot be: `places` point at it."""

    title = "Invalid input"

    def __init__(self, detail: str, pointer: str = "") -> None:
        super().__init__(detail, places=[Place(pointer, detail)])


class NotFound(Refusal):
    status = 404
    title = "Not found"


class Forbidden(Refusal):
    status = 403
    title = "Forbidden"


class Conflict(Refusal):
    status = 409
    title = "Conflict"


class StaleVersion(Refusal):
    """Somebody wrote since the caller last looked; `extra` tells the current version."""

    status = 412
    title = "Somebody wrote first"


class TooLarge(Refusal):
    status = 413
    title = "Too large"


class Busy(Refusal):
    """Everything there is of something is taken, by whomever."""

    status = 503
    title = "Busy"
    retry = 5


class TooMany(Refusal):
    """The caller holds as much of something as one may."""

    status = 429
    title = "Too many at once"
    retry = 5

"""What the addresses of lists say: filters as chips, values that cannot be, and the way to the next page."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import QueryDict

from senselab import wording
from senselab.errors import Refusal


class Unfit(ValueError):
    """A parameter that cannot be; `detail` says why."""

    @property
    def detail(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter as people read it, and the address's query without it."""

    name: str
    label: str
    words: str
    without: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A parameter that cannot be, and why."""

    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class Given:
    """The values of one parameter, none of them empty."""

    values: list[str]
    query: QueryDict
    now: datetime

    @property
    def last(self) -> str:
        return self.values[-1]


Parsers = Mapping[str, Callable[[Given], dict[str, Any]]]


def parse(
    query: QueryDict, parsers: Parsers, labels: Mapping[str, str], now: datetime
) -> tuple[dict[str, Any], list[Problem]]:
    """Return what the parameters of an address mean, and those that mean nothing."""
    asked: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, parser in parsers.items():
        given = [value for value in query.getlist(name) if value.strip()]
        try:
            asked |= parser(Given(given, query, now)) if given else {}
        except (Unfit, Refusal) as error:
            problems.append(Problem(labels.get(name, name), error.detail))
    return asked, problems


def one_of(words: Iterable[str], given: list[str]) -> list[str]:
    """Return the given words, each once.

    :raises Unfit: one is none of those known.
    """
    known = list(words)
    for word in given:
        if word not in known:
            raise Unfit(f"One of {', '.join(known)} is meant, not “{wording.cut(word, 40)}”.")
    return list(dict.fromkeys(given))


def text(given: str, most: int) -> str:
    """:raises Unfit: it is too long or holds what no stored text can."""
    words = given.strip()
    if len(words) > most or "\0" in words:
        raise Unfit(f"At most {most:,} characters, and no NUL among them.")
    return words


def day(given: str) -> datetime:
    """Return the start of a day in UTC.

    :raises Unfit: it is no day.
    """
    try:
        at = datetime.strptime(given.strip(), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise Unfit(f"A day is meant, such as 2026-11-30, not “{wording.cut(given, 40)}”.") from error
    if not 1970 <= at.year <= 9000:
        raise Unfit("A day between 1970 and 9000 is meant.")
    return at


def day_after(given: str) -> datetime:
    """Return the end of a day, which is the start of the next. :raises Unfit: it is no day."""
    return day(given) + timedelta(days=1)


def without(query: QueryDict, *gone: str) -> str:
    """Return the query less some parameters and the page, empty ones left out: "?status=active"."""
    kept = QueryDict(mutable=True)
    for name, values in query.lists():
        full = [value for value in values if value.strip()]
        if full and name not in {*gone, "cursor"}:
            kept.setlist(name, full)
    return f"?{kept.urlencode()}"


def chip(query: QueryDict, name: str, label: str, words: str, *also: str) -> Chip:
    """Return a chip; removing it takes the parameter away, and those that mean nothing without it."""
    return Chip(name, label, words, without(query, name, *also))


def page_after(query: QueryDict, cursor: str) -> str:
    """Return the query of the page that goes on after this one, '' on the last page."""
    if not cursor:
        return ""
    kept = without(query)
    return f"{kept}{'&' if len(kept) > 1 else ''}cursor={cursor}"

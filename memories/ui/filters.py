"""What the address of the list of entries says: a search, a chip for each filter, and what makes no sense.

Pure: query string in, plain values out. Parameters: q, path (with exact=1: that path alone), type, status, evidence,
tier, agent, prefix, min, max, visibility, expires (days), sort, branch, cursor. All but the last three are filters.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from memories.rules import names
from memories.rules.kinds import EvidenceStatus, MemoryType, Status
from memories.search import AFTER, Search
from senselab import addresses, cursors, wording
from senselab.addresses import Chip, Problem, Unfit, one_of, text
from senselab.cursors import BadCursor

PAGE = 50
LONGEST_QUERY = 1_000
LONGEST_WAIT = 3_650  # days
BIGGEST_ID = 2**63 - 1
ANY = "any"
TIERS = {"hot": 1, "warm": 2, "archive": 3}
VISIBILITIES = {"shared": False, "private": True}
SORTS = {
    "recency": "Newest first",
    "oldest": "Oldest first",
    "doubt": "Most doubtful first",
    "confidence": "Surest first",
    "name": "By name",
}
LABELS = {
    "q": "words",
    "path": "entity",
    "type": "type",
    "status": "status",
    "evidence": "evidence",
    "tier": "tier",
    "agent": "agent",
    "prefix": "key",
    "min": "confidence",
    "max": "confidence",
    "visibility": "visibility",
    "expires": "expires",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What was asked for. With problems nothing is searched; `seen` rows stand on the pages before this one."""

    search: Search
    seen: int
    chips: list[Chip]
    problems: list[Problem]

    @property
    def without(self) -> dict[str, Search]:
        """Return the same search less one filter each, for those that have a chip."""
        return {
            chip.name: replace(self.search, after=(), **{name: DEFAULTS[name] for name in FIELDS[chip.name]})
            for chip in self.chips
        }


# Which fields of a search each parameter decides.
FIELDS = {
    "q": ("words",),
    "path": ("entity_path", "descendants"),
    "type": ("memory_types",),
    "status": ("statuses",),
    "evidence": ("evidence",),
    "tier": ("tiers",),
    "agent": ("agent_id",),
    "prefix": ("key_prefix",),
    "min": ("min_confidence",),
    "max": ("max_confidence",),
    "visibility": ("private",),
    "expires": ("expires_by",),
}
DEFAULTS = {field: getattr(Search(), field) for fields in FIELDS.values() for field in fields}


def read(query: QueryDict, now: datetime) -> Filters:
    """Return what an address asks for."""
    asked, problems = addresses.parse(query, PARSERS, LABELS, now)
    if asked.get("min_confidence", 0) > asked.get("max_confidence", 1):
        problems.append(Problem("confidence", "The lowest confidence is above the highest."))
    sort = asked.get("sort", "recency")
    seen: int = 0
    after: tuple[str, ...] = ()
    try:
        seen, after = cursor_of(query.get("cursor", ""), sort)
    except BadCursor as error:
        problems.append(Problem("page", f"{error.detail} Start again at the first page."))
    search = Search(**{**asked, "sort": sort, "limit": PAGE, "after": after})
    return Filters(search, seen, list(chips(query, search)), problems)


# Of these an address may name several values; of the others the last counts.
SEVERAL = ("type", "status", "evidence", "tier")
USUAL = {"sort": "recency", "branch": "main"}


def canonical(query: QueryDict) -> str:
    """Return the one address of what an address asks for: what is usual left out, values once and in order, no page.

    Two addresses of the same search have the same one, and it asks for the same; what cannot be stays as it is.
    """
    kept: list[tuple[str, str]] = []
    for name in PARSERS:
        given = [value for value in query.getlist(name) if value.strip()]
        given = [" ".join(value.split()) for value in given] if name == "q" else given
        chosen = sorted(set(given)) if name in SEVERAL else given[-1:]
        kept += [(name, value) for value in chosen if value != USUAL.get(name)]
        if name == "path" and given and query.get("exact") == "1":
            kept.append(("exact", "1"))
    return urlencode(kept)


def share(given: str) -> float:
    """:raises Unfit: it is no number from 0 to 1."""
    try:
        value = float(given.replace(",", "."))
    except ValueError as error:
        raise Unfit(f"A number from 0 to 1 is meant, not “{wording.cut(given, 40)}”.") from error
    if not (math.isfinite(value) and 0 <= value <= 1):
        raise Unfit("Confidence lies between 0 and 1.")
    return value


def statuses(given: list[str]) -> tuple[str, ...]:
    """Return statuses; none of them stands for any. :raises Unfit: one is unknown."""
    words = one_of([*Status, ANY], given)
    return () if ANY in words else tuple(words)


def days(given: str) -> timedelta:
    """:raises Unfit: it is no number of days we wait for."""
    if not (given.isascii() and given.isdigit() and len(given) <= 4 and 1 <= int(given) <= LONGEST_WAIT):
        raise Unfit(f"A number of days from 1 to {LONGEST_WAIT} is meant.")
    return timedelta(days=int(given))


PARSERS: addresses.Parsers = {
    "q": lambda given: {"words": text(given.last, LONGEST_QUERY)},
    "path": lambda given: {
        "entity_path": names.clean_path(given.last, pointer=""),
        "descendants": given.query.get("exact") != "1",
    },
    "type": lambda given: {"memory_types": tuple(one_of(MemoryType, given.values))},
    "status": lambda given: {"statuses": statuses(given.values)},
    "evidence": lambda given: {"evidence": tuple(one_of(EvidenceStatus, given.values))},
    "tier": lambda given: {"tiers": tuple(TIERS[word] for word in one_of(TIERS, given.values))},
    "agent": lambda given: {"agent_id": names.clean_name(given.last, pointer="")},
    "prefix": lambda given: {"key_prefix": names.clean_key(given.last, pointer="")},
    "min": lambda given: {"min_confidence": share(given.last)},
    "max": lambda given: {"max_confidence": share(given.last)},
    "visibility": lambda given: {"private": VISIBILITIES[one_of(VISIBILITIES, given.values)[-1]]},
    "expires": lambda given: {"expires_by": given.now + days(given.last)},
    "sort": lambda given: {"sort": one_of(SORTS, given.values)[-1]},
    "branch": lambda given: {"branch": names.clean_name(given.last, pointer="")},
}


def chips(query: QueryDict, search: Search) -> Iterable[Chip]:
    """Yield a chip for each filter that is on, in the order of the form."""
    for name, label in LABELS.items():
        if any(getattr(search, field) != DEFAULTS[field] for field in FIELDS[name]):
            also = ("exact",) if name == "path" else ()
            yield addresses.chip(query, name, label, said(name, search, query), *also)


def said(name: str, search: Search, query: QueryDict) -> str:
    """Return in words what a filter asks for."""
    values = [value.strip() for value in query.getlist(name) if value.strip()]
    last = values[-1]
    one = {
        "path": last if search.descendants else f"exactly {last}",
        "prefix": wording.key_label(last) or f"{last}…",
        "min": f"≥ {search.min_confidence}",
        "max": f"≤ {search.max_confidence}",
        "expires": f"within {last} d",
        "status": " or ".join(wording.label(word).lower() for word in values) if search.statuses else ANY,
    }
    return one.get(name, " or ".join(values) if name in {"type", "evidence", "tier"} else last)


def cursor_to(after: tuple[str, ...], sort: str, seen: int) -> str:
    """Return the cursor of the next page, '' when there is none."""
    return cursors.make(sort, seen, *after) if after else ""


def cursor_of(cursor: str, sort: str) -> tuple[int, tuple[str, ...]]:
    """Return how many rows came before, and what the page goes on after.

    :raises BadCursor: nobody here made it, or it belongs to another order.
    """
    if not cursor:
        return 0, ()
    fields = [KINDS[name] for name in AFTER[sort][1]]
    made_for, seen, *after = cursors.read(cursor, str, whole, *fields)
    if made_for != sort:
        raise BadCursor("This page belongs to another order.")
    return seen, tuple(after)


def whole(value: Any) -> int:
    number = int(value)
    if not 0 <= number <= BIGGEST_ID:
        raise ValueError(value)
    return number


def finite(value: Any) -> str:
    if not math.isfinite(float(value)):
        raise ValueError(value)
    return repr(float(value))


def moment(value: Any) -> str:
    at = datetime.fromisoformat(value)
    if at.tzinfo is None:
        raise ValueError(value)
    return at.astimezone(UTC).isoformat()


def plain(value: Any) -> str:
    # What is no UTF-8 (half a surrogate pair) cannot even be asked for.
    if not isinstance(value, str) or b"\0" in value.encode():
        raise ValueError(value)
    return value


KINDS: dict[str, Callable[[Any], Any]] = {
    "settled_confidence": finite,
    "entry_id": lambda value: str(whole(value)),
    "written_at": moment,
    "entity_path": plain,
    "key": plain,
    "owner": plain,
}

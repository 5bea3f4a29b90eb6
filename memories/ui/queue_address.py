"""What the address of the review queue says: which part of it, which item is open, and how it is to be decided.

Pure. Parameters: reason (several), path, agent, age, sort, branch, cursor; item (an id) and how (a word) beside them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.http import QueryDict
from django.urls import reverse

from memories.queue.review import ORDERS, Queue, Reason
from memories.rules import names
from memories.rules.decisions import Word
from senselab import addresses
from senselab.addresses import Chip, Problem, one_of

REASONS = {
    Reason.UNDER_REVIEW.value: "Under review",
    Reason.DISCREDITED.value: "Discredited",
    Reason.CONTESTED.value: "Contested",
    Reason.REJECTED.value: "Rejected by a user",
    Reason.EXPIRING.value: "Expiring soon",
}
AGES = {
    "day": ("at most a day", {"younger_than": timedelta(days=1)}),
    "week": ("at most a week", {"younger_than": timedelta(days=7)}),
    "over-week": ("a week or longer", {"older_than": timedelta(days=7)}),
    "over-month": ("a month or longer", {"older_than": timedelta(days=30)}),
}
SORTS = {"doubt": "Most doubtful first", "oldest": "Longest waiting first"}
LABELS = {"reason": "reason", "path": "entity", "agent": "agent", "age": "waiting"}
# What a person tells more about before it is done.
HOWS = (Word.EDIT, Word.ROLLBACK, Word.SUPERSEDE, Word.SNOOZE, Word.COMMENT)
KEPT = (*LABELS, "sort", "branch", "cursor")
BIGGEST_ID = 2**63 - 1
PARSERS: addresses.Parsers = {
    "reason": lambda given: {"reasons": tuple(one_of(REASONS, given.values))},
    "path": lambda given: {"entity_path": names.clean_path(given.last.strip())},
    "agent": lambda given: {"agent_id": names.clean_name(given.last.strip())},
    "age": lambda given: AGES[one_of(AGES, given.values)[-1]][1],
    "sort": lambda given: {"sort": one_of(ORDERS, given.values)[-1]},
    "branch": lambda given: {"branch": names.clean_name(given.last, pointer="/branch")},
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Which part of the queue is asked for, with a chip for each filter; `item` is open, None means the first."""

    queue: Queue
    chips: list[Chip]
    problems: list[Problem]
    item: int | None
    how: str
    query: QueryDict

    @property
    def filters(self) -> QueryDict:
        """Return the parameters that say which part of the queue it is, and which page of it."""
        kept = QueryDict(mutable=True)
        for name in KEPT:
            if values := [value for value in self.query.getlist(name) if value.strip()]:
                kept.setlist(name, values)
        return kept

    def address(self, page: str = "review", *args: object, item: int | None = None, how: str = "") -> str:
        """Return the address of an item, or of another page that comes back to this part of the queue."""
        query = self.filters
        query.update({name: str(value) for name, value in (("item", item), ("how", how)) if value})
        address = reverse(page, args=args)
        return f"{address}?{query.urlencode()}" if query else address

    def opening(self, item: int | None, how: str = "") -> "Asked":
        """Return the same part of the queue with another item open, or the first one."""
        return replace(self, item=item, how=how)

    @property
    def start(self) -> "Asked":
        """Return the first page of the same."""
        query = self.query.copy()
        query.pop("cursor", None)
        return replace(self, queue=replace(self.queue, cursor=""), query=query, item=None, how="")


def read(query: QueryDict, now: datetime) -> Asked:
    """Return what an address asks for."""
    asked, problems = addresses.parse(query, PARSERS, LABELS, now)
    item = query.get("item", "")
    number = int(item) if item.isascii() and item.isdigit() and len(item) < 20 else None
    how = query.get("how", "")
    return Asked(
        queue=Queue(**asked, cursor=query.get("cursor", "")),
        chips=list(chips(query, asked.keys())),
        problems=problems,
        item=number if number is not None and number <= BIGGEST_ID else None,
        how=how if how in HOWS else "",
        query=query,
    )


def chips(query: QueryDict, asked: object) -> Iterator[Chip]:
    words = {"reason": lambda value: REASONS[value].lower(), "age": lambda value: AGES[value][0]}
    fields = {"reason": "reasons", "path": "entity_path", "agent": "agent_id"}
    for name, label in LABELS.items():
        given = [value.strip() for value in query.getlist(name) if value.strip()]
        known = fields[name] in asked if name in fields else any(value in AGES for value in given)  # type: ignore[operator]
        if given and known:
            told = [words[name](value) if name in words else value for value in dict.fromkeys(given)]
            yield addresses.chip(query, name, label, " or ".join(told), "item", "how")

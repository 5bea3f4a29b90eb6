"""The pages that must open quickly however much there is, and what opening one costs."""

from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.test import Client

# At most so many statements and bytes; milliseconds of the server at a million entries, nineteen times in twenty.
QUERIES, BYTES, MILLISECONDS = 12, 150_000, 150.0
FILTERS = {
    "a common word": "q=orexhal",
    "a rare word": "q=losupel",
    "a word none has": "q=zzyzx",
    "a common word and a rare one": "q=orexhal+losupel",
    "entity": "path=org3",
    "exactly one entity": "path=org3/service-30&exact=1",
    "type": "type=experience",
    "under review": "status=under_review",
    "archived, there is none": "status=archived",
    "any status": "status=any",
    "contested": "evidence=contested",
    "validated, there is none": "evidence=validated",
    "tier": "tier=archive",
    "agent": "agent=agent-3",
    "key": "prefix=note-77",
    "at least": "min=0.9",
    "at most": "max=0.3",
    "private": "visibility=private",
    "expires": "expires=7",
    "many filters": "q=orexhal&path=org3&type=fact&type=belief&min=0.6&agent=agent-3&tier=archive",
    "many filters, nothing found": "path=org3&type=procedure&min=0.6&agent=agent-3&evidence=validated&max=0.7",
}
SORTS = ("recency", "oldest", "doubt", "confidence", "name")
ADDRESSES = {
    "overview": "/",
    **{f"entries, {sort}": f"/entries/?sort={sort}" for sort in SORTS},
    **{
        f"entries, {name}, {sort}": f"/entries/?{query}&sort={sort}"
        for name, query in FILTERS.items()
        for sort in SORTS
    },
    "an entry": "/entry/?path=org3/service-0&key=note-3",
    "an entry with 500 versions": "/entry/?path=deep&key=history",
    "the same, versions below 200": "/entry/?path=deep&key=history&before=200",
    "review": "/review/",
    "review, longest waiting": "/review/?sort=oldest",
    **{
        f"review, {word}": f"/review/?reason={word}"
        for word in ("under_review", "discredited", "contested", "expiring")
    },
    "review, entity": "/review/?path=org3",
    "review, agent": "/review/?agent=agent-7",
    "review, a week or longer": "/review/?age=over-week",
    "tiers": "/tiers/",
    "tiers, archive": "/tiers/?tier=archive",
    "tiers, archive, filtered": "/tiers/?tier=archive&agent=agent-3&type=fact",
    "what the overview loads later": "/course/",
    "what review loads later": "/review/evidence/?item=8",
    "what tiers load later": "/tiers/borders/",
    "changes": "/changes/",
    "changes, kind": "/changes/?kind=outcome",
    "changes, no such kind yet": "/changes/?kind=rollback",
    "changes, actor": "/changes/?actor=agent-3",
    "changes, no such actor": "/changes/?actor=nobody",
    "changes, entity": "/changes/?entity_path=org3/service-30",
    "changes, no such entity": "/changes/?entity_path=nowhere",
    "changes, all filters": "/changes/?kind=write&actor=agent-3&entity_path=org3&since=2026-01-01",
}


@dataclass(frozen=True)
class Opened:
    """What opening a page took."""

    status: int
    queries: int
    size: int
    statements: tuple[str, ...]


def opened(client: Client, address: str) -> Opened:
    """Open a page and count; what it then loads by itself is not part of it."""
    said: list[str] = []

    def hear(execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        said.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(hear):
        answer = client.get(address)
    return Opened(answer.status_code, len(said), len(answer.content), tuple(said))

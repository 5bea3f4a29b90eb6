"""Looking through the audit trail: filtered, newest first, page by page."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from senselab import cursors
from senselab.accounts.audit import ACTIONS
from senselab.accounts.models import AuditRecord

PAGE = 100
MOST = 100_000


@dataclass(frozen=True, slots=True)
class Asked:
    """Which records: of an action, by somebody, on something, from an address, from a moment on and before another."""

    action: str = ""
    actor: str = ""
    target: str = ""
    address: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some records, newest first, and the cursor that goes on after them ('' on the last page)."""

    records: list["Shown"]
    next: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A record in words: what somebody did, and what it was before and after."""

    record: AuditRecord

    @property
    def what(self) -> str:
        return ACTIONS.get(self.record.action, self.record.action)

    @property
    def before(self) -> str:
        return _words(self.record.before)

    @property
    def after(self) -> str:
        return _words(self.record.after)


def _words(values: dict[str, Any] | None) -> str:
    told = ((name, value) for name, value in (values or {}).items() if value not in (None, "", []))
    return ", ".join(f"{name.replace('_', ' ')} {_word(value)}" for name, value in told)


def _word(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(_word(one) for one in value)
    if isinstance(value, dict) and set(value) == {"pattern", "permission"}:
        return f"{value['pattern']} ({value['permission']})"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def chosen(account_id: int, asked: Asked) -> QuerySet[AuditRecord]:
    """Return the records asked for, the last written first."""
    conditions: dict[str, Any] = {
        "action": asked.action,
        "actor": asked.actor,
        "target__icontains": asked.target,
        "address": asked.address,
        "at__gte": asked.since,
        "at__lt": asked.until,
    }
    wanted = {name: value for name, value in conditions.items() if value}
    return AuditRecord.objects.filter(account_id=account_id, **wanted).order_by("-id")


def page(account_id: int, asked: Asked, *, cursor: str = "", limit: int = PAGE) -> Page:
    """Return a page of the trail.

    :raises BadCursor: the cursor cannot be read.
    """
    found = chosen(account_id, asked)
    if cursor:
        found = found.filter(pk__lt=cursors.read(cursor, int)[0])
    records = list(found[: limit + 1])
    return Page(
        [Shown(record) for record in records[:limit]],
        cursors.make(records[limit - 1].pk) if len(records) > limit else "",
    )


def told(record: AuditRecord) -> dict[str, Any]:
    """Return a record as it travels."""
    return {
        "id": record.pk,
        "at": record.at,
        "action": record.action,
        "actor": record.actor,
        "actor_kind": record.actor_kind,
        "target": record.target,
        "before": record.before,
        "after": record.after,
        "address": record.address,
        "request_id": record.request_id,
        "count": record.count,
        "sealed": record.seal is not None,
        "number": record.number,
    }


def lines(account_id: int, asked: Asked) -> Iterator[list[Any]]:
    """Yield the trail as rows, a head first; at most 100,000."""
    names = list(told(AuditRecord(salt=b"")))
    yield names
    for record in chosen(account_id, asked)[:MOST].iterator():
        yield list(told(record).values())

"""What agents do, at the level of services: writing, reporting and going back at a moment the test names."""

import json
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from memories import heads, reads
from memories.heads import Name
from memories.rows import Row
from memories.rules.kinds import OutcomeType
from memories.rules.policy import DEFAULT, Policy
from memories.rules.values import read_value
from memories.services import ledger, rollback, writing
from memories.services.ledger import Act, Actor
from memories.services.rollback import Restored, Undone
from memories.services.writing import Draft, Stored
from memories.viewers import Viewer
from outcomes import services as outcomes
from outcomes.rules import Report
from outcomes.services import Committed
from senselab.accounts.models import Account

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ADA, BOB = "agent/ada", "agent/bob"


def agent(name: str = ADA) -> Actor:
    return Actor("agent", name)


def viewer(account: Account | int, name: str = "", *, sees_all: bool = False, policy: Policy = DEFAULT) -> Viewer:
    return Viewer(account if isinstance(account, int) else account.pk, policy, name, sees_all)


def draft(value: Any = 1, *, path: str = "shop", key: str = "retry", by: str = ADA, **more: Any) -> Draft:
    return Draft(entity_path=path, key=key, value=read_value(json.dumps(value).encode(), key=key), agent_id=by, **more)


def put(
    account: Account | int, value: Any = 1, *, now: datetime = NOON, expected: int | None = None, **more: Any
) -> Stored:
    """Write an entry; what is said of it goes into the draft."""
    written = draft(value, **more)
    account_id = account if isinstance(account, int) else account.pk
    return writing.write(account_id, written, actor=agent(written.agent_id), policy=DEFAULT, now=now, expected=expected)


def fill(account: Account, count: int, *, path: str = "shop", now: datetime = NOON, **more: Any) -> list[int]:
    """Write many entries k0, k1, ... as one change set and return their ids."""
    act = Act("write", agent(), now, DEFAULT)
    ids: list[int] = []
    for start in range(0, count, 1_000):
        numbers = range(start, min(count, start + 1_000))
        drafts = [draft(f"value {n}", path=path, key=f"k{n}", **more) for n in numbers]
        ids += ledger.append(account.pk, act, [writing.plan(one, None, act) for one in drafts]).entry_ids  # type: ignore[arg-type]
    return ids


def told(
    account: Account | int,
    ref: str,
    kind: str = "success",
    *keys: str,
    by: str = ADA,
    now: datetime = NOON,
    **more: Any,
) -> Committed:
    """Report an outcome over some entry keys."""
    report = Report(ref, OutcomeType(kind), by, keys or ("shop/retry",), **more)
    account_id = account if isinstance(account, int) else account.pk
    return outcomes.commit(account_id, report, actor=agent(by), policy=DEFAULT, now=now)


def back(account: Account | int, entry_id: int, *, to: int, expected: int, now: datetime = NOON) -> Restored:
    seen_by = viewer(account, sees_all=True)
    return rollback.roll_back(
        seen_by, entry_id, to=to, expected=expected, actor=agent(), policy=DEFAULT, reason="it was better", now=now
    )


def undone(account: Account | int, change_set_id: int, *, now: datetime = NOON) -> Undone:
    seen_by = viewer(account, sees_all=True)
    return rollback.undo(seen_by, change_set_id, actor=agent(), policy=DEFAULT, reason="never mind", now=now)


def entry(
    account: Account | int, *, path: str = "shop", key: str = "retry", by: str = ADA, now: datetime = NOON
) -> Row:
    """Return an entry that must be there."""
    row = reads.entry(viewer(account, by), "main", Name(path, key), now)
    assert row is not None
    return row


def head(account: Account | int, entry_id: int) -> heads.Head:
    (found,) = heads.by_ids(account if isinstance(account, int) else account.pk, [entry_id])
    return found


def rows_of(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()

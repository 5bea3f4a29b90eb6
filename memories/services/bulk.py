"""One decision about many entries, as a job: batch by batch, one change set, one undo; who fails says why.

A run takes the entries and versions as they were when it was asked for, so that nothing is decided about unseen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models.functions import Coalesce
from django_q.tasks import async_task

from memories.models.review import BulkRun
from memories.queue import review
from memories.queue.review import Queue
from memories.rules.decisions import Item, Word
from memories.rules.values import read_value
from memories.services import review as deciding
from memories.services.acts import Act, Actor
from memories.services.decisions import Decision
from memories.services.review import AT_ONCE, Decided
from memories.viewers import Viewer
from senselab.errors import Conflict, Invalid, NotFound

JOB = "memories.services.bulk_run.work"
# A batch takes half a second.
LEFT = timedelta(minutes=1)
ITEMS = """
    INSERT INTO memories_bulkitem (account_id, run_id, entry_id, version, to_version, state, why)
    SELECT %(account)s, %(run)s, g.entry_id, g.version, g.to_version, 'waiting', ''
      FROM unnest(%(entries)s::bigint[], %(versions)s::int[], %(targets)s::int[]) AS g(entry_id, version, to_version)
    ON CONFLICT DO NOTHING
"""
SELECTED = """
    INSERT INTO memories_bulkitem (account_id, run_id, entry_id, version, state, why)
    SELECT %(account)s, %(run)s, q.id, q.version, 'waiting', '' FROM ({members}) q
"""
COUNT = "SELECT count(*) FROM memories_bulkitem WHERE account_id = %s AND run_id = %s"
SPANS = """
    SELECT v.entry_id, max(v.number), nullif(min(v.number) - 1, 0) FROM memories_entryversion v
     WHERE v.account_id = %(account)s AND v.change_set_id = %(change_set)s GROUP BY v.entry_id
"""
# What lies outside the globs of the key that undoes is left as it is.
SPANS_WITHIN = """
    SELECT v.entry_id, max(v.number), nullif(min(v.number) - 1, 0) FROM memories_entryversion v
      JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
     WHERE v.account_id = %(account)s AND v.change_set_id = %(change_set)s AND {visible} GROUP BY v.entry_id
"""


@dataclass(frozen=True, slots=True)
class Order:
    """A decision about many: what, by whom and why; `author` is who an edit or a replacement is written by."""

    decision: Decision
    actor: Actor
    author: str
    reason: str = ""
    cause: str = ""
    undoes_id: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an order: done at once (`decided`), or on its way as a run."""

    decided: Decided | None
    run_id: int | None


def decide(viewer: Viewer, items: Sequence[Item], order: Order, now: datetime) -> Outcome:
    """Decide about selected entries: up to 200 at once, more as a run.

    :raises Invalid: nothing is selected, or something the decision needs is missing.
    """
    if not items:
        raise Invalid("Nothing is selected.", "/items")
    order.decision.check(now)
    refuse_talk(order, len(items))
    if len(items) > AT_ONCE:
        return Outcome(None, start(viewer, items, order, now, selected=f"{len(items):,} selected entries"))
    return Outcome(at_once(viewer, items, order, now), None)


def refuse_talk(order: Order, total: int) -> None:
    """:raises Invalid: a run over many entries would only talk about them."""
    if total > AT_ONCE and order.decision.word in {Word.SKIP, Word.COMMENT}:
        raise Invalid(f"A comment or a skip is for at most {AT_ONCE} entries at once.", "/decision")


def at_once(viewer: Viewer, items: Sequence[Item], order: Order, now: datetime) -> Decided:
    return deciding.apply(viewer, items, order.decision, act=act_of(order, viewer, now), author=order.author)


def decide_matching(viewer: Viewer, asked: Queue, order: Order, now: datetime, *, everything: bool = False) -> Outcome:
    """Decide about everything a filter of the queue selects; an empty filter has to be meant (`everything`).

    :raises Invalid: the filter is empty and nobody said that everything is meant, or it selects nothing.
    """
    order.decision.check(now)
    total = preview(viewer, asked, now, everything=everything)
    refuse_talk(order, total)
    if total > AT_ONCE:
        return Outcome(None, start_matching(viewer, asked, order, now))
    values = asked.values(viewer, now)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT q.id, q.version FROM ({asked.members(viewer, 'q.id, q.version')}) q", values)
        items = [Item(*row) for row in cursor.fetchall()]
    return Outcome(at_once(viewer, items, order, now), None)


def preview(viewer: Viewer, asked: Queue, now: datetime, *, everything: bool = False) -> int:
    """Return how many entries a filter selects.

    :raises Invalid: the filter is empty and nobody said that everything is meant, or it selects nothing.
    """
    if asked.is_everything and not everything:
        raise Invalid("An empty filter selects the whole queue; say `all: true` if that is meant.", "/filter")
    total = review.matching(asked, viewer, now)
    if total == 0:
        raise Invalid(f"Nothing matches: {asked.told()}.", "/filter")
    return total


@transaction.atomic
def start(viewer: Viewer, items: Sequence[Item], order: Order, now: datetime, *, selected: str) -> int:
    """Store a run over some entries, hand it to a worker, and return its id."""
    run = _run(viewer, order, now, selected)
    values: dict[str, Any] = {
        "account": viewer.account_id,
        "run": run.pk,
        "entries": [item.entry_id for item in items],
        "versions": [item.version for item in items],
        "targets": [item.to_version for item in items],
    }
    with connection.cursor() as cursor:
        cursor.execute(ITEMS, values)
    return hand_over(run)


@transaction.atomic
def start_matching(viewer: Viewer, asked: Queue, order: Order, now: datetime) -> int:
    """Store a run over everything a filter selects at this moment, hand it to a worker, and return its id."""
    run = _run(viewer, order, now, asked.told())
    members = asked.members(viewer, "q.id, q.version")
    with connection.cursor() as cursor:
        cursor.execute(SELECTED.format(members=members), asked.values(viewer, now) | {"run": run.pk})
    return hand_over(run)


def undo(viewer: Viewer, change_set_id: int, *, actor: Actor, reason: str, now: datetime) -> int:
    """Undo a change set as a run, for one too large to be undone at once, and return the run's id.

    :raises NotFound: there is no such change set.
    :raises Conflict: its entries cannot all be seen by the viewer, or it is being undone already.
    """
    with connection.cursor() as cursor:
        spans = SPANS_WITHIN.format(visible=viewer.visible()) if viewer.reaches else SPANS
        cursor.execute(spans, {**viewer.parameters, "change_set": change_set_id})
        items = [Item(*row) for row in cursor.fetchall()]
    if not items:
        raise NotFound("There is no such change set.")
    if BulkRun.objects.filter(account_id=viewer.account_id, undoes=change_set_id, finished_at=None).exists():
        raise Conflict("It is being undone already.")
    cause = f"change set {change_set_id}"
    order = Order(Decision(word=Word.UNDO), actor, actor.name, reason, cause, change_set_id)
    return start(viewer, items, order, now, selected=cause)


def _run(viewer: Viewer, order: Order, now: datetime, selected: str) -> BulkRun:
    decision, actor = order.decision, order.actor
    return BulkRun.objects.create(
        account_id=viewer.account_id,
        decision=str(decision.word),
        terms=terms_of(decision),
        selected=selected,
        kind=decision.kind(),
        cause=order.cause or decision.cause(),
        reason=order.reason,
        actor_kind=actor.kind,
        actor=actor.name,
        author=order.author,
        request_id=actor.request_id,
        undoes=order.undoes_id,
        sees_all=viewer.sees_all,
        total=0,
        created_at=now,
    )


def hand_over(run: BulkRun) -> int:
    """Count what a run is about and give it to a worker."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [run.account_id, run.pk])
        total = cursor.fetchone()[0]
    BulkRun.objects.filter(account_id=run.account_id, pk=run.pk).update(total=total)
    async_task(JOB, run.account_id, run.pk)
    return int(run.pk)


def take_up(account_id: int, now: datetime) -> list[int]:
    """Hand runs over again that nothing happened to for a minute, as their worker was killed, and return their ids.

    One that only waits for its turn is handed over as well: whoever comes second finds nothing left to do.
    """
    latest = Coalesce("moved_at", "started_at", "created_at")
    left = BulkRun.objects.filter(account_id=account_id, finished_at=None).alias(latest=latest)
    found = list(left.filter(latest__lt=now - LEFT).order_by("id").values_list("id", flat=True))
    for run_id in found:
        async_task(JOB, account_id, run_id)
    return found


def terms_of(decision: Decision) -> dict[str, Any]:
    """Return what a decision needs besides its word, as JSON values."""
    terms: dict[str, Any] = {
        "value": decision.value.text if decision.value else None,
        "confidence": decision.confidence,
        "memory_type": decision.memory_type,
        "to_version": decision.to_version,
        "superseded_by": decision.superseded_by,
        "until": decision.until.isoformat() if decision.until else None,
        "text": decision.text,
    }
    if decision.replacement is not None:
        raise Invalid("A new entry takes the place of at most 200 at once.", "/replacement")
    return terms


def decision_of(word: str, terms: Mapping[str, Any]) -> Decision:
    """Return the decision that `terms_of` stored."""
    given = dict(terms)
    value, until = given.pop("value"), given.pop("until")
    return Decision(
        word=Word(word),
        value=read_value(value, key="") if value is not None else None,
        until=datetime.fromisoformat(until) if until else None,
        **given,
    )


def act_of(order: Order, viewer: Viewer, now: datetime) -> Act:
    decision = order.decision
    cause = order.cause or decision.cause()
    return Act(decision.kind(), order.actor, now, viewer.policy, order.reason, cause, order.undoes_id)

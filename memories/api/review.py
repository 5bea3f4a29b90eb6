"""The review queue and decisions, for people's tools (DESIGN.md, native). All of it needs the scope review."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import identity, review_docs, screened, wire
from memories.api.entries import whole
from memories.api.feedback import branch_of, replacement_of, successor_of
from memories.api.review_shapes import DecisionBody, FilterBody, ItemBody
from memories.api.rollback import reason_of
from memories.queue import review, review_names, review_runs
from memories.queue.review import Queue, Reason, Waiting
from memories.rules import decisions, names
from memories.rules.decisions import Item, Word
from memories.rules.refusals import Refused
from memories.rules.values import read_value
from memories.services import bulk, bulk_run
from memories.services.bulk import Order, Outcome
from memories.services.decisions import Decision
from memories.services.review import Decided, Failed
from memories.viewers import Viewer
from senselab import api
from senselab.errors import NotFound

ITEMS = 10_000


def reasons_of(words: Sequence[str], pointer: str) -> tuple[str, ...]:
    """:raises Refused: a word that is no reason."""
    asked = [word for text in words for word in text.split(",") if word]
    for word in asked:
        if word not in set(Reason):
            raise Refused(pointer, f"A reason is one of {', '.join(Reason)}, not {word!r}.")
    return tuple(asked)


def waiting(item: Waiting, now: datetime, viewer: Viewer) -> dict[str, Any]:
    """Return an item as it travels: the entry, why it is here, since when, and who has it open."""
    return {
        **wire.entry(item.row, now, viewer.policy),
        "reasons": item.reasons,
        "why": item.why,
        "since": item.since,
        "claimed_by": item.claimed_by or None,
        "claimed_until": item.claimed_until,
    }


class Review(APIView):
    """What waits for a person."""

    scopes = {"GET": "review"}

    @review_docs.queue
    def get(self, request: Request) -> HttpResponse:
        """List the queue, the most doubtful first. agent_id filters by author, entity_path by place and below."""
        viewer, now = identity.viewer_of(request, identity.agent_of(request)), timezone.now()
        query = request.query_params
        sort = query.get("sort", "doubt")
        if sort not in review.ORDERS:
            raise Refused("/sort", f"The queue is sorted by one of {', '.join(review.ORDERS)}.")
        days = whole(query.get("older_than_days", ""), "/older_than_days", 0, 36_500)
        asked = Queue(
            reasons=reasons_of(query.getlist("reason"), "/reason"),
            entity_path=names.clean_path(query["entity_path"]) if query.get("entity_path") else "",
            agent_id=names.clean_name(query["agent_id"]) if query.get("agent_id") else "",
            older_than=None if days is None else timedelta(days=days),
            branch=branch_of(query.get("branch")),
            sort=sort,
            cursor=query.get("cursor", ""),
            limit=whole(query.get("limit", ""), "/limit", 1, 200) or review.PAGE,
        )
        page = review.page(asked, viewer, now, letters=None)
        items = [waiting(item, now, viewer) for item in page.items]
        return api.answer({"items": items, "next": page.next or None})


class Decisions(APIView):
    """Deciding about entries."""

    scopes = {"POST": "review"}

    @review_docs.decisions
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Decide about some entries, or all that a filter selects: up to 200 at once, more as a run."""
        body = screened.body_of(request, DecisionBody)
        agent_id = identity.agent_of(request, body.agent_id, writes=True)
        viewer, now = identity.viewer_of(request, agent_id, writes=True), timezone.now()
        decision = decision_of(request, body)
        decision.check(now)
        reason = reason_of(body.reason)
        order = Order(decision, identity.actor_of(request, agent_id, identity.session_of(request)), agent_id, reason)
        if (body.items is None) == (body.filter is None and not body.all):
            raise Refused("/items", "Name either items or a filter.")
        if body.items is not None:
            named = [item_name(request, item, place) for place, item in enumerate(body.items[: ITEMS + 1])]
            return decide(viewer, body.items, named, order, now, preview=body.preview)
        asked = queue_of(body.filter or FilterBody())
        if body.preview:
            return api.answer({"matching": bulk.preview(viewer, asked, now, everything=body.all)})
        return answered(viewer, bulk.decide_matching(viewer, asked, order, now, everything=body.all), [], now)


def decision_of(request: Request, body: DecisionBody) -> Decision:
    """Return what a body decides.

    :raises Refused: something in it cannot be; the pointer says what.
    """
    if body.decision not in decisions.ASKED:
        raise Refused("/decision", f"A decision is one of {', '.join(decisions.ASKED)}, not {body.decision!r}.")
    return Decision(
        word=Word(body.decision),
        value=read_value(value, key="") if (value := bytes(body.value)) else None,
        confidence=1.0 if body.confidence is None else body.confidence,
        memory_type=body.memory_type or "",
        to_version=body.to_version,
        superseded_by=successor_of(request, body.superseded_by),
        replacement=replacement_of(request, body.replacement),
        until=identity.zoned(body.until, "/until") if body.until else None,
        text=body.text,
    )


def queue_of(body: FilterBody) -> Queue:
    words = [body.reason] if isinstance(body.reason, str) else body.reason or []
    days = body.older_than_days
    return Queue(
        reasons=reasons_of(words, "/filter/reason"),
        entity_path=names.clean_path(body.entity_path, pointer="/filter/entity_path") if body.entity_path else "",
        agent_id=names.clean_name(body.agent_id, pointer="/filter/agent_id") if body.agent_id else "",
        older_than=None if days is None else timedelta(days=days),
        branch=branch_of(body.branch),
    )


def decide(
    viewer: Viewer,
    bodies: Sequence[ItemBody],
    named: Sequence[tuple[str, str, str]],
    order: Order,
    now: datetime,
    *,
    preview: bool,
) -> HttpResponse:
    """Decide about the entries named; those that are not there fail by name."""
    if not 1 <= len(bodies) <= ITEMS:
        raise Refused("/items", f"1 to {ITEMS:,} items are taken.")
    ids = review_names.resolve(viewer, named)
    missing = [named[place] for place, entry_id in enumerate(ids) if entry_id is None]
    if missing and len(bodies) == 1:
        raise NotFound("There is no such entry.")
    items = [Item(entry_id, body.version) for entry_id, body in zip(ids, bodies, strict=True) if entry_id is not None]
    if preview:
        return api.answer({"matching": len(items)})
    outcome = bulk.decide(viewer, items, order, now) if items else Outcome(Decided(None), None)
    if len(bodies) == 1 and outcome.decided is not None and outcome.decided.failed:
        raise outcome.decided.failed[0].refusal
    return answered(viewer, outcome, missing, now)


def item_name(request: Request, body: ItemBody, place: int) -> tuple[str, str, str]:
    pointer = f"/items/{place}"
    path = names.clean_path(body.entity_path, pointer=f"{pointer}/entity_path")
    identity.within(request, path, "read", "write")
    return branch_of(body.branch), path, names.clean_key(body.key, pointer=f"{pointer}/key")


def answered(viewer: Viewer, outcome: Outcome, missing: Sequence[tuple[str, str, str]], now: datetime) -> HttpResponse:
    """Answer with what was done, or (202) with the run that does it."""
    failed = [
        {"entity_path": path, "key": key, "why": "There is no such entry.", "status": 404} for _, path, key in missing
    ]
    if outcome.run_id is not None:
        progress = review_runs.progress(viewer, outcome.run_id, now)
        return api.answer({**progress.told(), "not_found": failed}, status=202)
    decided = outcome.decided
    assert decided is not None  # An outcome is one or the other.
    failed += [failure(one) for one in decided.failed]
    told = {"done": len(decided.done), "failed": failed, "change_set": decided.change_set_id}
    headers = {"X-Change-Set": str(decided.change_set_id)} if decided.change_set_id else {}
    return api.answer(told, headers=headers)


def failure(one: Failed) -> dict[str, Any]:
    refusal = one.refusal
    names = {"entity_path": one.entity_path, "key": one.key}
    return {**names, "why": refusal.detail, "status": refusal.status, **refusal.extra}


class Run(APIView):
    """A bulk run."""

    scopes = {"GET": "review"}

    @review_docs.run
    def get(self, request: Request, run_id: int) -> HttpResponse:
        """Tell how a run is getting on, and which entries failed, each with its reason."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        return api.answer(told_run(viewer, run_id, request.query_params.get("cursor", "")))


def told_run(viewer: Viewer, run_id: int, cursor: str = "") -> dict[str, Any]:
    progress = review_runs.progress(viewer, run_id, timezone.now())
    found = review_runs.failures(viewer, run_id, cursor=cursor)
    failed = [
        {"entity_path": row.entity_path, "key": row.key, "version": row.version, "why": row.why} for row in found.rows
    ]
    return {**progress.told(), "failures": failed, "next": found.next or None}


class RunAgain(APIView):
    """Asking a bulk run again."""

    scopes = {"POST": "review"}

    @review_docs.run_again
    def post(self, request: Request, run_id: int) -> HttpResponse:
        """Decide once more about the entries of a run that failed, and no others."""
        viewer = identity.viewer_of(request, identity.agent_of(request), writes=True)
        review_runs.progress(viewer, run_id, timezone.now())
        bulk_run.again(viewer, run_id, timezone.now())
        return api.answer(told_run(viewer, run_id), status=202)


class RunCancel(APIView):
    """Stopping a bulk run."""

    scopes = {"POST": "review"}

    @review_docs.run_cancel
    def post(self, request: Request, run_id: int) -> HttpResponse:
        """Stop a run; what is done stays done, under one change set."""
        viewer = identity.viewer_of(request, identity.agent_of(request), writes=True)
        review_runs.progress(viewer, run_id, timezone.now())
        bulk_run.cancel(viewer, run_id, timezone.now())
        return api.answer(told_run(viewer, run_id))

"""Figures out of values, how well entries are put, what they refer to, and what was used again (2.16 and 2.18)."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import reuse, weighing
from memories.api import figures_docs, identity
from memories.api.entries import whole
from memories.api.history import found
from memories.heads import Name
from memories.rows import Row
from memories.rules import aggregation, names, quality
from memories.rules.quality import Asked
from memories.rules.refusals import Refused
from memories.search import Search
from memories.viewers import Viewer
from senselab import api

PAIRS = 200
DAYS = 30


class AggregateBody(msgspec.Struct):
    """POST /aggregate: `field`, `group_by` and `row_path` are dotted paths into the values."""

    entity_path: str
    op: str = "count"
    field: str | None = None
    group_by: str | None = None
    row_path: str | None = None
    branch: str | None = None


class NameBody(msgspec.Struct):
    """An entry by its name."""

    entity_path: str
    key: str


class BatchBody(msgspec.Struct):
    """POST /quality/batch: entries by name, or all at a path."""

    entries: list[NameBody] = []
    entity_path: str | None = None


class Aggregate(APIView):
    """Figures out of the values at a path."""

    scopes = {"POST": "read"}

    @figures_docs.aggregate
    def post(self, request: Request) -> HttpResponse:
        """Reduce the values at a path that the caller may see: count, sum, mean, min, max or stats, by group."""
        body = api.body_of(request, AggregateBody)
        aggregation.refuse_unknown(body.op, body.field)
        viewer, now = identity.viewer_of(request, identity.agent_of(request)), timezone.now()
        path = names.clean_path(body.entity_path)
        branch = names.clean_name(body.branch or "main", pointer="/branch")
        scanned = weighing.whole(Search(entity_path=path, branch=branch), viewer, now)
        rows = list(aggregation.rows((row.value for row in scanned), body.row_path))
        told: dict[str, Any] = {
            "op": body.op,
            "field": body.field,
            "row_path": body.row_path,
            "total_rows": len(rows),
            "entity_path": path,
            "entries_scanned": len(scanned),
        }
        if body.group_by:
            groups = aggregation.grouped(rows, body.group_by)
            reduced = [{"key": key, **aggregation.reduce(group, body.op, body.field)} for key, group in groups.items()]
            return api.answer(told | {"group_by": body.group_by, "groups": reduced})
        return api.answer(told | aggregation.reduce(rows, body.op, body.field))


def quality_of(row: Row, *, siblings: bool) -> dict[str, Any]:
    asked = Asked(row.value, row.state.memory_type, row.state.confidence, tuple(row.pattern_refs), siblings)
    return {"entity_path": row.entity_path, "key": row.key, "quality": quality.quality(asked).told()}


def has_siblings(viewer: Viewer, row: Row, now: datetime) -> bool:
    return weighing.weight(Search(entity_path=row.entity_path, branch=row.branch), viewer, now)[0] > 1


class Quality(APIView):
    """How well an entry is put."""

    @figures_docs.quality
    def get(self, request: Request, rest: str) -> HttpResponse:
        """Return a score, and what would make the entry better; advice, nothing is refused for it."""
        path, _, key = rest.rpartition("/")
        viewer, now = identity.viewer_of(request, identity.agent_of(request)), timezone.now()
        name = Name(identity.within(request, names.clean_path(path)), names.clean_key(key))
        row = found(viewer, "main", name, now)
        return api.answer(quality_of(row, siblings=has_siblings(viewer, row, now)))


class QualityBatch(APIView):
    """How well several entries are put."""

    scopes = {"POST": "read"}

    @figures_docs.quality_batch
    def post(self, request: Request) -> HttpResponse:
        """Judge entries by name, or all at a path."""
        body = api.body_of(request, BatchBody)
        viewer, now = identity.viewer_of(request, identity.agent_of(request)), timezone.now()
        told = [quality_of(row, siblings=more) for row, more in judged(request, body, viewer, now)]
        return api.answer({"results": told, "total": len(told)})


def judged(request: Request, body: BatchBody, viewer: Viewer, now: datetime) -> list[tuple[Row, bool]]:
    """Return the entries a batch names, each with whether others stand beside it.

    :raises Refused: it names too many, or nothing.
    """
    if body.entity_path:
        rows = weighing.whole(Search(entity_path=names.clean_path(body.entity_path)), viewer, now)
        return [(row, len(rows) > 1) for row in rows]
    if not 0 < len(body.entries) <= PAIRS:
        raise Refused("/entries", f"Name 1 to {PAIRS} entries, or an entity_path.")
    asked = [Name(names.clean_path(one.entity_path), names.clean_key(one.key)) for one in body.entries]
    for one in asked:
        identity.within(request, one.entity_path)
    rows = reuse.named(viewer, asked, now)
    crowded = reuse.crowded(viewer, sorted({row.entity_path for row in rows}))
    return [(row, row.entity_path in crowded) for row in rows]


class Patterns(APIView):
    """What entries refer to."""

    @figures_docs.patterns
    def get(self, request: Request) -> HttpResponse:
        """List the references of entries, those used most first."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        limit = whole(request.query_params.get("limit", ""), "/limit", 1, 1_000) or 100
        patterns, total = reuse.patterns(viewer, limit)
        return api.answer({"patterns": patterns, "total": total})


class Reuse(APIView):
    """What was read again instead of worked out again."""

    @figures_docs.reuse
    def get(self, request: Request) -> HttpResponse:
        """Return how often entries were read within some days, by whom, and about what that saved."""
        query, now = request.query_params, timezone.now()
        viewer = identity.viewer_of(request, identity.agent_of(request))
        days = whole(query.get("days", ""), "/days", 1, 365) or DAYS
        since = identity.since_of(query["since"]) if query.get("since") else now - timedelta(days=days)
        agent = names.clean_name(query["agent"], pointer="/agent") if query.get("agent") else None
        writer = names.clean_name(query["writer"], pointer="/writer") if query.get("writer") else None
        told = reuse.reuse(viewer, since, agent=agent, writer=writer)
        return api.answer({"since": since, "days": days, "available": True, "agent": agent, "writer": writer, **told})

"""Searching entries (contract.md 2.6)."""

import json
from dataclasses import asdict

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import search
from memories.api import docs, identity, wire
from memories.api.entries import statuses_of
from memories.api.shapes import SearchBody
from memories.rules import names
from memories.rules.kinds import EvidenceStatus, MemoryType
from memories.rules.refusals import Refused
from memories.search import Elsewhere, Search
from senselab import api

SORTS = ("confidence", "recency", "version", "priority", "relevance")
QUERY_CHARACTERS = 10_000


def search_of(body: SearchBody) -> Search:
    """Return what a body asks for.

    :raises Refused: a field that cannot be.
    """
    sort = body.sort_by or "confidence"
    if sort not in SORTS:
        raise Refused("/sort_by", f"A search sorts by one of {', '.join(SORTS)}, not {sort!r}.")
    if body.memory_type and body.memory_type not in set(MemoryType):
        raise Refused("/memory_type", f"A type is one of {', '.join(MemoryType)}.")
    if body.evidence_status and body.evidence_status not in set(EvidenceStatus):
        raise Refused("/evidence_status", f"An evidence status is one of {', '.join(EvidenceStatus)}.")
    words = (body.query or "").strip()
    if len(words) > QUERY_CHARACTERS or "\0" in words:
        raise Refused("/query", f"A query is at most {QUERY_CHARACTERS} characters long and holds no NUL.")
    return Search(
        words=words,
        entity_path=names.clean_path(body.entity_path) if body.entity_path else None,
        descendants=bool(body.include_descendants),
        branch=names.clean_name(body.branch, pointer="/branch") if body.branch else "main",
        over_main=True,
        statuses=statuses_of(body.status or []),
        evidence=(body.evidence_status,) if body.evidence_status else (),
        memory_types=(body.memory_type,) if body.memory_type else (),
        tiers=tuple(range(1, body.depth + 1)) if body.depth and body.depth < 3 else (),
        agent_id=names.clean_name(body.agent_id) if body.agent_id else "",
        min_confidence=body.min_confidence,
        max_confidence=body.max_confidence,
        since=identity.in_utc(body.since, "/since") if body.since else None,
        pattern_ref=names.clean_name(body.pattern_ref, pointer="/pattern_ref") if body.pattern_ref else "",
        artifacts=body.include_artifacts is not False,
        sort=sort,
        limit=body.limit or 100,
    )


def elsewhere_header(elsewhere: Elsewhere) -> dict[str, str]:
    """Return X-SenseLab-Elsewhere, nothing where nothing lies elsewhere."""
    counts = {name: count for name, count in asdict(elsewhere).items() if count}
    return {"X-SenseLab-Elsewhere": json.dumps(counts, separators=(",", ":"))} if counts else {}


class SearchEntries(APIView):
    """Entries by words and filters."""

    scopes = {"POST": "read"}

    @docs.searching
    def post(self, request: Request) -> HttpResponse:
        """Search entries by words over path, key and value: all of them, else any, else parts of them.

        "Words in quotes" stand so, -word excludes, word* begins so.

        With a query the first hit counts as recalled. When fewer than three entries have all the words, the header
        X-SenseLab-Elsewhere says how many more do below min_confidence or outside entity_path and depth.
        """
        asked = search_of(api.body_of(request, SearchBody))
        # agent_id is a filter by author here; who asks is in the header (DESIGN.md).
        viewer, now = identity.viewer_of(request, identity.agent_of(request)), timezone.now()
        found = search.look(asked, viewer, now)
        headers = elsewhere_header(found.elsewhere)
        if asked.words and found.rows:
            wire.note_recall(found.rows[0], viewer, identity.session_of(request), now)
            headers |= wire.reuse_header(found.rows[0], viewer)
        return api.answer([wire.entry(row, now, viewer.policy) for row in found.rows], headers=headers)

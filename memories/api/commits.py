"""Commits: many writes at once, all or nothing (contract.md 2.14)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import contracts
from memories.api import commit_docs, identity, screened
from memories.api.entries import draft_of, whole
from memories.api.rollback import reason_of
from memories.api.shapes import CommitBody, MergeBaseBody, WriteBody
from memories.changes import commit_reads
from memories.changes.commit_reads import Committed
from memories.rules import names
from memories.rules.contracts import Contract
from memories.rules.refusals import Refused
from memories.services import committing, promises
from memories.services.writing import Draft
from senselab import api
from senselab.errors import Invalid, NotFound, Place

WRITES = 1_000


def drafts_of(request: Request, body: CommitBody, agent_id: str, now: datetime) -> list[Draft]:
    """Return what a commit asks to write, held to the contracts of its author.

    :raises Refused: nothing, too much, one name twice, or something in a write cannot be; the pointer says which.
    """
    if not body.writes:
        raise Refused("/writes", "A commit writes something.")
    if len(body.writes) > WRITES:
        raise Refused("/writes", f"A commit writes at most {WRITES} entries.")
    kept = contracts.of(request.user.account_id, agent_id)
    drafts: list[Draft] = []
    for place, write in enumerate(body.writes):
        said = msgspec.structs.replace(write, agent_id=agent_id, branch=write.branch or body.branch)
        drafts.append(placed(request, said, place, kept, now))
    refuse_mixed(drafts)
    return drafts


def placed(request: Request, write: WriteBody, place: int, kept: Sequence[Contract], now: datetime) -> Draft:
    """Return the draft of one write of many; what is refused points into the list."""
    try:
        return promises.held(draft_of(request, write), kept, now)
    except Invalid as refusal:
        refusal.places = tuple(Place(f"/writes/{place}{at.pointer}", at.detail) for at in refusal.places)
        raise


def refuse_mixed(drafts: Sequence[Draft]) -> None:
    """:raises Refused: a name comes twice, or there is more than one branch."""
    seen: set[tuple[str, str]] = set()
    for place, draft in enumerate(drafts):
        if draft.name in seen:
            raise Refused(f"/writes/{place}", f"{draft.entity_path}/{draft.key} is written twice in this commit.")
        if draft.branch != drafts[0].branch:
            raise Refused(f"/writes/{place}/branch", "A commit writes to one branch.")
        seen.add(draft.name)


def told(commit: Committed) -> dict[str, Any]:
    """Return a commit as contract.md 1.12 has it; of one seen in part, the tree is that part's."""
    hashes = [entry["content_hash"] for entry in commit.entries]
    return {
        "id": commit.id,
        "message": commit.message,
        "author_agent_id": commit.author,
        "session_id": commit.session_id,
        "entries": commit.entries,
        "tree_hash": commit.tree_hash if commit.is_whole else committing.tree_hash(hashes),
        "parent_ids": commit.parent_ids,
        "branch": commit.branch,
        "created_at": commit.at,
        "namespace": "default",
    }


class Commits(APIView):
    """The commits of an account: listed, and made."""

    @commit_docs.listing
    def get(self, request: Request) -> HttpResponse:
        """List commits of a branch, newest first."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        query = request.query_params
        branch = names.clean_name(query.get("branch") or "main", pointer="/branch")
        found = commit_reads.page(viewer, branch, whole(query.get("limit", ""), "/limit", 1, 500) or 50)
        return api.answer({"commits": [told(commit) for commit in found], "count": len(found)})

    @commit_docs.committing
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Write up to 1,000 entries as one change set; when one cannot be written, none is."""
        body = screened.body_of(request, CommitBody)
        agent_id = identity.agent_of(request, body.agent_id, writes=True)
        viewer, now = identity.viewer_of(request, agent_id), timezone.now()
        waits = identity.on_probation(request, viewer, agent_id, now)
        done = committing.commit(
            viewer.account_id,
            [replace(draft, on_probation=waits) for draft in drafts_of(request, body, agent_id, now)],
            message=reason_of(body.message or "", "/message"),
            actor=identity.actor_of(request, agent_id, identity.session_of(request, body.session_id)),
            policy=viewer.policy,
            now=now,
        )
        shown = commit_reads.one(viewer, done.id)
        answer = {
            "commit_id": done.id,
            "message": body.message or "",
            "entries_written": len(done.stored),
            "commit": told(shown) if shown else None,
            "change_set": done.change_set_id,
        }
        return api.answer(answer, headers={"X-Change-Set": str(done.change_set_id)})


class OneCommit(APIView):
    """One commit."""

    @commit_docs.reading
    def get(self, request: Request, commit_id: str) -> HttpResponse:
        """Return a commit with what it wrote."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        found = commit_reads.one(viewer, commit_id)
        if found is None:
            raise NotFound("There is no such commit.")
        return api.answer(told(found))


class MergeBase(APIView):
    """What two commits have in common."""

    scopes = {"POST": "read"}

    @commit_docs.merge_base
    def post(self, request: Request) -> HttpResponse:
        """Return the nearest commit that two stand on, null when there is none."""
        body = api.body_of(request, MergeBaseBody)
        viewer = identity.viewer_of(request, identity.agent_of(request))
        found = commit_reads.ancestor(viewer, body.commit_a, body.commit_b)
        return api.answer({"ancestor_commit_id": found, "commit_a": body.commit_a, "commit_b": body.commit_b})

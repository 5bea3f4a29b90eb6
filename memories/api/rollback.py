"""Going back over the API: rollback with preview, change sets, undo (DESIGN.md, native). All need the scope review."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import reads
from memories.api import history_docs, identity, screened, wire
from memories.api.history import found
from memories.api.shapes import RollbackBody, UndoBody
from memories.changes import change_reads
from memories.heads import Name
from memories.rules import names
from memories.rules.refusals import Refused
from memories.services import bulk, rollback, rollback_preview
from memories.services.review import AT_ONCE
from memories.services.rollback import Left
from senselab import api
from senselab.accounts.keys import Caller
from senselab.errors import Forbidden, Invalid, NotFound


class Rollback(APIView):
    """Make an earlier version current again."""

    scopes = {"POST": "review"}

    @history_docs.rollback
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Write an earlier version anew on top of the history, or with `preview` tell what that would change."""
        body = screened.body_of(request, RollbackBody)
        agent_id = identity.agent_of(request, body.agent_id, writes=True)
        viewer, now = identity.viewer_of(request, agent_id, writes=True), timezone.now()
        path = identity.within(request, names.clean_path(body.entity_path), "read", "write")
        name = Name(path, names.clean_key(body.key))
        branch = names.clean_name(body.branch, pointer="/branch") if body.branch else "main"
        row = found(viewer, branch, name, now)
        if body.preview:
            return api.answer(rollback_preview.preview(viewer, row.entry_id, body.to_version).told())
        expected = api.expected_version(request) if body.expected_version is None else body.expected_version
        if expected is None:
            raise Invalid("Say which version you looked at.", "/expected_version")
        done = rollback.roll_back(
            viewer,
            row.entry_id,
            to=body.to_version,
            expected=expected,
            actor=identity.actor_of(request, agent_id, identity.session_of(request)),
            policy=viewer.policy,
            reason=reason_of(body.reason),
            now=now,
        )
        shown = reads.entries_by_ids(viewer, [done.entry_id])[0]
        headers = {**api.etag(done.version), "X-Change-Set": str(done.change_set_id)}
        told = {"entry": wire.entry(shown, now, viewer.policy), "change_set": done.change_set_id}
        return api.answer(told, headers=headers)


def reason_of(text: str, pointer: str = "/reason") -> str:
    """:raises Invalid: a reason is too long or holds NUL."""
    if len(text) > 2_000 or "\0" in text:
        raise Invalid("A reason is at most 2,000 characters long and holds no NUL.", pointer)
    return text


def diff_link(left: Left) -> str:
    """Return where to see what changed since the version an undo would have taken back."""
    asked = {"entity_path": left.entity_path, "key": left.key, "from": left.made, "to": left.current}
    return f"/api/v1/diff?{urlencode(asked)}"


def word_of(text: str) -> str:
    """:raises Refused: it is no kind of change set."""
    if text and not (text.isascii() and text.replace("_", "").isalpha()):
        raise Refused("/kind", "A kind is one word, such as write, outcome or rollback.")
    return text


class ChangeSets(APIView):
    """Every act that made versions."""

    @history_docs.change_sets
    def get(self, request: Request) -> HttpResponse:
        """List change sets, newest first, of entries the caller may see."""
        viewer = identity.viewer_of(request, identity.agent_of(request))
        query = request.query_params
        page = change_reads.page(viewer, kind=word_of(query.get("kind", "")), cursor=query.get("cursor", ""))
        return api.answer({"change_sets": [change_set.told() for change_set in page.rows], "next": page.next or None})


class Undo(APIView):
    """Take a change set back."""

    scopes = {"POST": "write"}

    @history_docs.undo
    @api.once
    def post(self, request: Request, change_set_id: int) -> HttpResponse:
        """Write the inverse of a change set; what was changed since is listed in `left` and left alone."""
        body = screened.body_of(request, UndoBody)
        agent_id = identity.agent_of(request, body.agent_id, writes=True)
        viewer, now = identity.viewer_of(request, agent_id, writes=True), timezone.now()
        found = change_reads.one(viewer, change_set_id)
        refuse_others(request, found, agent_id)
        actor, reason = identity.actor_of(request, agent_id, identity.session_of(request)), reason_of(body.reason)
        if found and found.size > AT_ONCE:
            run = bulk.undo(viewer, change_set_id, actor=actor, reason=reason, now=now)
            return api.answer({"run": run}, status=202)
        done = rollback.undo(viewer, change_set_id, actor=actor, policy=viewer.policy, reason=reason, now=now)
        left = [
            {
                "entity_path": entry.entity_path,
                "key": entry.key,
                "made": entry.made,
                "current": entry.current,
                "diff": diff_link(entry),
            }
            for entry in done.left
        ]
        told: dict[str, Any] = {"change_set": done.change_set_id, "restored": done.restored, "left": left}
        return api.answer(told, headers={"X-Change-Set": str(done.change_set_id)})


def refuse_others(request: Request, change_set: change_reads.Shown | None, agent_id: str) -> None:
    """:raises NotFound: there is none. :raises Forbidden: somebody else made it, and the key lacks the scope review."""
    caller: Caller = request.user
    if change_set is None:
        raise NotFound("There is no such change set.")
    own = change_set.actor_kind == "agent" and change_set.actor == agent_id and change_set.kind in {"write", "undo"}
    if not own and not caller.may("review"):
        raise Forbidden("Undoing what others did needs the scope review.")

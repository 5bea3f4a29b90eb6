"""POST /api/v1/erasures: erasing for good what an entry says or an agent said."""

from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import identity, screened
from memories.entry import history
from memories.heads import Name
from memories.rules import names
from memories.services.erasing import Target
from memories.viewers import Viewer
from outcomes.api import erasure_docs
from outcomes.services import erasing
from senselab import api
from senselab.accounts.audit import who_of
from senselab.errors import Invalid, NotFound


class ErasureBody(msgspec.Struct):
    """What shall be erased: an entry by its names, or all that an agent said; `confirm` repeats what it is called."""

    reason: str = ""
    confirm: str = ""
    entity_path: str | None = None
    key: str | None = None
    branch: str | None = None
    owner: str | None = None
    agent_id: str | None = None
    names: bool = False
    preview: bool = False


def target_of(viewer: Viewer, body: ErasureBody) -> tuple[Target, str]:
    """Return what a body wants erased, and what that is called.

    :raises Invalid: it names neither an entry nor an agent, or both.
    :raises NotFound: there is no such entry.
    """
    if (body.agent_id is None) == (body.entity_path is None or body.key is None):
        raise Invalid("Name an entry by entity_path and key, or an agent by agent_id.", "/entity_path")
    if body.agent_id is not None:
        agent_id = names.clean_name(body.agent_id)
        return Target(agent_id=agent_id, names=body.names), agent_id
    branch = names.clean_name(body.branch, pointer="/branch") if body.branch else "main"
    row = history.head(viewer, branch, Name(names.clean_path(body.entity_path), names.clean_key(body.key)), body.owner)
    if row is None:
        raise NotFound("There is no such entry.")
    return Target(entry_ids=(row.entry_id,), names=body.names), row.entry_key


class Erasures(APIView):
    """What is gone for good."""

    scopes = {"POST": "admin"}

    @erasure_docs.erasing
    @api.once
    def post(self, request: Request) -> HttpResponse:
        """Erase what an entry says or an agent said; with `preview` count it. Nothing brings it back."""
        # Its names say what is to go, and may be what the rule about keys is for.
        body = api.body_of(request, ErasureBody)
        asking, now = identity.viewer_of(request, ""), timezone.now()
        viewer = Viewer(asking.account_id, asking.policy, sees_all=True)
        target, name = target_of(viewer, body)
        if body.preview:
            told = erasing.foresee(viewer.account_id, target, name)
            return api.answer({"confirm": name, "erases": told.counts, "not_reached": list(told.elsewhere)})
        agent_id = identity.agent_of(request, writes=True)
        done = erasing.erase(
            viewer.account_id,
            target,
            confirmation=name,
            typed=body.confirm,
            actor=identity.actor_of(request, agent_id),
            by=who_of(request._request),
            policy=viewer.policy,
            reason=screened.said(body.reason, viewer.policy, "/reason"),
            now=now,
        )
        answer: dict[str, Any] = {"change_set": done.change_set_id, "erased": done.counts}
        answer["not_reached"] = list(erasing.ELSEWHERE)
        return api.answer(answer, headers={"X-Change-Set": str(done.change_set_id)})

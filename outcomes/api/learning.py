"""Whether agents get better, why an outcome did what it did, and tasks as training data (contract.md 2.16 and 2.18)."""

from datetime import timedelta
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import identity
from memories.api.entries import whole
from memories.rules import names
from memories.rules.refusals import Refused
from outcomes import curve, learning
from outcomes.api import learning_docs
from outcomes.tracing import listing
from senselab import api
from senselab.errors import Invalid

DAYS = 30
KINDS = ("sft", "dpo", "reward_model")


def named(request: Request, name: str) -> str | None:
    """Return a name from the query string, None where it is not given."""
    text = request.query_params.get(name)
    return names.clean_path(text, pointer=f"/{name}") if text else None


class Learning(APIView):
    """Rates of success over time."""

    @learning_docs.learning
    def get(self, request: Request) -> HttpResponse:
        """Return how the rate of success moved over windows of 20 tasks, and how long recoveries took."""
        viewer, now = identity.viewer_of(request, identity.agent_of(request)), timezone.now()
        query = request.query_params
        days = whole(query.get("days", ""), "/days", 1, 365) or DAYS
        since = identity.since_of(query["since"]) if query.get("since") else now - timedelta(days=days)
        agent, path = named(request, "agent"), named(request, "entity_path")
        window = whole(query.get("window", ""), "/window", 1, 1_000) or curve.WINDOW
        found, truncated = learning.sessions(viewer, since, agent=agent, path=path)
        shifts = learning.shifts(viewer, since, agent=agent, path=path)
        told = {"since": since, "days": days, "agent": agent, "entity_path": path}
        told |= {"available": bool(found), "truncated": truncated}
        return api.answer(told | curve.learning(found, shifts, window))


class Explain(APIView):
    """Why an outcome did what it did."""

    @learning_docs.explain
    def get(self, request: Request) -> HttpResponse:
        """Return the entries an outcome relied on and what it did to each; nothing is told of an unknown reference."""
        ref = request.query_params.get("outcome_ref", "")
        if not ref:
            raise Invalid("outcome_ref is missing.", "/outcome_ref")
        agent_id = identity.agent_of(request)
        viewer = identity.viewer_of(request, agent_id)
        found = learning.explained(viewer, names.clean_path(ref, pointer="/outcome_ref"))
        outcome, effects = found if found else (None, [])
        told: dict[str, Any] = {
            "outcome_ref": ref,
            "agent_id": outcome.agent_id if outcome else agent_id,
            "session_id": outcome.session_id if outcome else identity.session_of(request),
            "outcome_type": outcome.outcome_type if outcome else None,
            "causal_chain_length": len(effects),
            "causal_entries": [cause(effect) for effect in effects],
            "external_contexts": listing.contexts(viewer, outcome.pk) if outcome else [],
        }
        return api.answer(told)


def cause(effect: tuple[Any, ...]) -> dict[str, Any]:
    fields = ("entity_path", "key", "version", "confidence_before", "confidence_after", "written_by", "memory_type")
    return dict(zip((*fields, "evidence_status", "outcome_type"), effect, strict=True))


class TrainingData(APIView):
    """Tasks as training data."""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Answer in JSON whatever `format` says: here it names the kind of examples."""
        del force
        return super().perform_content_negotiation(request, force=True)

    @learning_docs.training
    def get(self, request: Request) -> HttpResponse:
        """Return tasks with what was asked and answered: sft, dpo or reward_model."""
        query = request.query_params
        kind = query.get("format", "sft")
        if kind not in KINDS:
            raise Refused("/format", f"A format is one of {', '.join(KINDS)}, not {kind!r}.")
        viewer = identity.viewer_of(request, identity.agent_of(request))
        limit = whole(query.get("limit", ""), "/limit", 1, 1_000) or 100
        tasks = learning.told_tasks(viewer, path=named(request, "entity_path"), most=1_000)
        made = learning.examples(tasks, kind)[:limit]
        return api.answer({"format": kind, "num_examples": len(made), "examples": made})

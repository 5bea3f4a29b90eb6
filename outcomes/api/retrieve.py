"""Retrieving what helps with a task (contract.md 2.7 and 3.9)."""

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import identity, wire
from memories.api.search import QUERY_CHARACTERS
from memories.rules import names
from memories.rules.kinds import MemoryType
from memories.rules.refusals import Refused
from outcomes.api import retrieval_docs, retrieved
from outcomes.api.retrieval_shapes import EnvironmentBody, RetrieveBody
from outcomes.retrieval import answering, prose
from outcomes.retrieval.question import Question
from outcomes.rules import preconditions, scoring
from outcomes.rules.scoring import Weights
from senselab import api

ACTIONS, SITUATION_CHARACTERS = 200, 1_000


class Retrieve(APIView):
    """What was learned that helps with a task, best first."""

    scopes = {"POST": "read"}

    @retrieval_docs.retrieving
    def post(self, request: Request) -> HttpResponse:
        """Rank entries for a task: relevance, modulated by trust and by how they did on tasks like it.

        The first hit counts as recalled.
        """
        body = api.body_of(request, RetrieveBody)
        viewer = identity.viewer_of(request, identity.agent_of(request, body.agent_id))
        question, now = question_of(body), timezone.now()
        answer = answering.answer(question, viewer, now)
        headers: dict[str, str] = {}
        if answer.hits:
            first = answer.hits[0].row
            wire.note_recall(first, viewer, identity.session_of(request, body.session_id), now)
            headers = wire.reuse_header(first, viewer)
        if body.format == "markdown":
            text = prose.markdown(answer, body.max_tokens)
            return HttpResponse(text, content_type="text/markdown; charset=utf-8", headers=headers)
        return api.answer(retrieved.rows(question, answer, viewer, now, most=body.max_tokens), headers=headers)


def question_of(body: RetrieveBody) -> Question:
    """Return what a body asks for.

    :raises Refused: a field that cannot be.
    """
    if len(body.query) > QUERY_CHARACTERS or "\0" in body.query:
        raise Refused("/query", f"A query is at most {QUERY_CHARACTERS} characters long and holds no NUL.")
    if body.memory_type and body.memory_type not in set(MemoryType):
        raise Refused("/memory_type", f"A type is one of {', '.join(MemoryType)}.")
    candidates = body.candidate_actions or []
    if len(candidates) > ACTIONS:
        raise Refused("/candidate_actions", f"At most {ACTIONS} actions are taken.")
    situation = body.situation or ""
    if len(situation) > SITUATION_CHARACTERS or "\0" in situation:
        raise Refused("/situation", f"A situation is at most {SITUATION_CHARACTERS} characters long and holds no NUL.")
    return Question(
        query=body.query.strip(),
        entity_path=names.clean_path(body.entity_path) if body.entity_path else None,
        descendants=bool(body.include_descendants),
        branch=names.clean_name(body.branch, pointer="/branch") if body.branch else "main",
        min_confidence=body.min_confidence or 0.0,
        limit=body.limit or 10,
        depth=body.depth or 3,
        memory_types=(body.memory_type,) if body.memory_type else (),
        weights=weights_of(body),
        artifacts=body.include_artifacts is not False,
        discredited=bool(body.include_discredited),
        avoid=bool(body.include_avoid),
        adaptive_k=bool(body.adaptive_k),
        priors=bool(body.include_priors),
        candidates=tuple(dict.fromkeys(candidates)),
        situation=situation,
        compact=bool(body.compact),
        environment=environment_of(body.environment),
        abstain=bool(body.abstain),
        covariates=body.covariates or {},
    )


def weights_of(body: RetrieveBody) -> Weights:
    usual = scoring.DEFAULT
    return Weights(
        semantic=usual.semantic if body.semantic_weight is None else body.semantic_weight,
        recency=usual.recency if body.recency_weight is None else body.recency_weight,
        confidence=usual.confidence if body.confidence_weight is None else body.confidence_weight,
        evidence=usual.evidence if body.evidence_weight is None else body.evidence_weight,
    )


def environment_of(body: EnvironmentBody | None) -> dict[str, str]:
    if body is None:
        return {}
    return {name: said for name in preconditions.NAMES if (said := getattr(body, name))}

"""What has proved itself, as Markdown for a file that agents read (CLAUDE.md, AGENTS.md)."""

import math

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import promoted
from memories.api import identity, review_docs
from memories.api.feedback import branch_of
from memories.rules import names
from memories.rules.refusals import Refused


class Promoted(APIView):
    @review_docs.promoted
    def get(self, request: Request) -> HttpResponse:
        """Return shared entries of confidence 0.8 and more (or `least`), between the two markers `promote` writes."""
        viewer, now = identity.viewer_of(request, identity.agent_of(request)), timezone.now()
        query = request.query_params
        path = query.get("entity_path")
        text = promoted.markdown(
            viewer,
            now,
            least=least_of(query.get("least", "")),
            entity_path=names.clean_path(path) if path else "",
            branch=branch_of(query.get("branch")),
        )
        return HttpResponse(text + "\n", content_type="text/markdown; charset=utf-8")


def least_of(text: str) -> float:
    """:raises Refused: it is no number from 0 to 1."""
    if not text:
        return promoted.LEAST
    try:
        least = float(text)
    except ValueError as error:
        raise Refused("/least", "A number from 0 to 1 is expected here.") from error
    if not math.isfinite(least) or not 0 <= least <= 1:
        raise Refused("/least", "A number from 0 to 1 is expected here.")
    return least

"""What to know before beginning (contract.md 2.11 and 3.11), as JSON or as Markdown."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import identity, wire
from memories.api.entries import whole
from memories.rules import names
from memories.rules.refusals import Refused
from outcomes.api import retrieval_docs
from outcomes.briefing import digest, prose
from outcomes.briefing.digest import Wanted
from outcomes.rules import preconditions
from senselab import api

MARKDOWN = "text/markdown"
SAID_LENGTH = 256
TOKENS = (100, 1_000_000)


class AnyKind(BaseContentNegotiation):
    """Takes every format and Accept header: the view answers with what it has, refusals are JSON."""

    def select_parser(self, _request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, _request: Request, renderers: Any, _format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class Briefing(APIView):
    """What an agent should know before it begins."""

    scopes = {"GET": "read"}
    content_negotiation_class = AnyKind

    @retrieval_docs.briefing
    def get(self, request: Request) -> HttpResponse:
        """Tell what is known, what failed, what is for this environment and whom to ask; computed now.

        With credit_reuse the first entry of the hot context counts as recalled.
        """
        query = request.query_params
        viewer = identity.viewer_of(request, identity.agent_of(request, query.get("agent_id") or None))
        wanted, now = wanted_of(query), timezone.now()
        told = digest.brief(viewer, wanted, now)
        headers: dict[str, str] = {}
        if told.first is not None and truth(query.get("credit_reuse", "")):
            wire.note_recall(told.first, viewer, identity.session_of(request), now)
            headers = wire.reuse_header(told.first, viewer)
        if wants_markdown(request):
            text = prose.markdown(told.digests, wanted.max_tokens)
            return HttpResponse(text, content_type=f"{MARKDOWN}; charset=utf-8", headers=headers)
        return api.answer({"digests": told.digests, "total": len(told.digests)}, headers=headers)


def wants_markdown(request: Request) -> bool:
    """:raises Refused: a format that there is not."""
    asked = request.query_params.get("format", "")
    if asked not in {"", "json", "markdown"}:
        raise Refused("/format", f"There are json and markdown, not {asked!r}.")
    return asked == "markdown" or (not asked and MARKDOWN in request.META.get("HTTP_ACCEPT", ""))


def truth(text: str) -> bool:
    return text.lower() in {"true", "1", "yes"}


def wanted_of(query: Any) -> Wanted:
    """Return what a query string asks for.

    :raises Refused: a parameter that cannot be.
    """
    said = {name: query.get(f"env_{name}", "") for name in preconditions.NAMES}
    for name, value in said.items():
        if len(value) > SAID_LENGTH or "\0" in value:
            raise Refused(f"/env_{name}", f"At most {SAID_LENGTH} characters, none of them NUL.")
    path = query.get("entity_path", "")
    branch = query.get("branch", "")
    return Wanted(
        entity_path=names.clean_path(path, pointer="/entity_path") if path else None,
        branch=names.clean_name(branch, pointer="/branch") if branch else "main",
        since=identity.since_of(query["since"]) if query.get("since") else None,
        compact=truth(query.get("compact", "")),
        limit=whole(query.get("limit", ""), "/limit", 1, 100) or 10,
        max_tokens=whole(query.get("max_tokens", ""), "/max_tokens", *TOKENS),
        environment={name: value for name, value in said.items() if value},
    )
